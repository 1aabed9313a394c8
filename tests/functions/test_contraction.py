"""Products, norms and clipping, against NumPy; the clipping rules are TensorFlow's."""

import numpy as np
import pytest

import framework as tf
from framework import keras

R = np.random.default_rng(1)
A, B = R.normal(size=(2, 3, 4)).astype("f4"), R.normal(size=(2, 4, 5)).astype("f4")


@pytest.mark.parametrize("turn_a", [False, True])
@pytest.mark.parametrize("turn_b", [False, True])
def test_matmul(turn_a, turn_b):
    a = A.swapaxes(1, 2) if turn_a else A
    b = B.swapaxes(1, 2) if turn_b else B
    expected = A @ B
    found = tf.matmul(a, b, transpose_a=turn_a, adjoint_b=turn_b)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        tf.matmul(a, tf.constant(b)[0], turn_a, turn_b).numpy(), A @ B[0], rtol=1e-5, atol=1e-6
    )


def test_operators_and_relatives():
    np.testing.assert_allclose((tf.constant(A) @ B).numpy(), A @ B, rtol=1e-5)
    np.testing.assert_allclose(tf.linalg.matvec(A, B[:, :, 0]).numpy(),
                               np.einsum("nij,nj->ni", A, B[:, :, 0]), rtol=1e-5)  # fmt: skip
    np.testing.assert_array_equal(tf.linalg.matrix_transpose(A).numpy(), A.swapaxes(1, 2))


VECTORS = [((2, 3), (3,)), ((3,), (3, 2)), ((3,), (3,)), ((4, 2, 3), (3,)), ((3,), (4, 3, 2))]


