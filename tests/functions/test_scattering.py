"""Index tuples, parts, positions, counting: TensorFlow's numbers, gradients by differences."""

import numpy as np
import pytest

import framework as tf

M = tf.math
NAN = np.nan
T = [1.0, 2.0, 3.0, 4.0]
X = np.arange(24).reshape(2, 3, 4)


def rows(*tensors):
    return [np.asarray(t).tolist() for t in tensors]


VALUES = {  # name: [(found, expected), ...]
    "gather_nd": [
        (tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]), [2, 3]),
        (tf.gather_nd([[1, 2], [3, 4]], [[1]]), [[3, 4]]),
        (tf.gather_nd([[1, 2], [3, 4]], [[[0, 0]], [[1, 1]]]), [[1], [4]]),
        (tf.gather_nd([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[1], [0]], batch_dims=1),
         [[3, 4], [5, 6]]),
        (tf.gather_nd(X, [[[2, 3], [0, 1]], [[1, 1], [0, 0]]], batch_dims=1), [[11, 1], [17, 12]]),
        (tf.gather_nd([[1, 2], [3, 4]], [[0, 5]], bad_indices_policy="IGNORE"), [0]),
        (tf.gather_nd(X, [[[1, 1]], [[2, 9]]], batch_dims=1, bad_indices_policy="IGNORE"),
         [[5], [0]]),
        (tf.gather_nd([1, 2], np.zeros((2, 0), int)), [[1, 2], [1, 2]]),
    ],
    "scatter_nd": [
        (tf.scatter_nd([[4], [3], [1], [4]], [9.0, 10.0, 11.0, 12.0], [8]),
         [0, 11, 0, 10, 21, 0, 0, 0]),
        (tf.scatter_nd([[0], [2]], [[1, 2], [3, 4]], [3, 2]), [[1, 2], [0, 0], [3, 4]]),
        (tf.scatter_nd([[4]], [9], tf.constant([8])), [0, 0, 0, 0, 9, 0, 0, 0]),
        (tf.scatter_nd([[9], [1]], [9.0, 1.0], [3], bad_indices_policy="IGNORE"), [0, 1, 0]),
        (tf.scatter_nd([[1, 2], [0, 0]], [5, 6], [2, 3]), [[6, 0, 0], [0, 0, 5]]),
    ],
    "tensor_scatter_nd_add": [
        (tf.tensor_scatter_nd_add(T, [[1], [3], [1]], [5.0, 1.0, 6.0]), [1, 13, 3, 5])],
    "tensor_scatter_nd_sub": [
        (tf.tensor_scatter_nd_sub(T, [[1], [3], [1]], [5.0, 1.0, 6.0]), [1, -9, 3, 3])],
    "tensor_scatter_nd_max": [
        (tf.tensor_scatter_nd_max(T, [[1], [3], [1]], [5.0, 1.0, 6.0]), [1, 6, 3, 4]),
        (tf.tensor_scatter_nd_max(T, [[1], [9]], [5.0, 1.0], "IGNORE"), [1, 5, 3, 4])],
    "tensor_scatter_nd_min": [
        (tf.tensor_scatter_nd_min(T, [[1], [3], [1]], [5.0, 1.0, 6.0]), [1, 2, 3, 1])],
    "tensor_scatter_nd_update": [
        (tf.tensor_scatter_nd_update(T, [[1], [3], [1]], [5.0, 1.0, 6.0]), [1, 6, 3, 1]),
        (tf.tensor_scatter_nd_update([[1, 2], [3, 4]], [[0, 1]], [9]), [[1, 9], [3, 4]]),
        (tf.tensor_scatter_nd_update([[1, 2], [3, 4]], [[1]], [[8, 9]]), [[1, 2], [8, 9]])],
    "dynamic_stitch": [
        (tf.dynamic_stitch([[0, 2], [1, 2]], [[1.0, 2.0], [3.0, 4.0]]), [1, 3, 4]),
        (tf.dynamic_stitch([1, [0, 3]], [[1.0, 1.0], [[2.0, 2.0], [3.0, 3.0]]]),
         [[2, 2], [1, 1], [0, 0], [3, 3]])],
    "unravel_index": [
        (tf.unravel_index([2, 5, 7], [3, 3]), [[0, 1, 2], [2, 2, 1]]),
        (tf.unravel_index(5, [3, 3]), [1, 2])],
    "searchsorted": [
        (tf.searchsorted([1, 3, 5], [0, 3, 6]), [0, 1, 3]),
        (tf.searchsorted([1, 3, 5], [0, 3, 6], side="right"), [0, 2, 3]),
        (tf.searchsorted([[1, 3], [2, 4]], [[2], [4]]), [[1], [1]])],
    "strided_slice": [
        (tf.strided_slice(X, [0, 0, 0], [2, 3, 4], [1, 2, 3]), X[:, ::2, ::3]),
        (tf.strided_slice(X, [1, -1, 0], [2, -3, 3], [1, -1, 1]), X[1:2, -1:-3:-1, :3]),
        (tf.strided_slice(X, [0], [1]), X[:1]),
        (tf.strided_slice(X, [0, 1], [1, 2], shrink_axis_mask=3), X[0, 1]),
        (tf.strided_slice(X, [0, 1], [1, 1], begin_mask=2, end_mask=2, ellipsis_mask=1), X),
        (tf.strided_slice(X, [0, 0, 1], [0, 0, 2], ellipsis_mask=1, new_axis_mask=2),
         X[..., None, 1:2])],
    "bincount": [
        (M.bincount([1, 1, 3]), [0, 2, 0, 1]), (M.bincount([1, 1, 3], minlength=6),
                                                [0, 2, 0, 1, 0, 0]),
        (M.bincount([1, 1, 3], maxlength=2), [0, 2]),
        (M.bincount([1, 1, 3], weights=[1.0, 2.0, 0.5]), [0, 3, 0, 0.5]),
        (M.bincount([[1, 1], [0, 3]]), [1, 2, 0, 1]),
        (M.bincount([[1, 1], [0, 3]], axis=-1), [[0, 2, 0, 0], [1, 0, 0, 1]]),
        (M.bincount([[1, 1], [0, 3]], axis=-1, binary_output=True), [[0, 1, 0, 0], [1, 0, 0, 1]]),
        (M.bincount([1, 1, 3], binary_output=True), [0, 1, 0, 1]),
        (M.bincount([[1, 1], [0, 3]], axis=0), [1, 2, 0, 1]), (M.bincount([]), []),
        (M.bincount([], minlength=2), [0, 0])],
    "confusion_matrix": [
        (M.confusion_matrix([1, 2, 4], [2, 2, 4]),
         [[0] * 5, [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0] * 5, [0, 0, 0, 0, 1]]),
        (M.confusion_matrix([1, 0], [0, 0], num_classes=3, weights=[2, 3]),
         [[3, 0, 0], [2, 0, 0], [0, 0, 0]]),
        (M.confusion_matrix([1, 0], [0, 0], weights=[0.5, 3.0]), [[3, 0], [0, 0]]),
        (M.confusion_matrix([1, 0], [0, 0], weights=[0.5, 3.0], dtype=tf.float32),
         [[3, 0], [0.5, 0]]),
        (M.confusion_matrix([[1], [0]], [0, 0]), [[1, 0], [1, 0]])],
    "invert_permutation": [(M.invert_permutation([3, 4, 0, 2, 1]), [2, 4, 3, 0, 1])],
    "is_non_decreasing": [
        (M.is_non_decreasing([1, 1, 2]), True), (M.is_non_decreasing([2, 1]), False),
        (M.is_non_decreasing([]), True), (M.is_non_decreasing([[1, 2], [2, 3]]), True)],
    "is_strictly_increasing": [
        (M.is_strictly_increasing([1, 1, 2]), False), (M.is_strictly_increasing([1, 2]), True)],
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    for found, expected in VALUES[name]:
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert np.shape(found) == np.shape(expected)


