"""Tensors: indexing as NumPy's, reading values, immutability, copies, identity."""

import copy
import pickle

import numpy as np
import pytest

import framework as tf

ARRAY = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)

INDICES = [
    0, -1, slice(None), slice(1, None), slice(None, None, -1), slice(0, 2, 2), ..., None,
    (0, 1), (0, 1, 2), (-1, -1, -1), (slice(None), 1), (slice(0, 1), slice(1, 3), slice(2, 4)),
    (..., 0), (0, ..., 1), (..., None), (None, 0), (0, None, 1), (slice(None), None, 2),
    (slice(2, 0, -1),), (slice(0, 0),), [0, 1, 1], np.array([1, 0]), np.array([[0, 1], [1, 1]]),
    (0, [2, 0]), ([0, 1], [2, 0]), (slice(None), [0, 2], slice(1, 3)), (..., [0, 3]),
    ARRAY > 5, (0, ARRAY[0] > 5), np.array([True, False]), (np.int64(1), np.int32(0)),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=[str(i).replace("\n", "") for i in INDICES])
def test_indexing_is_numpys(index):
    for holder in (tf.constant(ARRAY), tf.Variable(ARRAY), tf.keras.Variable(ARRAY)):
        found = holder[index]
        assert type(found) is tf.Tensor
        np.testing.assert_array_equal(found.numpy(), ARRAY[index])


@pytest.mark.parametrize("index", INDICES, ids=[str(i).replace("\n", "") for i in INDICES])
def test_the_gradient_of_indexing_counts_uses(index):
    x = tf.constant(ARRAY)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index] * 1.0
    expected = np.zeros_like(ARRAY)
    np.add.at(expected, index, 1.0)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), expected)


def test_tensors_are_indices():
    x = tf.constant(ARRAY)
    np.testing.assert_array_equal(x[tf.constant(1)].numpy(), ARRAY[1])
    np.testing.assert_array_equal(x[:, tf.constant(1) :].numpy(), ARRAY[:, 1:])
    np.testing.assert_array_equal(x[tf.constant([1, 0])].numpy(), ARRAY[[1, 0]])
    np.testing.assert_array_equal(x[x > 3.0].numpy(), ARRAY[ARRAY > 3])
    np.testing.assert_array_equal(x[:, tf.Variable(2)].numpy(), ARRAY[:, 2])
    assert ARRAY[tf.constant(1)].shape == (3, 4)


@pytest.mark.parametrize(("index", "said"), [(2, "out of bounds"), ((0, 0, 0, 0), "too many")])
def test_an_index_that_is_not_there(index, said):
    with pytest.raises(IndexError, match=said):
        tf.constant(ARRAY)[index]


def test_what_is_no_index():
    with pytest.raises(TypeError, match=r"Index 'a' into a tensor.*Only integers"):
        tf.constant(ARRAY)["a"]


def test_tensors_do_not_change():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match=r"immutable.*tf\.tensor_scatter_nd_update"):
        x[0] = 3.0
    source = np.zeros(2, np.float32)
    made, converted = tf.constant(source), tf.convert_to_tensor(source)
    source[:] = 9
    assert made.numpy().tolist() == converted.numpy().tolist() == [0, 0]
    taken = made.numpy()
    taken[:] = 5
    assert made.numpy().tolist() == [0, 0]


def test_python_reads_values():
    assert (int(tf.constant(3)), float(tf.constant(1.5)), complex(tf.constant(2.0))) == (3, 1.5, 2)
    assert bool(tf.constant([[True]])) is True
    assert bool(tf.constant(0.0)) is False
    assert [int(x) for x in tf.range(3)] == [0, 1, 2]
    assert list(range(tf.constant(2))) == [0, 1]
    assert tf.constant(2.5).item() == 2.5
    assert tf.constant([1, 2]).tolist() == [1, 2]
    assert len(tf.zeros([3, 2])) == 3
    first, second = tf.constant([1.0, 2.0])
    assert (float(first), float(second)) == (1.0, 2.0)
    scalar = tf.constant(1.0).numpy()
    assert type(scalar) is np.float32


