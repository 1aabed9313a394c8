"""Making, reshaping, joining and choosing, against NumPy; errors name function and sizes."""

import numpy as np
import pytest

import framework as tf

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
I = np.arange(6).reshape(2, 3)  # noqa: E741

SAME = {
    "concat one tensor": (lambda: tf.concat(X, 0), lambda: X),
    "reshape": (lambda: tf.reshape(X, [4, -1]), lambda: X.reshape(4, -1)),
    "reshape to 0-d": (lambda: tf.reshape([5], []), lambda: np.int32(5)),
    "reshape by a tensor": (lambda: tf.reshape(X, tf.constant([6, 4])), lambda: X.reshape(6, 4)),
    "transpose": (lambda: tf.transpose(X), lambda: X.T),
    "transpose perm": (lambda: tf.transpose(X, [1, 0, -1]), lambda: X.transpose(1, 0, 2)),
    "expand_dims": (lambda: tf.expand_dims(X, -1), lambda: X[..., None]),
    "expand_dims 1": (lambda: tf.expand_dims(X, 1), lambda: X[:, None]),
    "squeeze": (lambda: tf.squeeze(X[:, None, :1]), lambda: X[:, 0]),
    "squeeze axis": (lambda: tf.squeeze(X[None, :1], axis=[0]), lambda: X[:1]),
    "broadcast_to": (lambda: tf.broadcast_to([1.0, 2.0], [3, 2]),
                     lambda: np.float32([[1, 2]] * 3)),
    "concat": (lambda: tf.concat([X, X[:, :1]], 1), lambda: np.concatenate([X, X[:, :1]], 1)),
    "concat -1": (lambda: tf.concat((X, X), axis=-1), lambda: np.concatenate([X, X], -1)),
    "stack": (lambda: tf.stack([X, X], axis=-1), lambda: np.stack([X, X], -1)),
    "stack numbers": (lambda: tf.stack([tf.constant(1.0), 2.0]), lambda: np.float32([1, 2])),
    "unstack": (lambda: tf.unstack(X, axis=1)[2], lambda: X[:, 2]),
    "split": (lambda: tf.split(X, 2, axis=2)[1], lambda: X[..., 2:]),
    "split sizes": (lambda: tf.split(X, [1, -1], axis=-1)[1], lambda: X[..., 1:]),
    "tile": (lambda: tf.tile(X, [1, 2, 3]), lambda: np.tile(X, [1, 2, 3])),
    "repeat": (lambda: tf.repeat(X, 2, axis=1), lambda: X.repeat(2, 1)),
    "repeat counts": (lambda: tf.repeat(X, [2, 0, 1], axis=1), lambda: X.repeat([2, 0, 1], 1)),
    "repeat flat": (lambda: tf.repeat([[1, 2]], 2), lambda: np.int32([1, 1, 2, 2])),
    "reverse": (lambda: tf.reverse(X, [0, -1]), lambda: X[::-1, :, ::-1]),
    "roll": (lambda: tf.roll(X, 1, 2), lambda: np.roll(X, 1, 2)),
    "roll two": (lambda: tf.roll(X, [1, -2], [0, 2]), lambda: np.roll(X, (1, -2), (0, 2))),
    "pad": (lambda: tf.pad(X, [[0, 1], [2, 0], [1, 1]]),
            lambda: np.pad(X, [(0, 1), (2, 0), (1, 1)])),
    "pad value": (lambda: tf.pad(X[0], [[1, 0], [0, 1]], constant_values=7.0),
                  lambda: np.pad(X[0], [(1, 0), (0, 1)], constant_values=7)),
    "pad reflect": (lambda: tf.pad(X, [[1, 0], [1, 2], [0, 3]], "REFLECT"),
                    lambda: np.pad(X, [(1, 0), (1, 2), (0, 3)], "reflect")),
    "pad symmetric": (lambda: tf.pad(X, [[2, 0], [1, 2], [0, 3]], "symmetric"),
                      lambda: np.pad(X, [(2, 0), (1, 2), (0, 3)], "symmetric")),
    "gather": (lambda: tf.gather(X, [[1, 0], [0, 0]]), lambda: X[[[1, 0], [0, 0]]]),
    "gather axis": (lambda: tf.gather(X, [2, 0], axis=1), lambda: X.take([2, 0], 1)),
    "gather scalar": (lambda: tf.gather(X, 1, axis=-1), lambda: X[..., 1]),
    "gather batch": (lambda: tf.gather(X, [[2, 0], [1, 1]], batch_dims=1),
                     lambda: np.stack([X[0][[2, 0]], X[1][[1, 1]]])),
    "gather batch, axis 2": (lambda: tf.gather(X, [[3, 0], [1, 1]], axis=2, batch_dims=1),
                             lambda: np.stack([X[0][:, [3, 0]], X[1][:, [1, 1]]])),
    "gather_nd": (lambda: tf.gather_nd(X, [[0, 1], [1, 2]]), lambda: X[[0, 1], [1, 2]]),
    "where": (lambda: tf.where(X > 5, X, 0.0), lambda: np.where(X > 5, X, 0)),
    "where broadcast": (lambda: tf.where([True, False, True, False], X, -X),
                        lambda: np.where([True, False, True, False], X, -X)),
    "where positions": (lambda: tf.where(I > 2), lambda: np.argwhere(I > 2)),
    "slice": (lambda: tf.slice(X, [0, 1, 2], [2, -1, 1]), lambda: X[0:2, 1:, 2:3]),
    "boolean_mask": (lambda: tf.boolean_mask(X, I > 2), lambda: X[I > 2]),
    "boolean_mask axis": (lambda: tf.boolean_mask(X, [True, False, True], axis=1),
                          lambda: X[:, [True, False, True]]),
    "sequence_mask": (lambda: tf.sequence_mask([1, 3], 4, tf.int32),
                      lambda: np.int32([[1, 0, 0, 0], [1, 1, 1, 0]])),
    "sort": (lambda: tf.sort(-X, axis=1), lambda: np.sort(-X, 1)),
    "sort descending": (lambda: tf.sort(X, direction="DESCENDING"), lambda: X[..., ::-1]),
    "argsort": (lambda: tf.argsort([3, 1, 2, 1]), lambda: np.int32([1, 3, 2, 0])),
    "argsort descending": (lambda: tf.argsort([3, 1, 2, 1], direction="DESCENDING"),
                           lambda: np.int32([0, 2, 1, 3])),
    "zeros": (lambda: tf.zeros((2, 3), tf.int32), lambda: np.zeros((2, 3), np.int32)),
    "ones": (lambda: tf.ones([2]), lambda: np.ones(2, np.float32)),
    "fill": (lambda: tf.fill([2, 2], 3.0), lambda: np.full((2, 2), 3, np.float32)),
    "zeros_like": (lambda: tf.zeros_like(X), lambda: np.zeros_like(X)),
    "ones_like": (lambda: tf.ones_like([1, 2], tf.float64), lambda: np.ones(2)),
    "eye": (lambda: tf.eye(2, 3), lambda: np.eye(2, 3, dtype="f4")),
    "eye batch": (lambda: tf.eye(2, batch_shape=[3], dtype=tf.int32),
                  lambda: np.stack([np.eye(2, dtype="i4")] * 3)),
    "range": (lambda: tf.range(1, 6, 2), lambda: np.int32([1, 3, 5])),
    "range floats": (lambda: tf.range(0.0, 1.0, 0.25), lambda: np.float32([0, 0.25, 0.5, 0.75])),
    "range down": (lambda: tf.range(3, 0, -1), lambda: np.int32([3, 2, 1])),
    "range of tensors": (lambda: tf.range(tf.constant(2), dtype=tf.int64), lambda: np.arange(2)),
    "linspace": (lambda: tf.linspace(-1.0, 1.0, 5), lambda: np.linspace(-1, 1, 5, dtype="f4")),
    "linspace of ints": (lambda: tf.linspace(0, 10, 3), lambda: np.linspace(0, 10, 3)),
    "linspace of two shapes": (lambda: tf.linspace(0.0, [1.0, 3.0], 3, axis=-1),
                               lambda: np.linspace(np.zeros(2), [1, 3], 3, axis=-1, dtype="f4")),
    "linspace of vectors": (lambda: tf.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=-1),
                            lambda: np.linspace([0, 1], [1, 3], 3, axis=-1, dtype="f4")),
    "one_hot": (lambda: tf.one_hot([2, 0, 5, -1], 3), lambda: np.float32(
        [[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]])),
    "one_hot values": (lambda: tf.one_hot([1], 3, on_value=5, off_value=-1),
                       lambda: np.int32([[-1, 5, -1]])),
    "one_hot of floats": (lambda: tf.one_hot(np.array([2.0, 0.9]), 3),  # as TensorFlow casts arrays
                          lambda: np.float32([[0, 0, 1], [1, 0, 0]])),
    "one_hot of bools": (lambda: tf.one_hot(np.array([True, False]), 2),
                         lambda: np.float32([[0, 1], [1, 0]])),
    "one_hot axis": (lambda: tf.one_hot([[0, 1]], 2, axis=0, dtype=tf.int32),
                     lambda: np.int32([[[1, 0]], [[0, 1]]])),
    "one_hot axis 1": (lambda: tf.one_hot(I % 2, 2, axis=1), lambda: np.moveaxis(
        np.eye(2, dtype="f4")[I % 2], -1, 1)),
    "meshgrid": (lambda: tf.meshgrid([1, 2, 3], [4, 5])[0], lambda: np.int32([[1, 2, 3]] * 2)),
    "meshgrid ij": (lambda: tf.meshgrid([1, 2, 3], [4, 5], indexing="ij")[1],
                    lambda: np.int32([[4, 5]] * 3)),
    "shape": (lambda: tf.shape(X), lambda: np.int32([2, 3, 4])),
    "shape int64": (lambda: tf.shape(X, tf.int64), lambda: np.int64([2, 3, 4])),
    "shape np.int64": (lambda: tf.shape(X, out_type=np.int64), lambda: np.int64([2, 3, 4])),
    "rank": (lambda: tf.rank(X), lambda: np.int32(3)),
    "size": (lambda: tf.size(X), lambda: np.int32(24)),
    "identity": (lambda: tf.identity(X), lambda: X),
}  # fmt: skip


