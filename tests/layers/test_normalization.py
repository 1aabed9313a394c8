"""Normalisation layers: numbers of Keras 3.15, moving averages, masks, half precision, errors."""

import numpy as np
import pytest

import framework as tf
from framework import layers
from framework.core.errors import InvalidArgumentError, ShapeError

X = np.array([[[1, -2], [3, 0.5], [-1, 4]], [[2, 2], [0, -3], [5, 1]]], "float32")
MASK = np.array([[True, True, False], [True, False, True]])


def close(found, expected, tol=2e-6):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tol, atol=tol)


# ---- batch normalisation -------------------------------------------------------------------------


def test_two_steps_of_training_then_inference():
    layer = layers.BatchNormalization(momentum=0.9)
    layer(X, training=True)
    y = layer(X * 2, training=True)
    close(y[0], [[-0.338051, -1.02721], [0.676102, 0.035421], [-1.352203, 1.523104]])
    close(layer.moving_mean, [0.483333, 0.120833])
    close(layer.moving_variance, [2.715556, 3.522014])
    close(layer(X)[0], [[0.313474, -1.129924], [1.52692, 0.20201], [-0.899973, 2.066718]])


def test_masked_steps_do_not_count():
    layer = layers.BatchNormalization(momentum=0.9)
    y = layer(X, training=True, mask=MASK)
    close(y[0], [[-1.182946, -1.611188], [0.168992, 0.084799], [-2.534884, 2.459182]])
    close(layer.moving_mean, [0.275, 0.0375])
    close(layer.moving_variance, [1.11875, 1.117188])


def test_batch_renormalisation():
    layer = layers.BatchNormalization(
        momentum=0.5, renorm=True, renorm_momentum=0.8,
        renorm_clipping={"rmax": 2.0, "rmin": 0.5, "dmax": 1.0},
    )  # fmt: skip
    layer(X, training=True)
    y = layer(X * 2 + 1, training=True)
    close(y[0], [[0.323898, -1.054419], [2.352203, 1.070842], [-1.704406, 4.046208]])
    names = "gamma beta moving_mean moving_variance moving_stddev renorm_mean renorm_stddev"
    assert [w.name for w in layer.weights] == names.split()
    close(layer.moving_mean, [2.583333, 1.020833])
    close(layer.moving_variance, [7.371094, 10.180557])
    close(layer.moving_stddev, [2.71516, 3.190855])
    close(layer.renorm_mean, [1.133334, 0.433333])
    close(layer.renorm_stddev, [1.744401, 1.957511])


def test_a_frozen_layer_is_in_inference_and_keeps_its_averages():
    layer = layers.BatchNormalization()
    layer(X, training=True)
    before = layer.moving_mean.numpy()
    layer.trainable = False
    close(layer(X, training=True), layer(X))
    np.testing.assert_array_equal(layer.moving_mean.numpy(), before)


def test_statistics_of_half_precision_are_in_float32():
    x = (np.arange(4096, dtype="float32").reshape(2048, 2) + 1000).astype("float16")
    layer = layers.BatchNormalization(momentum=0.0, dtype="mixed_float16")
    y = layer(x, training=True)
    assert y.dtype == "float16"
    close(layer.moving_mean, x.astype("float64").mean(0), 1e-5)
    close(layer.moving_variance, x.astype("float64").var(0), 1e-5)


def test_large_means_lose_no_variance():
    x = (np.random.default_rng(0).normal(size=(50_000, 3)) + 1000).astype("float32")
    layer = layers.BatchNormalization(momentum=0.0)
    layer(x, training=True)
    np.testing.assert_allclose(layer.moving_variance, x.astype("float64").var(0), rtol=1e-5)


def test_moving_averages_take_two_recorded_ops():
    seen = []

    class Seen(tf.GradientTape):
        def op(self, op, *rest):
            seen.append(op.name)
            super().op(op, *rest)

    layer = layers.BatchNormalization()
    layer(X, training=True)
    with Seen() as tape:
        tape.watch(x := tf.constant(X))
        layer(x, training=True)
    assert seen == ["batch_norm", "moving_average", "moving_average"]


def test_a_symbolic_call_leaves_the_averages():
    layer = layers.BatchNormalization()
    layer.build((None, 3))
    layer(tf.keras.Input((3,)), training=True)
    np.testing.assert_array_equal(layer.moving_mean.numpy(), np.zeros(3))


@pytest.mark.parametrize("limits", [{"max": 1}, {"rmax": 1, "rmin": 2}, {"dmax": -1}])
def test_limits_of_renormalisation_are_checked(limits):
    with pytest.raises(InvalidArgumentError, match="renorm_clipping"):
        layers.BatchNormalization(renorm=True, renorm_clipping=limits)


def test_a_mask_of_the_wrong_rank():
    with pytest.raises(ShapeError, match="one axis less"):
        layers.BatchNormalization()(X, training=True, mask=MASK[0])


# ---- rows, groups, units -------------------------------------------------------------------------

