"""PyTorch's and NumPy's names raise an AttributeError with our words; users' own names win."""

import inspect

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import torch_words
from tests.looped import try_all

optimizers = keras.optimizers
OBJECTS = {
    torch_words.TensorWords: [
        tf.constant(1.0), tf.Variable(1.0), keras.Variable(1.0), keras.Input((2,))
    ],
    torch_words.LayerWords: [keras.layers.Dense(1), keras.Sequential([])],
    torch_words.OptimizerWords: [optimizers.SGD(), optimizers.LossScaleOptimizer("sgd")],
}  # fmt: skip
THINGS = [(words, thing) for words, things in OBJECTS.items() for thing in things]


@pytest.mark.parametrize(
    ("words", "thing"), THINGS, ids=[type(thing).__name__ for _, thing in THINGS]
)
def test_each_word_says_what_to_write(words, thing):
    names = [
        name for name, word in vars(words).items()
        if isinstance(word, torch_words.TorchWord) and name not in vars(type(thing))
    ]  # fmt: skip
    try_all(says_what_to_write, {name: {"thing": thing, "name": name} for name in names})


def says_what_to_write(thing, name):
    assert not hasattr(thing, name)
    with pytest.raises(AttributeError, match=rf"'{name}', which is (PyTorch|NumPy)'s\. [A-Z].*\.$"):
        getattr(thing, name)


def test_keras_tensors_have_two_of_the_words():
    own = {name for name in vars(torch_words.TensorWords) if name in vars(type(keras.Input((2,))))}
    assert {name for name in own if not name.startswith("__")} == {"reshape", "squeeze"}


def test_users_can_define_the_words():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.parameters = [1, 2]

        def forward(self, x):
            return self.dense(x)

        def call(self, x):
            return self.forward(x)

    model = Net()
    model.train = "mine"
    assert model(np.ones((2, 3), "float32")).shape == (2, 1)
    assert model.parameters == [1, 2]
    assert model.train == "mine"


@pytest.mark.parametrize("x", [tf.constant([[2.0, 1.0]]), tf.Variable([[2.0, 1.0]])])
def test_numpys_functions_still_accept_tensors(x):
    """They look for the method of the same name first."""
    assert float(np.sum(x)) == 3.0
    assert float(np.max(x)) == 2.0
    assert float(np.mean(x)) == 1.5
    assert np.reshape(x, -1).shape == (2,)
    assert np.transpose(x).shape == (2, 1)
    assert int(np.argmax(x)) == 0
    message = r"Use tf\.reshape\(x, shape\), or x\.numpy\(\)\.reshape for an array\.$"
    with pytest.raises(AttributeError, match=message):
        x.reshape(2)


def test_no_word_hides_an_attribute():
    for words in OBJECTS:
        for name in vars(words):
            if not name.startswith("__"):
                assert isinstance(inspect.getattr_static(words, name), torch_words.TorchWord)
    assert isinstance(tf.constant([1.0]).size, int)
