import numpy as np
import pytest

import framework as tf
from framework import regularizers
from framework.core.errors import InvalidArgumentError, ShapeError

W = np.array([[3, -1, 0], [4, 2, -2]], "float32")

# Real Keras 3.15 (jax) on W
KERAS = [
    (regularizers.L1(0.5), 6.0),
    (regularizers.L2(0.5), 17.0),
    (regularizers.L1L2(0.1, 0.2), 8.0),
    (regularizers.OrthogonalRegularizer(), 0.006455),
    (regularizers.OrthogonalRegularizer(0.5, "columns"), 0.35694),
]


@pytest.mark.parametrize(("regularizer", "value"), KERAS)
def test_values_are_keras(regularizer, value):
    penalty = regularizer(tf.Variable(W))
    assert penalty.shape == ()
    assert penalty.numpy() == pytest.approx(value, rel=2e-4)


@pytest.mark.parametrize("regularizer", [r for r, _ in KERAS])
def test_gradients_are_finite_differences(regularizer):
    x = tf.constant(W.astype("float64") + 0.3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        penalty = regularizer(x)
    expected = np.zeros(W.shape)
    for i in np.ndindex(*W.shape):
        step = np.zeros(W.shape)
        step[i] = 1e-6
        expected[i] = (float(regularizer(x + step)) - float(regularizer(x - step))) / 2e-6
    np.testing.assert_allclose(tape.gradient(penalty, x).numpy(), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("regularizer", [r for r, _ in KERAS])
def test_config_round_trip(regularizer):
    again = regularizers.deserialize(regularizers.serialize(regularizer))
    assert type(again) is type(regularizer)
    assert again.get_config() == regularizer.get_config()


def test_names():
    assert type(regularizers.get("l1_l2")) is regularizers.L1L2
    assert regularizers.get("l2").l2 == 0.01
    assert regularizers.get(None) is None
    assert regularizers.get(tf.reduce_sum) is tf.reduce_sum


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "0.1", True])
def test_bad_strength(bad):
    with pytest.raises((InvalidArgumentError, TypeError), match="argument l2="):
        regularizers.L2(bad)


def test_orthogonal_wants_a_matrix():
    with pytest.raises(ShapeError, match=r"two axes, got shape \(3,\)"):
        regularizers.OrthogonalRegularizer()(np.ones(3))