CASES = {
    "over two axes": (
        layers.LayerNormalization, {"axis": [1, 2]},
        [[0.039868, -1.395382], [0.996701, -0.19934], [-0.916965, 1.475118]],
    ),
    "over the middle axis": (
        layers.LayerNormalization, {"axis": 1},
        [[0.0, -1.15129], [1.224515, -0.135446], [-1.224515, 1.286736]],
    ),
    "root mean square": (
        layers.RMSNormalization, {},
        [[0.632455, -1.264911], [1.394972, 0.232495], [-0.342997, 1.371989]],
    ),
    "unit": (
        layers.UnitNormalization, {"axis": (1, 2)},
        [[0.178885, -0.357771], [0.536656, 0.089443], [-0.178885, 0.715542]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_numbers_of_keras(name):
    cls, arguments, expected = CASES[name]
    close(cls(**arguments)(X)[0], expected)


def test_groups():
    x = np.arange(8, dtype="float32").reshape(1, 2, 4) ** 2
    close(
        layers.GroupNormalization(groups=2)(x)[0],
        [[-0.999996, -0.904758, -1.098519, -0.830588], [0.523807, 1.380946, 0.616242, 1.312864]],
    )


def test_rms_scaling_warns_and_divides_by_the_deviation():
    with pytest.warns(UserWarning, match="RMSNormalization"):
        layer = layers.LayerNormalization(rms_scaling=True)
    close(layer(X)[0], [[0.666519, -1.333037], [2.399232, 0.399872], [-0.399968, 1.599872]])
    assert [w.name for w in layer.weights] == ["gamma"]


ERRORS = [
    (lambda: layers.GroupNormalization(groups=3)(X), "must divide"),
    (lambda: layers.GroupNormalization(groups=0), "positive integer"),
    (lambda: layers.LayerNormalization(axis=4)(X), "out of bounds"),
    (lambda: layers.LayerNormalization(axis="x"), "an int or a list"),
    (lambda: layers.BatchNormalization().build((2, None)), "must be known"),
    (lambda: layers.Normalization(mean=1.0), "both"),
    (lambda: layers.Normalization(mean=[[1.0]], variance=[[1.0]]), "the same shape"),
    (lambda: layers.Normalization().build((2, None)), "must be known"),
    (lambda: layers.Normalization().adapt([]), "no batches"),
    (lambda: layers.Normalization().adapt(3), "must be an array"),
    (lambda: layers.Normalization().adapt([X, X[:, :, :1]]), "built for inputs"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# ---- Normalization -------------------------------------------------------------------------------

PARTS = {
    "array": X,
    "tensor": tf.constant(X),
    "batches": [X[:1], X[1:]],
    "generator of pairs": ((x, 0) for x in (X[:1], X[1:])),
    "dataset": tf.data.Dataset.from_tensor_slices(X).batch(1),
}


@pytest.mark.parametrize("name", PARTS)
def test_adapt(name):
    layer = layers.Normalization()
    layer.adapt(PARTS[name])
    close(layer.mean, [[[1.666667, 0.416667]]])
    close(layer.variance, [[[3.888888, 5.534722]]], 1e-5)
    close(layer(X)[0], [[-0.338062, -1.027233], [0.676124, 0.035422], [-1.352247, 1.523138]])
    layer.adapt(X + 1)
    close(layer.mean, [[[2.666667, 1.416667]]])


def test_invert_with_one_mean_for_all():
    layer = layers.Normalization(axis=None, invert=True)
    layer.adapt([X[:1], X[1:, :2]])
    close(layer(X)[0], [[2.748214, -3.546427], [6.944641, 1.699107], [-1.448214, 9.042854]])


def test_rows_of_one_number_are_taken_by_the_batch():
    layer = layers.Normalization(axis=None)
    layer.adapt(tf.data.Dataset.from_tensor_slices(np.arange(4.0, dtype="float32")))
    assert float(layer.mean.numpy().squeeze()) == 1.5


# ---- SpectralNormalization -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("iterations", "output", "vector"),
    [
        (1, [0.213166, 0.426332, 0.639498, 0.852664], [0.415106, 0.46925, 0.523394, 0.577538]),
        (3, [0.207611, 0.415223, 0.622834, 0.830445], [0.378353, 0.454574, 0.530795, 0.607016]),
    ],
)
def test_a_kernel_is_divided_by_its_singular_value(iterations, output, vector):
    layer = layers.SpectralNormalization(layers.Dense(4), power_iterations=iterations)
    layer.build((None, 3))
    layer.layer.kernel.assign(np.arange(12, dtype="float32").reshape(3, 4) - 3)
    layer.vector_u.assign([[1, 2, -1, 0.5]])
    x = np.ones((1, 3), "float32")
    close(layer(x, training=True), [output])
    close(layer.vector_u, [vector])
    kernel = layer.kernel.numpy()
    layer(x)
    np.testing.assert_array_equal(layer.kernel.numpy(), kernel)


def test_a_kernel_of_zeros_remains_unchanged():
    layer = layers.SpectralNormalization(layers.Dense(2, kernel_initializer="zeros"))
    layer(X, training=True)
    np.testing.assert_array_equal(layer.kernel.numpy(), np.zeros((2, 2)))


def test_a_layer_without_a_kernel():
    with pytest.raises(InvalidArgumentError, match="kernel"):
        layers.SpectralNormalization(layers.ReLU())(X)
    with pytest.raises(ValueError, match="power_iterations"):
        layers.SpectralNormalization(layers.Dense(2), power_iterations=0)


def test_a_mask_with_an_axis_of_size_1():  # numbers of Keras 3.15
    layer = layers.BatchNormalization(momentum=0.0)
    y = layer(np.ones((1, 2, 3, 4), "float32"), training=True, mask=np.ones((1, 2, 1)))
    np.testing.assert_allclose(y, np.zeros((1, 2, 3, 4)), atol=1e-6)
    np.testing.assert_allclose(layer.moving_mean, np.ones(4), atol=1e-6)
