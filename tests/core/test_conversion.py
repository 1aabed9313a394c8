"""What users pass instead of a tensor: lists that hold tensors, and values that have no meaning."""

import numpy as np
import pytest

import framework as tf
from framework import keras

# ---- lists that hold tensors are put together by ops ---------------------------------------------

LISTS = {  # what a and b go into, and its gradients at a = 2, b = 3
    "reduce_sum": (lambda a, b: tf.reduce_sum([a, b, 1.0]), 1, 1),
    "reduce_mean": (lambda a, b: tf.reduce_mean([a * a, b]), 2, 0.5),
    "stack": (lambda a, b: tf.stack([[a, -b], [b, a]]) * [[1.0, 2.0], [3.0, 4.0]], 5, 1),
    "concat": (lambda a, b: tf.concat([[a], [a * b]], 0), 4, 2),
    "reshape": (lambda a, b: tf.reshape([a, a * b], [2, 1]), 4, 2),
    "operator": (lambda a, b: tf.constant([1.0, 2.0]) * [a, b], 1, 2),
    "reflected": (lambda a, b: (a, b) - tf.constant([1.0, 2.0]), 1, 1),
    "variable": (lambda a, b: tf.Variable([1.0, 2.0]) * [a, b], 1, 2),
    "without another tensor": (lambda a, b: tf.add([a, b], 1.0), 1, 1),
    "two lists": (lambda a, b: tf.multiply([a, 1.0], [b, b]), 3, 3),
    "beside an array": (lambda a, b: tf.multiply(np.ones(2), [a, b]), 1, 1),
    "matmul": (lambda a, b: tf.matmul([[a, 1.0]], [[a], [b]]), 4, 1),
    "square": (lambda a, b: tf.square([a, b]), 4, 6),
    "where": (lambda a, b: tf.where([True, False], [a, a], [1.0, b]), 1, 1),
    "cast": (lambda a, b: tf.cast([a, b], tf.float64), 1, 1),
    "deep": (lambda a, b: tf.reduce_sum([[[a], [2.0]], [[3.0], [b]]]), 1, 1),
    "numbers first": (lambda a, b: tf.reduce_sum([[1.0, 2], [a, np.float64(2)]]) + b, 1, 1),
    "keras.ops": (lambda a, b: keras.ops.mean([a, a * b]), 2, 1),
    "keras.ops, beside a number": (lambda a, b: keras.ops.add([a, b], 1), 1, 1),
    "a loss": (lambda a, b: keras.losses.mean_squared_error([0.0, 0.0], [a, b]), 2, 3),
}


@pytest.mark.parametrize("kind", [tf.constant, tf.Variable, keras.Variable])
@pytest.mark.parametrize("name", LISTS)
def test_gradients_reach_what_a_list_holds(name, kind):
    function, *expected = LISTS[name]
    a, b = kind(2.0), kind(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = function(a, b)
    assert [float(g) for g in tape.gradient(y, [a, b], unconnected_gradients="zero")] == expected


def test_a_plan_computes_lists_anew():
    v, w = tf.Variable(1.0), tf.Variable([2.0, 3.0])
    f = tf.function(lambda x: tf.reduce_sum([v, 2.0]) + x * [w[0], v] + tf.reduce_sum([w, x]))
    for n in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        v.assign(n)
        x = tf.constant([n, 1.0])
        np.testing.assert_array_equal(f(x).numpy(), f.python_function(x).numpy())
    assert "1 plan." in f.explain()


def test_what_is_copied_in_a_list_is_read():
    """tf.constant copies values, variables' too: no plan may keep them."""
    v = tf.Variable(1.0)
    f = tf.function(lambda x: x + tf.constant([v, v]))
    for n in (1.0, 1.0, 1.0, 5.0):
        v.assign(n)
        assert f(tf.zeros([2])).numpy().tolist() == [n, n]
    assert tf.constant([tf.constant(1.0), 2.0]).dtype == "float32"
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.constant([x, x]))
    assert "tf.constant" in tape.explain(y, x)
    assert "tf.stack" in tape.explain(y, x)


@pytest.mark.parametrize(
    ("nest", "error", "said"),
    [
        ([tf.constant([1.0, 2.0]), 1.0], ValueError, r"shapes, got \(2,\), \(\)"),
        ([[tf.constant(1.0)], [1.0, 2.0]], ValueError, r"shapes, got \(1,\), \(2,\)"),
        ([tf.constant(1.0), tf.constant(1)], TypeError, "float32 for a tensor of dtype int32"),
        ([tf.constant(1), 0.5], TypeError, "0.5.*int32"),
    ],
)
def test_lists_that_are_no_tensor(nest, error, said):
    with pytest.raises(error, match=said):
        tf.reduce_sum(nest)


