import numpy as np
import pytest

import framework as tf
from framework.core import random
from framework.core.auto_names import forget_names
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.layers import (
    Conv1D,
    Dense,
    Dropout,
    Flatten,
    GlobalAveragePooling1D,
    Input,
    InputLayer,
    Layer,
)
from framework.models import Model, Sequential

X = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


def test_with_an_input_it_is_built_at_once():
    forget_names()
    model = Sequential([Input((4,)), Dense(3, activation="relu"), Dense(2)])
    assert model.built
    assert [v.path for v in model.weights] == [
        "sequential/dense/kernel", "sequential/dense/bias",
        "sequential/dense_1/kernel", "sequential/dense_1/bias",
    ]  # fmt: skip
    assert (model.input_shape, model.output_shape) == ((None, 4), (None, 2))
    assert [layer.name for layer in model.layers] == ["dense", "dense_1"]
    a, b = model.layers
    for x in (X, tf.constant(X), tf.constant(X)):
        np.testing.assert_array_equal(model(x), b(a(X)))


@pytest.mark.parametrize(
    "first",
    [
        lambda: [Dense(3, input_shape=(4,))],
        lambda: [Dense(3, input_dim=4)],
        lambda: [Dense(3, batch_input_shape=(None, 4))],
        lambda: [InputLayer((4,)), Dense(3)],
        lambda: [Sequential([Input((4,)), Dense(3)])],
    ],
)
def test_other_ways_to_specify_the_input(first):
    model = Sequential([*first(), Dense(2)])
    assert (model.input_shape, model.output_shape, model.built) == ((None, 4), (None, 2), True)


def test_without_an_input_it_is_built_by_the_first_call():
    model = Sequential([Dense(3), Dropout(0.5), Dense(2)])
    assert not model.built
    assert model.weights == []
    with pytest.raises(AttributeError, match="has no defined inputs yet"):
        model.input_shape  # noqa: B018
    assert model(X).shape == (5, 2)
    assert model.output_shape == (None, 2)  # no batch size is remembered
    assert model(X[:2]).shape == (2, 2)
    assert len(model.trainable_variables) == 4
    again = Sequential([Dense(3)])
    again.build((None, 4))
    assert again.count_params() == 15
    with pytest.raises(
        InvalidArgumentError, match=r"use input shape \(None, 4\). You cannot build"
    ):
        again.build((None, 5))
    with pytest.raises(ShapeError, match=r"expected axis -1 .* to have value 4.*\(5, 3\)"):
        again(X[:, :3])
    with pytest.raises(ShapeError, match=r"expected shape=\(None, 4\), found shape=\(5, 4, 2\)"):
        again(np.ones((5, 4, 2)))


@pytest.mark.parametrize("first", [[], [Input((5, 3))]])
def test_other_lengths_as_far_as_the_layers_take_them(first):
    """As real Keras: the model knows its rank, and the layers what sizes they need."""
    model = Sequential([*first, Conv1D(4, 2, padding="same"), GlobalAveragePooling1D(), Dense(2)])
    model.compile("sgd", "mse")
    conv, pool, dense = model.layers
    for length in (5, 7, 3, 5):
        x = np.random.default_rng(length).normal(size=(4, length, 3)).astype("float32")
        np.testing.assert_array_equal(model(x), dense(pool(conv(x))))
        for _ in range(3):  # plans too
            model.fit(x, np.ones((4, 2)), verbose=0)
        np.testing.assert_allclose(model.predict(x, verbose=0), model(x), rtol=1e-6)
    assert model.input_shape == (None, 5, 3)
    flat = Sequential([Flatten(), Dense(2)])
    flat(np.ones((2, 4, 3)))
    assert flat(np.ones((2, 6, 2))).shape == (2, 2)
    with pytest.raises(ShapeError, match="to have value 12"):
        flat(np.ones((2, 5, 3)))


def test_adding_and_taking_off():
    model = Sequential(name="m")
    with pytest.raises(InvalidArgumentError, match="because it has no layers"):
        model.build((None, 4))
    with pytest.raises(InvalidArgumentError, match="has no layers to pop"):
        model.pop()
    model.add(Input((4,)))
    model.add(Dense(3, name="a"))
    assert model.weights[0].path == "m/a/kernel"
    model.add(Dense(2, name="b"))
    assert model(X).shape == (5, 2)
    assert len(model.variables) == 4
    assert model.pop().name == "b"
    assert model(X).shape == (5, 3)
    assert model.output_shape == (None, 3)
    assert len(model.variables) == 2
    model.add(Flatten())
    assert model(X).shape == (5, 3)
    for bad, message in [
        (3, "Only instances of `keras.Layer`"),
        (Dense(1, name="a"), "'a' is already the name"),
        (Input((4,)), "different Input layer"),
    ]:
        with pytest.raises(InvalidArgumentError, match=message):
            model.add(bad)


def test_a_layer_may_stand_in_it_twice():
    layer = Dense(4)
    model = Sequential([Input((4,)), layer, layer])
    np.testing.assert_array_equal(model(X), layer(layer(X)))
    assert len(model.weights) == 2
    model.pop()
    assert len(model.weights) == 2


def test_integers_and_missing_axes_fit_the_input():
    model = Sequential([Input((1,)), Dense(2)])
    assert model(np.arange(3)).shape == (3, 2)
    assert model(np.ones((3, 1), "uint8")).dtype == "float32"
    deferred = Sequential([Dense(2)])
    np.testing.assert_allclose(deferred(np.ones((3, 4), "int64")), deferred(np.ones((3, 4))))


def test_a_layer_that_reads_values_runs_on_real_data():
    class Reads(Layer):
        def call(self, x):
            return x if float(tf.reduce_sum(x)) > 1e9 else -x

    for layers in ([Input((4,)), Reads(), Dense(2)], [Reads(), Dense(2)]):
        model = Sequential(layers)
        np.testing.assert_array_equal(model(X), model.layers[1](-X))
        assert model.built
        assert len(model.weights) == 2


def test_training_and_masks_pass_through():
    model = Sequential([Dropout(0.5)])
    ones = np.ones((1, 50), "float32")
    assert model(ones).numpy().all()
    for x in (ones, tf.constant(ones), tf.constant(ones)):
        assert not model(x, training=True).numpy().all()
    mask = tf.constant([[True] * 50])
    assert model(ones, mask=mask)._keras_mask is mask


def test_in_models():
    model = Sequential([Dense(3), Dense(2)])
    i = Input((4,))
    outer = Model(i, model(i))
    np.testing.assert_array_equal(outer(X), model(X))
    assert model(KerasTensor((None, 4))).shape == (None, 2)
    feature = Model(model.inputs, model.layers[0].output)
    np.testing.assert_array_equal(feature(X), model.layers[0](X))
    assert model.compute_output_shape((7, 4)) == (7, 2)
    unbuilt = Sequential([Dense(2), Sequential([Dense(3)])])
    assert unbuilt.compute_output_shape((None, 4)) == (None, 3)
    assert not unbuilt.layers[0].built


def test_the_same_seed_gives_the_same_model():
    def weights():
        random.set_seed(3)
        model = Sequential([Input((4,)), Dense(3), Dense(2)])
        return model.get_weights()

    for a, b in zip(weights(), weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    random.set_seed(3)
    deferred = Sequential([Dense(3), Dense(2)])
    deferred(X)
    np.testing.assert_array_equal(deferred.get_weights()[2], weights()[2])


def test_trainable_false():
    model = Sequential([Input((4,)), Dense(2)], trainable=False)
    assert model.trainable_variables == []
    model.trainable = True
    assert len(model.trainable_variables) == 2
