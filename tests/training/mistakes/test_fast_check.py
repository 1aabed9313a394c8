"""`model.fast_check`: a page, and the state of the run as it was."""

import numpy as np
import pytest

import framework as tf
from framework import config, keras

RNG = np.random.default_rng(0)
LABELS = np.arange(128) % 4
X = (RNG.normal(size=(128, 6)) + LABELS[:, None]).astype("float32")
layers = keras.layers


def made(optimizer="adam"):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            layers.Dense(16, "relu"),
            layers.Dropout(0.5),
            layers.BatchNormalization(),
            layers.Dense(4),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
    return model


def test_a_sound_model():
    page = made(keras.optimizers.Adam(0.01)).fast_check(X, LABELS)
    assert page.ok
    assert "overfit" in str(page)
    assert "s per epoch of 4 batches" in str(page)
    assert page._repr_html_().count("<tr>") == len(page.findings)


def test_data_as_a_dataset():
    data = tf.data.Dataset.from_tensor_slices((X, LABELS)).shuffle(100).batch(32)
    assert made(keras.optimizers.Adam(0.01)).fast_check(data).ok


@pytest.mark.parametrize("built", [False, True])
def test_training_has_the_same_bits_after_it(built):
    """By one backend: under "auto" loops replace NumPy at an earlier call."""
    config.set_compile("numpy")
    try:
        found = []
        for checked in (False, True):
            model = made()
            if built:
                model.fit(X, LABELS, verbose=0)
            if checked:
                model.fast_check(X, LABELS)
            history = model.fit(X, LABELS, epochs=2, verbose=0).history
            found.append((history, [w.tobytes() for w in model.get_weights()]))
        assert found[0] == found[1]
    finally:
        config.set_compile()


def test_what_cannot_be_learned():
    model = keras.Sequential([layers.Dense(1, "relu", bias_initializer=_low), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(1e-7), "mse")
    page = model.fast_check(X, X[:, :1] * 50)
    assert not page.ok
    assert {f.subject for f in page.findings if not f.good} >= {"units", "rate", "overfit"}


def _low(shape, dtype=None):
    return np.full(shape, -1e3, "float32")


def test_bad_calls():
    with pytest.raises(ValueError, match=r"fast_check.*not compiled yet"):
        keras.Sequential([layers.Dense(1)]).fast_check(X, LABELS)

    class Own(keras.Sequential):
        def train_step(self, data):
            return super().train_step(data)

    model = Own([layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="Own overrides train_step"):
        model.fast_check(X, LABELS)