# ---- numbers and arrays --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2**31 - 1, "int32"), (2**40, "int64"), ([2, -(2**48)], "int64"), (1.0, "float32"),
     ([], "float32"), ([1, 2.5], "float32"), (True, "bool"), (1j, "complex128")],
)  # fmt: skip
def test_dtypes_of_python_numbers(value, dtype):
    for floatx in ("float32", "float64"):  # which is Keras's alone
        keras.config.set_floatx(floatx)
        try:
            assert tf.constant(value).dtype == tf.Variable(value).dtype == dtype
        finally:
            keras.config.set_floatx("float32")


def test_an_int_that_no_integer_holds():
    with pytest.raises(ValueError, match="does not fit int64"):
        tf.constant(2**63)
    assert tf.constant(2**63, tf.uint64).dtype == "uint64"


LOSSES = [(1.5, tf.int32), ([1.5], tf.uint8), (1j, tf.float32), (1, tf.bool), ("a", tf.float32)]


@pytest.mark.parametrize(("value", "dtype"), LOSSES, ids=str)
def test_nothing_loses_its_meaning_silently(value, dtype):
    for make in (tf.constant, tf.convert_to_tensor):
        with pytest.raises(TypeError, match=str(dtype.name)):
            make(value, dtype)
    with pytest.raises(TypeError, match=str(dtype.name)):
        tf.Variable(value, dtype=dtype)


def test_arrays_are_cast_and_nothing_else():
    for make in (tf.constant, tf.convert_to_tensor, lambda v, dtype: tf.Variable(v, dtype=dtype)):
        assert make(np.float64([1.5]), tf.int32).numpy().tolist() == [1]
        assert make(np.array([1j + 2]), tf.float32).numpy().tolist() == [2]
        assert make([], tf.int32).dtype == make(tf.zeros([]).shape, tf.int32).dtype == "int32"
        with pytest.raises(TypeError, match=r"requested dtype float64.*float32"):
            make(tf.constant(1.0), tf.float64)
    assert tf.constant(tf.zeros([]).shape).dtype == "int32"


def test_keras_casts():
    assert keras.Variable([1.5, 2.0], dtype="int32").numpy().tolist() == [1, 2]
    assert keras.ops.convert_to_tensor([1.5], dtype="int32").numpy().tolist() == [1]
    assert float(keras.ops.convert_to_tensor(0.1, dtype="float64")) == 0.1
    v = keras.Variable([1, 2], dtype="int32")
    assert v.assign([2.7, tf.constant(3.5)]).numpy().tolist() == [2, 3]


# ---- texts ---------------------------------------------------------------------------------------


class Column:
    """What converts to an array of objects, as a column of a table does."""

    def __init__(self, values):
        self._values = np.array(values, object)

    def __array__(self, dtype=None, copy=None):
        return self._values


@pytest.mark.parametrize(
    "given",
    [["é", "b"], np.array(["é", "b"]), np.array(["é", "b"], object), Column(["é", "b"]),
     np.array(["é".encode(), b"b"], object), np.array(["é", b"b"], object)],
)  # fmt: skip
def test_texts_are_bytes_however_they_come(given):
    for made in (tf.constant(given), tf.convert_to_tensor(given), tf.Variable(given)):
        assert made.dtype == "string"
        assert made.numpy().tolist() == ["é".encode(), b"b"]


@pytest.mark.parametrize("other", [1.0, None, float("nan"), [1]])
def test_an_array_of_other_objects_is_no_tensor(other):
    given = np.empty(2, object)
    given[:] = ["a", other]
    with pytest.raises(ValueError, match="expected only str or bytes"):
        tf.constant(given)


def test_one_string_of_many_remains_bytes_of_any_length():
    texts = tf.constant(["a", "long"])

    def taken(texts):
        return texts[0], texts[-1], tf.gather(texts, 1), tf.gather(texts, 1, axis=-1)

    plan = tf.function(taken)
    for _ in range(4):
        for found in (taken(texts), plan(texts)):
            assert [type(text.numpy()) for text in found] == [bytes] * 4
            assert tf.stack(found).numpy().tolist() == [b"a", b"long", b"long", b"long"]
    assert [type(text.numpy()) for text in texts] == [bytes, bytes]


def test_strings_keep_zeros_at_their_end():
    assert tf.constant(b"a\0\0").numpy() == b"a\0\0"
    assert tf.constant([["a\0", "b"], ["", "\0"]]).numpy().tolist() == [
        [b"a\0", b"b"],
        [b"", b"\0"],
    ]