def test_unique():
    y, idx = tf.unique([1, 1, 2, 4, 4, 4, 7, 8, 8])
    assert rows(y, idx) == [[1, 2, 4, 7, 8], [0, 0, 1, 2, 2, 2, 3, 4, 4]]
    assert tf.unique([3.0, 1.0, 3.0]).y.numpy().tolist() == [3, 1]
    found = tf.unique_with_counts([3, 1, 3], out_idx=tf.int64)
    assert rows(found.y, found.idx, found.count) == [[3, 1], [0, 1, 0], [2, 1]]
    assert found.count.dtype == "int64"
    assert y.dtype == idx.dtype == "int32"


def test_dynamic_partition():
    assert rows(*tf.dynamic_partition([10, 20, 30, 40], [0, 0, 1, 0], 2)) == [[10, 20, 40], [30]]
    assert rows(*tf.dynamic_partition([[1, 2], [3, 4]], [1, 0], 3)) == [[[3, 4]], [[1, 2]], []]
    assert rows(*tf.dynamic_partition([[1, 2], [3, 4]], [[1, 0], [1, 1]], 2)) == [[2], [1, 3, 4]]


def test_in_top_k():
    rows = [[1.0, 1.0, 0.0], [1.0, NAN, 0.0], [1.0, 2.0, 3.0], [1.0, 1.0, 0.0]]
    found = M.in_top_k([0, 1, 7, 1], rows, 1)
    assert found.numpy().tolist() == [True, False, False, True]  # as in TensorFlow
    assert M.in_top_k([2, 2], [[1.0, 2.0, 0.5], [1.0, 2.0, 1.5]], 2).numpy().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("targets", "predictions"), [([1, 0], [[0.5, 1.0]]), ([0], np.zeros((0, 3))), ([0], 1.0)]
)
def test_in_top_k_of_shapes_that_do_not_fit(targets, predictions):
    with pytest.raises(ValueError, match="in_top_k: expected one target for each row"):
        M.in_top_k(targets, predictions, 1)