@pytest.mark.parametrize(("ours", "numpys"), SAME.values(), ids=SAME)
def test_same_as_numpy(ours, numpys):
    found, expected = ours(), numpys()
    assert type(found) is tf.Tensor
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), expected)


DIFFERENTIABLE = {
    name: pair for name, pair in SAME.items()
    if name.split()[0] in {"reshape", "transpose", "expand_dims", "squeeze", "concat", "stack",
                           "unstack", "split", "tile", "repeat", "reverse", "roll", "pad", "gather",
                           "gather_nd", "slice", "boolean_mask", "sort"}
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_count_how_often_an_element_is_used(name):
    """Each output element is a copy of one input element, or a constant."""
    global X
    plain, numpys = X, SAME[name][1]
    try:
        X = x = tf.constant(plain)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = SAME[name][0]() * 1
        found = tape.gradient(y, x)
    finally:
        X = plain
    if found is not None:
        values = numpys()
        used = np.abs(values) if "sort" in name else values
        constants = 7.0 if name == "pad value" else 0.0
        counts = [np.sum(used == v) for v in plain.ravel() if v not in (constants, 0.0)]
        kept = [abs(g) for g, v in zip(np.asarray(found).ravel(), plain.ravel(), strict=True)
                if v not in (constants, 0.0)]  # fmt: skip
        assert kept == counts


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: tf.reshape(X, [5, 5]), ValueError, "24 values, but the requested shape has 25"),
        (lambda: tf.transpose(X, [0, 1]), ValueError, r"transpose: .*3 axes.*perm=\(0, 1\)"),
        (lambda: tf.expand_dims(X, 5), ValueError, "expand_dims: axis=5.*rank 4"),
        (
            lambda: tf.squeeze(X, 1),
            ValueError,
            r"squeeze dim\[1\], expected a dimension of 1, got 3",
        ),
        (lambda: tf.broadcast_to(X, [2, 2]), ValueError, r"Incompatible shapes: \[2, 3, 4\] vs"),
        (lambda: tf.concat([X, X[0]], 0), ValueError, "Ranks of all input tensors should match"),
        (
            lambda: tf.concat([X, X[..., :2]], 0),
            ValueError,
            "Dimension 2 in both shapes must be equal",
        ),
        (lambda: tf.concat([], 0), ValueError, "concat.*at least one"),
        (lambda: tf.concat([tf.constant([1]), tf.ones([1])], 0), TypeError, "different dtypes"),
        (lambda: tf.stack([X, X[0]]), ValueError, "Shapes of all inputs must match"),
        (lambda: tf.unstack(X, num=2, axis=1), ValueError, "axis 1 must equal num=2"),
        (lambda: tf.split(X, 5, axis=2), ValueError, "should evenly divide the split dimension"),
        (lambda: tf.split(X, [1, 1], axis=2), ValueError, r"got \[1, 1\] for axis 2 of size 4"),
        (lambda: tf.tile(X, [2]), ValueError, "tile.*3 axes"),
        (lambda: tf.repeat(X, [1, 2], axis=1), ValueError, "2 entries, axis 1 has size 3"),
        (lambda: tf.pad(X, [[1, 1]]), ValueError, "pad: `paddings`.*3 axes"),
        (lambda: tf.pad([1], [[1, 1]], "WRAP"), ValueError, "'REFLECT'.*'WRAP'"),
        (lambda: tf.pad([1], [[1, 0]], "REFLECT"), ValueError, "at most 0 elements.*size 1"),
        (lambda: tf.pad([1, 2], [[0, 3]], "SYMMETRIC"), ValueError, "at most 2 elements.*size 2"),
        (lambda: tf.gather(X, [3], axis=1), IndexError, "`indices` must lie from 0 to 2, got 3"),
        (lambda: tf.gather(X, [-1]), IndexError, "must lie from 0 to 1, got -1"),
        (lambda: tf.gather(X, [1.0]), TypeError, "must be integers, got float32"),
        (lambda: tf.gather_nd(X, [[0, 3]]), IndexError, "index 3.*axis 1"),
        (lambda: tf.where(X, X, X), TypeError, "booleans, got float32"),
        (lambda: tf.where([True], 1.0), ValueError, "both x and y"),
        (lambda: tf.slice(X, [0, 0, 0], [3, 1, 1]), IndexError, "exceed the shape"),
        (lambda: tf.boolean_mask(X, [True]), ValueError, r"shape \(2,\), got bool of shape \(1,\)"),
        (lambda: tf.one_hot([1.0], 2), ValueError, "integers, got float32"),
        (lambda: tf.one_hot(tf.constant(np.ones(2)), 2), ValueError, "integers, got float64"),
        (lambda: tf.linspace(0.0, 1.0, 0), ValueError, "`num` must be above 0"),
        (lambda: tf.range(0, 1, 0), ValueError, "Requires delta != 0"),
        (lambda: tf.zeros([2.5]), ValueError, r"zeros: `shape` must be ints, .* got \[2.5\]"),
        (lambda: tf.reshape(X, tf.constant([24.0])), ValueError, "reshape: `shape` must be ints"),
        (lambda: tf.range(5, 3), ValueError, "start=5 with delta=1 never reaches limit=3"),
        (lambda: tf.range(3.0, 5.0, -1.0), ValueError, "never reaches limit=5.0"),
        (lambda: tf.constant([1, 2, 3])[:1.5], TypeError, "or None as bounds of a slice"),
        (lambda: tf.fill([2], [1.0]), ValueError, "0-d"),
        (lambda: tf.ensure_shape(X, [None, 4]), ValueError, r"\(None, 4\), got \(2, 3, 4\)"),
        (lambda: tf.sort(X, direction="UP"), ValueError, "'DESCENDING', got 'UP'"),
    ],
)
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_pad_of_nothing_is_another_tensor(mode):
    """A gradient with respect to the result is none with respect to the argument."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.pad(x, [[0, 0]], mode)
        tape.watch(y)
        z = y * 3.0
    assert tape.gradient(z, [x, y])[0] is None


def test_new_tensors_each_time():
    x = tf.constant([1.0])
    assert tf.identity(x) is not x
    assert tf.ensure_shape(x, [1]) is not x


def test_symbolic():
    x = tf.keras.KerasTensor((None, 3, 4))
    cases = {
        (None, 4, 3): tf.transpose(x, [0, 2, 1]),
        (None, 1, 3, 4): tf.expand_dims(x, 1),
        (None, 6, 4): tf.concat([x, x], 1),
        (None, 3, 4, 2): tf.stack([x, x], -1),
        (None, 3): tf.reduce_sum(x, axis=-1),
        (None, 3, 8): tf.pad(x, [[0, 0], [0, 0], [2, 2]]),
        (None, 2, 4): tf.gather(x, [0, 2], axis=1),
    }
    for shape, found in cases.items():
        assert found.shape == shape
    assert [y.shape for y in tf.split(x, 2, axis=2)] == [(None, 3, 2)] * 2
    assert (tf.shape(x).shape, tf.shape(x).dtype) == ((3,), "int32")
    with pytest.raises(TypeError, match="no values"):
        int(tf.shape(x)[0])


def batched_take(x, indices, axis, batch):
    """`tf.gather` by NumPy, one batch entry after the other."""
    found = [np.take(x[i], indices[i], axis - batch) for i in np.ndindex(x.shape[:batch])]
    return np.reshape(found, (*x.shape[:batch], *np.shape(found[0])))


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_gather_of_all_axes_and_batch_dims(rank):
    random = np.random.default_rng(rank)
    x = random.normal(size=(2, 3, 2, 3)[:rank])
    for inner in ((), (2,), (3, 2)):
        for batch in range(rank):
            indices = random.integers(0, 2, (*x.shape[:batch], *inner))
            for axis in range(batch, rank):
                expected = batched_take(x, indices, axis, batch)
                for a, b in ((axis, batch), (axis - rank, batch), (axis, batch - indices.ndim)):
                    if b or not batch:  # a batch_dims of all axes of `indices` cannot be negative
                        np.testing.assert_array_equal(
                            tf.gather(x, indices, axis=a, batch_dims=b), expected
                        )
                if axis == batch:
                    np.testing.assert_array_equal(tf.gather(x, indices, batch_dims=batch), expected)


@pytest.mark.parametrize(("axis", "batch_dims", "text"), [
    (0, 1, "less than or equal to axis"), (-3, 2, "less than or equal to axis"),
    (2, 3, "expected batch_dims from -2 to 2"), (2, -3, "expected batch_dims from -2 to 2"),
])  # fmt: skip
def test_gather_refuses_batch_dims(axis, batch_dims, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.gather(np.zeros((2, 2, 2)), np.zeros((2, 2), int), axis=axis, batch_dims=batch_dims)


def test_gather_of_all_batch_axes_has_gradients():
    x = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(x, [2, 0], axis=1, batch_dims=1) ** 2)
    np.testing.assert_array_equal(tape.gradient(y, x), [[0, 0, 6], [8, 0, 0]])


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_repeat_takes_a_tensor_without_axes_as_a_vector(axis):
    assert tf.repeat(3.0, 2, axis=axis).numpy().tolist() == [3.0, 3.0]
    with pytest.raises(ValueError, match="axis=1 is out of range"):
        tf.repeat(3.0, 2, axis=1)
