import numpy as np
import pytest

import framework as tf
from framework import constraints

W = np.array([[3, -1, 0], [4, 2, -2]], "float32")

# Real Keras 3.15 (jax) on W
KERAS = [
    (constraints.MaxNorm(), [[1.2, -0.894427, 0], [1.6, 1.788854, -2]]),
    (constraints.MaxNorm(1.0, 1), [[0.948683, -0.316228, 0], [0.816497, 0.408248, -0.408248]]),
    (constraints.NonNeg(), [[3, 0, 0], [4, 2, 0]]),
    (constraints.UnitNorm(), [[0.6, -0.447214, 0], [0.8, 0.894427, -1]]),
    (constraints.UnitNorm([0, 1]), [[0.514496, -0.171499, 0], [0.685994, 0.342997, -0.342997]]),
    (constraints.MinMaxNorm(2.0, 3.0, 0.5), [[2.4, -1, 0], [3.2, 2, -2]]),
]


@pytest.mark.parametrize(("constraint", "value"), KERAS)
def test_values_are_keras(constraint, value):
    for w in (tf.constant(W), tf.Variable(W), W):
        made = constraint(w)
        np.testing.assert_allclose(made.numpy(), value, rtol=1e-5, atol=1e-6)
        assert made.dtype == "float32"


@pytest.mark.parametrize("constraint", [c for c, _ in KERAS])
def test_config_round_trip(constraint):
    again = constraints.deserialize(constraints.serialize(constraint))
    assert type(again) is type(constraint)
    assert again.get_config() == constraint.get_config()


def test_names():
    assert type(constraints.get("non_neg")) is constraints.NonNeg
    assert type(constraints.get("MaxNorm")) is constraints.MaxNorm
    assert constraints.get(None) is None