def test_dtypes():
    assert M.bincount([1]).dtype == "int32"
    assert M.bincount([1], dtype=tf.int64).dtype == "int64"
    assert M.bincount([[1, 1]], axis=-1, weights=[[1.0, 2.0]]).dtype == "float32"
    assert tf.searchsorted([1], [1]).dtype == "int32"
    assert tf.searchsorted([1], [1], out_type=tf.int64).dtype == "int64"
    assert M.invert_permutation(tf.constant([1, 0], tf.int64)).dtype == "int64"
    assert tf.tensor_scatter_nd_add(tf.constant(T), [[0]], [1]).dtype == "float32"


# ---- gradients -----------------------------------------------------------------------------------

WEIGHTS = [1.0, 10.0, 100.0, 1000.0]
A, U, AT = [1.0, 5.0, 3.0, 4.0], [5.0, 4.0, 5.0], [[1], [3], [1]]
GRADIENTS = {  # by the tensor and by the updates, as in TensorFlow
    "add": (WEIGHTS, [10, 1000, 10]),
    "sub": (WEIGHTS, [-10, -1000, -10]),
    "max": ([1, 10 / 3, 100, 500], [10 / 3, 500, 10 / 3]),
    "min": ([1, 10 / 3, 100, 500], [10 / 3, 500, 10 / 3]),
    "update": ([1, 0, 100, 0], [0, 1000, 10]),  # TensorFlow has 10 for the first one too
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_tensor_scatter(name):
    x, updates = tf.constant(A), tf.constant(U)
    with tf.GradientTape() as tape:
        tape.watch([x, updates])
        y = getattr(tf, f"tensor_scatter_nd_{name}")(x, AT, updates) * WEIGHTS
    for found, expected in zip(tape.gradient(y, [x, updates]), GRADIENTS[name], strict=True):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


DIFFERENTIABLE = {
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [2, 0], [0, 1]]) ** 2,
    "gather_nd of batches": lambda x: tf.gather_nd(x, [[[1]], [[0]], [[2]]], batch_dims=1) ** 2,
    "scatter_nd": lambda x: tf.scatter_nd([[0], [2], [0]], x, [4, 3]) ** 2,
    "partition": lambda x: tf.concat(
        [p**k for k, p in enumerate(tf.dynamic_partition(x, [1, 3, 1], 4))], 0
    ),
    "stitch": lambda x: tf.dynamic_stitch([[0, 1], [1, 4, 2]], [x[:2], x * x]),
    "strided_slice": lambda x: tf.strided_slice(x, [2, 0], [0, 3], [-1, 2]) ** 2,
    "prod": lambda x: M.unsorted_segment_prod(x, [0, 1, 0], 2),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_against_differences(name):
    rng = np.random.default_rng(7)
    x, direction = rng.normal(size=(2, 3, 3))
    weights = rng.normal(size=DIFFERENTIABLE[name](tf.constant(x)).shape)

    def total(x):
        return tf.reduce_sum(DIFFERENTIABLE[name](x) * weights)

    t = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(t)
        y = total(t)
    found = np.sum(tape.gradient(y, t).numpy() * direction)
    up, down = (total(tf.constant(x + h * direction)).numpy() for h in (1e-6, -1e-6))
    np.testing.assert_allclose(found, (up - down) / 2e-6, rtol=1e-6)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [tf.tensor_scatter_nd_add, tf.tensor_scatter_nd_sub])
