import json

import numpy as np
import pytest

import framework as tf
from framework import activations
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor

X = np.array([-7, -3, -1, -0.5, 0, 0.3, 1, 3, 7], "float32")

# Real Keras 3.15 (jax) on X: "name:arguments" -> values
KERAS = {
    "linear": [-7.0, -3.0, -1.0, -0.5, 0.0, 0.3, 1.0, 3.0, 7.0],
    "celu": [-0.999088, -0.950213, -0.632121, -0.393469, 0, 0.3, 1, 3, 7],
    "elu": [-0.999088, -0.950213, -0.632121, -0.393469, 0, 0.3, 1, 3, 7],
    "exponential": [0.000912, 0.049787, 0.367879, 0.606531, 1, 1.349859, 2.718282, 20.085537,
                    1096.633179],
    "gelu": [0, -0.00405, -0.158655, -0.154269, 0, 0.185373, 0.841345, 2.99595, 7],
    "hard_shrink": [-7, -3, -1, 0, 0, 0, 1, 3, 7],
    "hard_sigmoid": [0, 0, 0.333333, 0.416667, 0.5, 0.55, 0.666667, 1, 1],
    "hard_silu": [0, 0, -0.333333, -0.208333, 0, 0.165, 0.666667, 3, 7],
    "hard_swish": [0, 0, -0.333333, -0.208333, 0, 0.165, 0.666667, 3, 7],
    "hard_tanh": [-1, -1, -1, -0.5, 0, 0.3, 1, 1, 1],
    "leaky_relu": [-1.4, -0.6, -0.2, -0.1, 0, 0.3, 1, 3, 7],
    "log_sigmoid": [-7.000911, -3.048587, -1.313262, -0.974077, -0.693147, -0.554355, -0.313262,
                    -0.048587, -0.000911],
    "log_softmax": [-14.023592, -10.023592, -8.023592, -7.523592, -7.023592, -6.723591, -6.023592,
                    -4.023592, -0.023592],
    "mish": [-0.00638, -0.145647, -0.303401, -0.220744, 0, 0.208001, 0.865098, 2.986536, 6.999989],
    "relu": [0, 0, 0, 0, 0, 0.3, 1, 3, 7],
    "relu6": [0, 0, 0, 0, 0, 0.3, 1, 3, 6],
    "selu": [-1.756496, -1.670569, -1.111331, -0.691758, 0, 0.31521, 1.050701, 3.152103, 7.354907],
    "sigmoid": [0.000911, 0.047426, 0.268941, 0.377541, 0.5, 0.574443, 0.731059, 0.952574,
                0.999089],
    "silu": [-0.006377, -0.142278, -0.268941, -0.18877, 0, 0.172333, 0.731059, 2.857722, 6.993623],
    "swish": [-0.006377, -0.142278, -0.268941, -0.18877, 0, 0.172333, 0.731059, 2.857722, 6.993623],
    "soft_shrink": [-6.5, -2.5, -0.5, 0, 0, 0, 0.5, 2.5, 6.5],
    "softmax": [0.000001, 0.000044, 0.000328, 0.00054, 0.000891, 0.001202, 0.002421, 0.017889,
                0.976685],
    "softplus": [0.000911, 0.048587, 0.313262, 0.474077, 0.693147, 0.854355, 1.313262, 3.048587,
                 7.000911],
    "softsign": [-0.875, -0.75, -0.5, -0.333333, 0, 0.230769, 0.5, 0.75, 0.875],
    "sparse_plus": [0, 0, 0, 0.0625, 0.25, 0.4225, 1, 3, 7],
    "sparse_sigmoid": [0, 0, 0, 0.25, 0.5, 0.65, 1, 1, 1],
    "sparsemax": [0, 0, 0, 0, 0, 0, 0, 0, 1],
    "squareplus": [0.140055, 0.302776, 0.618034, 0.780776, 1, 1.161187, 1.618034, 3.302776,
                   7.140055],
    "tanh": [-0.999998, -0.995055, -0.761594, -0.462117, 0, 0.291313, 0.761594, 0.995055, 0.999998],
    "tanh_shrink": [-6.000002, -2.004945, -0.238406, -0.037883, 0, 0.008687, 0.238406, 2.004945,
                    6.000002],
    "relu:0.1,2.0,0.5": [-0.75, -0.35, -0.15, -0.1, -0.05, -0.02, 1, 2, 2],
    "elu:2.0": [-1.998176, -1.900426, -1.264241, -0.786939, 0, 0.3, 1, 3, 7],
    "celu:0.5": [-0.5, -0.498761, -0.432332, -0.31606, 0, 0.3, 1, 3, 7],
    "threshold:0.5,9.0": [9, 9, 9, 9, 9, 9, 1, 3, 7],
    "gelu:true": [0, -0.003637, -0.158808, -0.154286, 0, 0.185371, 0.841192, 2.996363, 7],
}  # fmt: skip