@pytest.mark.parametrize(
    ("read", "error", "said"),
    [
        (lambda: bool(tf.constant([1, 2])), ValueError, r"2 elements is ambiguous.*reduce_any"),
        (lambda: bool(tf.constant([])), ValueError, "0 elements"),
        (lambda: float(tf.constant([1.0, 2.0])), TypeError, "0-dimensional"),
        (lambda: range(tf.constant(1.0)), TypeError, "float32 cannot be used as an index"),
        (lambda: len(tf.constant(1.0)), TypeError, "Scalar tensor"),
        (lambda: iter(tf.constant(1.0)), TypeError, "scalar tensor"),
        (lambda: 1.0 in tf.constant([1.0]), TypeError, "reduce_any"),
        (lambda: {tf.constant(1.0)}, TypeError, "unhashable"),
    ],
)
def test_what_python_cannot_read(read, error, said):
    with pytest.raises(error, match=said):
        read()


def test_equality_is_elementwise_and_identity_by_ref():
    x, y = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
    assert (x == y).numpy().tolist() == [True, False]
    assert (x != y).numpy().tolist() == [False, True]
    assert (x == 1.0).numpy().tolist() == [True, False]
    assert (x == None) is False  # noqa: E711 (what is tested)
    assert (x != None) is True  # noqa: E711
    assert x.ref() == x.ref() != y.ref()
    assert {x.ref(): "x", y.ref(): "y"}[x.ref()] == "x"
    assert x.ref().deref() is x


def test_attributes():
    x = tf.zeros([2, 3], tf.float64)
    assert (x.shape, x.ndim, x.size, x.nbytes, x.dtype) == ((2, 3), 2, 6, 48, "float64")
    assert x.get_shape().as_list() == [2, 3]
    assert "CPU:0" in x.device
    x._keras_mask = tf.constant(True)


def test_copies_and_pickles():
    x = tf.constant([1.0, 2.0])
    assert copy.copy(x) is x
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other is not x
        assert other.numpy().tolist() == [1, 2]
        assert other.dtype == "float32"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"), (1.0, "float32"), (True, "bool"), (1j, "complex128"), ([1, 2.5], "float32"),
        ([], "float32"), (np.float64(1), "float64"), (np.arange(2), "int64"), ("a", "string"),
        ([[1, 2], [3, 4]], "int32"), (np.float32([1]), "float32"), ([np.float64(1)], "float64"),
        (range(3), "int32"), ((1.0, 2.0), "float32"),
    ],
)  # fmt: skip
def test_the_dtypes_that_values_bring(value, dtype):
    assert tf.constant(value).dtype == tf.convert_to_tensor(value).dtype == dtype


def test_constant_shapes_and_dtypes():
    assert tf.constant(7, shape=[2, 2]).numpy().tolist() == [[7, 7], [7, 7]]
    assert tf.constant([1, 2, 3, 4], shape=(2, 2)).shape == (2, 2)
    assert tf.constant(1, tf.float64).dtype == tf.float64
    assert tf.constant([1.0], "float16").dtype == "float16"
    x = tf.constant(1.0)
    assert tf.convert_to_tensor(x) is x
    nested = tf.convert_to_tensor([x, 2.0, tf.Variable(3.0)])
    assert nested.numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: tf.constant([[1], [1, 2]]), ValueError, "ragged"),
        (lambda: tf.constant(object()), TypeError, "object"),
        (lambda: tf.constant(1.5, tf.int32), TypeError, "1.5.*int32"),
        (lambda: tf.constant(2**63), ValueError, "does not fit int64.*dtype=tf.uint64"),
        (lambda: tf.constant([1, 2], shape=(3,)), ValueError, "2 elements.*3"),
        (lambda: tf.convert_to_tensor(tf.constant(1.0), tf.int32), TypeError, "int32.*float32"),
        (lambda: tf.zeros([None]), ValueError, "without None"),
        (lambda: tf.constant(1, "float31"), TypeError, "float31.*did you mean 'float32'"),
        (lambda: tf.constant("a", tf.float32), TypeError, "'a'.*float32"),
    ],
)
def test_what_is_no_tensor(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_gradients_reach_tensors_inside_a_list():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.convert_to_tensor([[x, 1.0], [x * x, 2.0]]))
    assert float(tape.gradient(y, x)) == 7.0