def test_elements_without_updates_keep_the_sign_of_zero(function):
    found = function([-0.0, 0.0, 1.0], [[2], [2]], [1.0, 1.0]).numpy()
    assert np.signbit(found).tolist() == [True, False, found[2] < 0]


ERRORS = {
    "scatter_nd: index 9 is out of range for axis 0 of size 8": [
        lambda: tf.scatter_nd([[9]], [9.0], [8])],
    "scatter_nd: index -1 is out of range": [lambda: tf.scatter_nd([[-1]], [9.0], [8])],
    "scatter_nd: expected `updates` of shape (1,)": [lambda: tf.scatter_nd([[1]], [9.0, 2.0], [8])],
    "bad_indices_policy must be one of": [lambda: tf.scatter_nd([[1]], [9.0], [8], "X")],
    "index tuples in the last axis": [lambda: tf.gather_nd([1, 2], [[0, 1]])],
    "gather_nd: `indices` must be integers": [lambda: tf.gather_nd([1, 2], [[0.0]])],
    "gather_nd: the first 1 sizes": [lambda: tf.gather_nd([[1, 2]], [[0], [1]], batch_dims=1)],
    "must lie from 0 to 1": [lambda: tf.dynamic_partition([1, 2], [0, 2], 2)],
    "must begin with that of `partitions`": [lambda: tf.dynamic_partition([1, 2], [0], 2)],
    "does not fit indices of shape": [lambda: tf.dynamic_stitch([[0], [1]], [[1], [[2]]])],
    "got 2 and 1": [lambda: tf.dynamic_stitch([[0], [1]], [[1]])],
    "`indices` must not be negative": [lambda: tf.dynamic_stitch([[-1]], [[1]])],
    "unravel_index: an index of [9] is out of bounds": [lambda: tf.unravel_index([9], [3, 3])],
    "unravel_index: `indices` must be 0-d or 1-d": [lambda: tf.unravel_index([[1]], [3, 3])],
    "`side` must be 'left' or 'right'": [lambda: tf.searchsorted([1], [1], side="x")],
    "equal leading axes": [lambda: tf.searchsorted([1, 2], [[1], [2]]),
                              lambda: tf.searchsorted([1, 2], 1)],
    "expected a 1-d tensor": [lambda: tf.unique([[1]])],
    "expected 1-d integers": [lambda: M.invert_permutation([[0]])],
    "between 0 and 1": [lambda: M.invert_permutation([3, 0])],
    "no number may occur twice": [lambda: M.invert_permutation([1, 1])],
    "must not be negative, got -1": [lambda: M.bincount([-1, 2])],
    "`axis` must be None, 0 or -1": [lambda: M.bincount([1], axis=1)],
    "bincount: `weights` must have the shape": [lambda: M.bincount([1], weights=[1.0, 2.0])],
    "bincount: `arr` must hold integers": [lambda: M.bincount([1.0])],
    "`labels` must lie from 0 to 2": [lambda: M.confusion_matrix([1, 5], [0, 0], num_classes=3)],
    "`predictions` must lie from 0 to 1": [lambda: M.confusion_matrix([1, 1], [0, -1])],
    "got 1 labels and 2 predictions": [lambda: M.confusion_matrix([1], [0, 1])],
    "must have the same length": [lambda: tf.strided_slice([1], [0], [1, 2])],
}  # fmt: skip


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    for call in ERRORS[message]:
        with pytest.raises((ValueError, TypeError, IndexError)) as caught:
            call()
        assert message in str(caught.value)