# Between the kinks of all of them.
SMOOTH = np.array([-2.6, -1.7, -0.8, -0.3, 0.2, 0.7, 1.4, 2.8])


def parse(key):
    name, _, arguments = key.partition(":")
    return getattr(activations, name), json.loads(f"[{arguments}]")


def test_every_activation_is_pinned():
    names = {key.partition(":")[0] for key in KERAS}
    assert set(activations.activations.by_name) - names == {"glu"}


@pytest.mark.parametrize("key", KERAS)
def test_values_are_keras(key):
    function, arguments = parse(key)
    made = function(tf.constant(X), *arguments)
    np.testing.assert_allclose(np.asarray(made), KERAS[key], rtol=1e-5, atol=1e-6)
    assert made.dtype == "float32"


@pytest.mark.parametrize("key", KERAS)
def test_gradients_are_finite_differences(key):
    function, arguments = parse(key)
    weights = np.cos(np.arange(SMOOTH.size))

    def total(x):
        return float(np.sum(np.asarray(function(tf.constant(x), *arguments)) * weights))

    x = tf.constant(SMOOTH)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x, *arguments) * weights)
    steps = 1e-6 * np.eye(SMOOTH.size)
    expected = [(total(SMOOTH + s) - total(SMOOTH - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("key", KERAS)
def test_arrays_and_keras_tensors(key):
    function, arguments = parse(key)
    np.testing.assert_allclose(
        np.asarray(function(X, *arguments)), KERAS[key], rtol=1e-5, atol=1e-6
    )
    symbolic = function(KerasTensor((None, 4), "float32"), *arguments)
    assert symbolic.shape == (None, 4)
    assert symbolic.dtype == "float32"


def test_integers_become_floats():
    assert activations.sigmoid(np.array([0, 1])).dtype == "float32"
    np.testing.assert_allclose(activations.relu(np.array([-2, 3])).numpy(), [0, 3])


def test_glu_multiplies_halves():
    np.testing.assert_allclose(
        activations.glu(X[:8]).numpy(), [-3.5, -1.723328, -0.731059, -0.476287], rtol=1e-5
    )
    with pytest.raises(ShapeError, match="even size"):
        activations.glu(X)


def test_softmax_over_several_axes():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    expected = np.exp(x) / np.exp(x).sum(axis=(0, 2), keepdims=True)
    np.testing.assert_allclose(activations.softmax(x, axis=(2, 0)).numpy(), expected)
    np.testing.assert_allclose(activations.log_softmax(x, axis=(0, -1)).numpy(), np.log(expected))


def test_get_serialize_and_deserialize():
    assert activations.get(None) is activations.linear
    assert activations.get("ReLU") is activations.get("relu") is activations.relu
    assert activations.get(np.tanh) is np.tanh
    assert activations.serialize(activations.silu) == "silu"
    assert activations.deserialize("silu") is activations.silu
    assert activations.deserialize("mine", {"mine": np.sin}) is np.sin


def test_an_unknown_name_is_one_error_with_the_nearest_name():
    with pytest.raises(
        InvalidArgumentError, match="Unknown activation: 'rleu'; did you mean 'relu'"
    ):
        activations.get("rleu")


@pytest.mark.parametrize(
    ("name", "axis"), [("softmax", (1, 2)), ("log_softmax", (0, 2)), ("glu", 1)]
)
def test_over_axes_of_unknown_size(name, axis):
    x = tf.keras.Input((None, 4))
    function = getattr(activations, name)
    model = tf.keras.Model(x, function(x, axis=axis))
    data = np.cos(np.arange(48, dtype="float32")).reshape(2, 6, 4)
    np.testing.assert_allclose(model(data), function(data, axis=axis), rtol=1e-6)
    assert function(data[:0], axis=(1, 2) if name != "glu" else 1).shape[0] == 0


def test_integers_as_in_keras():
    x = np.int32([-3, 1, 5])
    for arguments, dtype, expected in (
        ({"max_value": 1.5}, "int32", [0, 1, 1]),
        ({"max_value": 6}, "float32", [0, 1, 5]),
        ({"threshold": 1.5}, "int32", [0, 0, 5]),
        ({"negative_slope": 0.1, "max_value": 2.0, "threshold": 0.5}, "float32", [-0.35, 1, 2]),
    ):
        found = activations.relu(x, **arguments)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert activations.relu(np.float32([-np.inf]), threshold=1.0).numpy() == 0  # not NaN
