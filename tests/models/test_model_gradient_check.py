"""model.check_gradients."""

import numpy as np
import pytest

import framework as tf
from framework import keras

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(4, 6)).astype("float32")
Y = np.array([0, 2, 1, 2])
LAYERS = keras.layers


def classifier(*layers):
    keras.utils.set_random_seed(1)
    return keras.Sequential([LAYERS.Dense(5, "tanh"), *layers, LAYERS.Dense(3)])


@tf.custom_gradient
def wrong(x):
    return tf.square(x), lambda dy: dy * x


class Wrong(LAYERS.Layer):
    def call(self, inputs):
        return wrong(inputs)


def loss():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def test_a_right_model():
    model = classifier(LAYERS.Dropout(0.5), LAYERS.ReLU())
    report = model.check_gradients(X, Y, loss=loss())
    assert report, report
    assert [row.name for row in report.rows] == [
        "args[0]", *(v.path for v in model.trainable_variables)
    ]  # fmt: skip
    assert max(row.error for row in report.rows) < 1e-6  # it is float64 throughout


def test_the_compiled_loss_and_sample_weights():
    model = classifier()
    model.compile("sgd", loss(), metrics=["accuracy"])
    model.fit(X, Y, verbose=0)
    before = [v.numpy() for v in model.variables]
    assert model.check_gradients(X, Y, np.array([1.0, 0.0, 2.0, 3.0]))
    for now, then in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(now, then)
    assert {layer.compute_dtype for layer in model.layers} == {"float32"}
    assert model(X).dtype == "float32"
    model.fit(X, Y, verbose=0)


def test_regularizers_count():
    model = keras.Sequential([LAYERS.Dense(2, kernel_regularizer="l2")])
    assert model.check_gradients(X, X[:, :2], loss="mse")


def test_a_wrong_rule_is_named_with_its_layer():
    report = classifier(Wrong(name="odd")).check_gradients(X, Y, loss=loss())
    assert not report
    assert "the custom gradient wrong (in layer 'sequential" in report.wrong
    assert "odd'" in report.wrong
    assert "test_model_gradient_check.py:" in report.wrong
    assert [row.ok for row in report.rows] == [False] * 3 + [True] * 2


def test_a_model_without_a_loss():
    with pytest.raises(ValueError, match=r"'sequential.*' is not compiled.*Pass loss="):
        classifier().check_gradients(X, Y)


def test_a_functional_model_with_two_inputs():
    a, b = LAYERS.Input((6,)), LAYERS.Input((2,))
    joined = LAYERS.Concatenate()([LAYERS.Dense(3, "tanh")(a), b])
    model = keras.Model([a, b], LAYERS.Dense(3)(joined))
    report = model.check_gradients([X, X[:, :2]], Y, loss=loss())
    assert report, report
    assert [row.name for row in report.rows][:2] == ["args[0]", "args[1]"]
    assert max(row.error for row in report.rows) < 1e-6
    assert model([X, X[:, :2]]).dtype == "float32"