@pytest.mark.parametrize("matrix", [[[np.inf, 1.0, -1.0]], [[np.nan], [2.0]], [[np.inf]]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_scalar_zero_times_infinity_is_nan(matrix, dtype):
    """`np.dot` returns 0 here, because BLAS skips a scalar factor of 0."""
    matrix, zero = np.array(matrix, dtype), np.zeros((1, 1), dtype)
    factors = (zero, matrix) if len(matrix) == 1 else (matrix, zero)
    with np.errstate(invalid="ignore"):
        expected = matrix * zero
    compiled = tf.function(tf.matmul)
    for product in (tf.matmul, compiled, compiled, compiled):
        found = product(*map(tf.constant, factors))
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("shapes", VECTORS, ids=str)
def test_the_operator_refuses_vectors_but_keras_has_them(shapes):
    a, b = (R.normal(size=shape).astype("f4") for shape in shapes)
    for left, right in ((tf.constant(a), b), (a, tf.constant(b)), (tf.Variable(a), tf.Variable(b))):
        with pytest.raises(ValueError, match=r"matmul: expected operands of rank 2.*matvec"):
            left @ right
    v, w = keras.Variable(a), keras.Variable(b)
    with tf.GradientTape() as tape:
        y = v @ w
    np.testing.assert_allclose(y.numpy(), a @ b, rtol=1e-5)
    slopes = tape.gradient(y, [v, w])
    assert [tuple(g.shape) for g in slopes] == list(shapes)
    with tf.GradientTape() as tape:
        y = keras.ops.matmul(v, w)
    np.testing.assert_allclose(y.numpy(), a @ b, rtol=1e-5)
    for found, expected in zip(slopes, tape.gradient(y, [v, w])):
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
    symbolic = keras.KerasTensor((None, 3)) @ keras.KerasTensor((3,))
    assert symbolic.shape == (None,)


@pytest.mark.parametrize("axes", [0, 1, 2, [[2], [1]], [[0, 2], [0, 1]], [2, 1]], ids=str)
def test_tensordot(axes):
    b = B.transpose(1, 0, 2) if axes == 1 else B
    if axes == 2:
        b = R.normal(size=(3, 4, 2)).astype("f4")
    np.testing.assert_allclose(
        tf.tensordot(A, b, axes).numpy(), np.tensordot(A, b, axes), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("ord", "axis"),
    [("euclidean", None), ("euclidean", 1), (1, 0), (np.inf, -1), (3, 2), ("fro", (1, 2)),
     (1, (1, 2)), (np.inf, (0, 1))],
)  # fmt: skip
@pytest.mark.parametrize("keepdims", [None, True])
def test_norm(ord, axis, keepdims):
    if axis is None:
        expected = np.linalg.norm(A.ravel()).reshape((1, 1, 1) if keepdims else ())
    else:
        order = None if ord == "euclidean" else ord
        expected = np.linalg.norm(A, order, axis, bool(keepdims))
    np.testing.assert_allclose(tf.norm(A, ord, axis, keepdims).numpy(), expected, rtol=1e-5)


# ---- clipping ------------------------------------------------------------------------------------


def test_clip_by_value():
    x = tf.constant([-2.0, 0.5, 3.0])
    assert tf.clip_by_value(x, -1.0, 1.0).numpy().tolist() == [-1, 0.5, 1]
    assert tf.clip_by_value(x, [-1.0, 0.6, 0.0], 4.0).numpy().tolist() == pytest.approx(
        [-1, 0.6, 3]
    )
    assert tf.clip_by_value([1, 5], 2, 3).numpy().tolist() == [2, 3]


def test_clip_by_norm():
    x = np.float32([3.0, 4.0])
    np.testing.assert_allclose(tf.clip_by_norm(x, 1.0).numpy(), x / 5, rtol=1e-6)
    np.testing.assert_array_equal(tf.clip_by_norm(x, 6.0).numpy(), x)
    np.testing.assert_array_equal(tf.clip_by_norm([0.0, 0.0], 1.0).numpy(), [0, 0])
    rows = np.float32([[3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(
        tf.clip_by_norm(rows, 1.0, axes=[1]).numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6
    )
    zero = tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(zero)
        y = tf.clip_by_norm(zero, 1.0)
    assert tape.gradient(y, zero).numpy().tolist() == [1, 1]  # no nan at 0


def test_bounds_that_make_more_of_what_is_clipped_are_refused():
    for low, high in (([0.0, 0.0], 1.0), (0.0, [[1.0], [1.0]])):
        with pytest.raises(ValueError, match=r"clip_by_value: bounds of shapes .* larger than t"):
            tf.clip_by_value([5.0], low, high)
    assert tf.clip_by_value([5.0, -1.0], [0.0], [[1.0]][0]).numpy().tolist() == [1, 0]


@pytest.mark.parametrize("norm", [-1.0, 0.0, tf.constant(-1.0)])
def test_a_negative_norm_counts_as_zero(norm):
    assert tf.clip_by_norm([3.0, 4.0], norm).numpy().tolist() == [0, 0]


def test_clip_by_global_norm():
    parts = [tf.constant([3.0]), None, tf.constant([[4.0]])]
    clipped, length = tf.clip_by_global_norm(parts, 1.0)
    assert float(length) == 5
    assert clipped[1] is None
    np.testing.assert_allclose(
        [clipped[0].numpy()[0], clipped[2].numpy()[0, 0]], [0.6, 0.8], rtol=1e-6
    )
    left, _ = tf.clip_by_global_norm(parts, 10.0)
    assert (float(left[0][0]), float(left[2][0, 0])) == (3, 4)
    spoilt, length = tf.clip_by_global_norm([tf.constant([np.inf, 1.0]), tf.constant([1.0])], 1.0)
    assert np.isinf(float(length))
    assert all(np.isnan(t.numpy()).all() for t in spoilt)
    halved, _ = tf.clip_by_global_norm([tf.constant([2.0])], 1.0, use_norm=tf.constant(2.0))
    assert float(halved[0][0]) == 1
    assert float(tf.linalg.global_norm([])) == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tf.matmul([1.0], [[1.0]]), r"matmul.*rank 2.*\(1,\) and \(1, 1\).*matvec"),
        (lambda: tf.matmul(A, A), r"inner sizes 4 and 3 differ"),
        (lambda: tf.matmul(A[0], B[0], transpose_b=True), r"sizes 4 and 5.*transpose_b=True"),
        (lambda: tf.tensordot(A, B, 1), "axis 2.*axis 0.*differ"),
        (lambda: tf.tensordot(A, B, 4), "axes=4"),
        (lambda: tf.norm(A, "nuclear"), "'nuclear'"),
    ],
)
def test_bad_arguments(call, said):
    with pytest.raises(ValueError, match=said):
        call()
