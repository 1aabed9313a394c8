"""What programs rely on beside values: TensorFlow's words in errors, and Python's protocols."""

import copy
import sys
import weakref

import numpy as np
import pytest

import framework as tf

c, v = tf.constant, tf.Variable
Invalid = tf.errors.InvalidArgumentError

ERRORS = {  # call: (classes, a part of TensorFlow's message)
    "len": (lambda: len(c(1)), TypeError, "Scalar tensor has no `len()`"),
    "iteration": (lambda: list(c(1)), TypeError, "Cannot iterate over a scalar tensor"),
    "index": (lambda: [1, 2][c([1])], TypeError, "only integer scalar arrays can be converted"),
    "int": (lambda: int(c([1, 2])), TypeError, "only 0-dimensional arrays can be converted"),
    "hash": (lambda: hash(c(1)), TypeError, "Instead, use tensor.ref() as the key"),
    "hash v": (lambda: hash(v(1)), TypeError, "Instead, use variable.ref() as the key"),
    "name": (lambda: c(1).name, AttributeError, "undefined when eager execution is enabled"),
    "assign": (lambda: v([1.0]).assign([1.0, 2.0]), (ValueError, Invalid),
               "Cannot assign value to variable 'Variable:0': Shape mismatch"),
    "assign_add": (lambda: v([1.0, 2.0]).assign_add([[1.0, 2.0]]), Invalid,
                   "Cannot update variable with shape [2] using a Tensor with shape [1, 2]"),
    "initial value": (lambda: v(), ValueError, "`initial_value` arg to `tf.Variable` must be"),
    "constraint": (lambda: v(1.0, constraint=3), ValueError, "must be None or a callable"),
    "scatter_add": (lambda: v([1.0]).scatter_add(tf.IndexedSlices([1.0], [5])), Invalid,
                    "indices[0] = 5 is not in [0, 1)"),
    "count_up_to": (lambda: v(3).count_up_to(3), tf.errors.OutOfRangeError, "Reached limit of 3"),
    "gather": (lambda: tf.gather([1, 2], [[0, 5]]), Invalid, "indices[0,1] = 5 is not in [0, 2)"),
    "gather_nd": (lambda: tf.gather_nd([1.0], [[5]]), Invalid, "does not index into param shape"),
    "gather_nd depth": (lambda: tf.gather_nd([1.0], [[0, 0]]), Invalid, "saw: 2 vs. 1"),
    "pad rank": (lambda: tf.pad([1.0], [[1, 1]] * 2), Invalid,
                 "The first dimension of paddings must be the rank of inputs"),
    "pad sign": (lambda: tf.pad([1.0], [[-1, 1]]), Invalid, "Paddings must be non-negative"),
    "pad mirror": (lambda: tf.pad([1.0], [[1, 1]], "REFLECT"), Invalid,
                   "paddings must be less than the dimension size"),
    "stack": (lambda: tf.stack([c([1]), c([1, 2])]), Invalid,
              "Shapes of all inputs must match: values[0].shape = [1] != values[1].shape = [2]"),
    "concat": (lambda: tf.concat([tf.zeros([1, 2]), tf.zeros([1, 3])], 0), Invalid,
               "Dimension 1 in both shapes must be equal: shape[0] = [1, 2] vs. shape[1] = [1, 3]"),
    "concat rank": (lambda: tf.concat([tf.zeros([1, 2]), tf.zeros([1])], 0), Invalid,
                    "Ranks of all input tensors should match"),
    "unstack": (lambda: tf.unstack(c([1, 2]), 3), Invalid, "Input shape axis 0 must equal"),
    "split": (lambda: tf.split([1, 2, 3], 2), Invalid, "should evenly divide the split dimension"),
    "sort": (lambda: tf.sort([1.0], axis=3), Invalid, "axis=3 is out of range"),
    "reshape": (lambda: tf.reshape([1, 2, 3], [2, 2]), Invalid,
                "Input to reshape is a tensor with 3 values, but the requested shape has 4"),
    "reshape -1": (lambda: tf.reshape([1, 2, 3], [2, -1]), Invalid, "requires a multiple of 2"),
    "reshape two": (lambda: tf.reshape([1], [-1, -1]), Invalid, "Only one input size may be -1"),
    "shapes": (lambda: c([1, 2]) + c([1, 2, 3]), Invalid, "Incompatible shapes: [2] vs. [3]"),
    "matmul": (lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3])), Invalid,
               "Matrix size-incompatible: In[0]: [2, 3], In[1]: [2, 3]"),
    "squeeze": (lambda: tf.squeeze(tf.zeros([2]), 0), Invalid, "Can not squeeze dim[0]"),
    "broadcast_to": (lambda: tf.broadcast_to([1, 2], [3]), Invalid, "Incompatible shapes"),
    "slice": (lambda: c([1, 2])[5], Invalid, "slice index 5 of dimension 0 out of bounds"),
    "slice rank": (lambda: c([1, 2])[0, 0], Invalid, "Index out of range using input dim 1"),
    "slice float": (lambda: c([1, 2])[1.5], TypeError, "Only integers, slices (`:`), ellipsis"),
    "range": (lambda: tf.range(0, 5, 0), Invalid, "Requires delta != 0"),
    "fill": (lambda: tf.fill([-1], 1.0), Invalid, "Dimension -1 must be >= 0"),
    "zeros": (lambda: tf.zeros([2, -3]), Invalid, "Dimension -3 must be >= 0"),
    "one_hot": (lambda: tf.one_hot([1], -1), Invalid, "depth must be non-negative, got: -1"),
    "argmax": (lambda: tf.argmax(tf.zeros([0])), Invalid, "Reduction axis 0 is empty in shape [0]"),
    "top_k": (lambda: tf.math.top_k([1.0], 5), Invalid, "input must have at least k columns"),
    "segments": (lambda: tf.math.segment_sum([1.0, 2.0], [1, 0]), Invalid,
                 "segment ids are not increasing"),
    "power": (lambda: tf.pow([2], [-1]), Invalid, "Integers to negative integer powers"),
    "int8 products": (lambda: tf.matmul(c([[1]], tf.int8), c([[1]], tf.int8)), Invalid,
                      "output_type=tf.int32"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_tensorflows_words(name):
    call, classes, words = ERRORS[name]
    for kind in classes if isinstance(classes, tuple) else (classes,):
        with pytest.raises(kind) as caught:
            call()
        assert words in str(caught.value)


ARITHMETIC = {
    "+": lambda x: x + x, "-": lambda x: x - x, "*": lambda x: x * x, "/": lambda x: x / x,
    "//": lambda x: x // x, "%": lambda x: x % x, "**": lambda x: x**x, "abs": abs,
    "neg": lambda x: -x, "+ True": lambda x: x + True, "True *": lambda x: True * x,
    "@": lambda x: tf.matmul(x[None], x[:, None]), "add_n": lambda x: tf.add_n([x, x]),
    "segment_sum": lambda x: tf.math.segment_sum(x, [0, 0]), "square": tf.square, "sign": tf.sign,
    "maximum": lambda x: tf.maximum(x, x), "add": lambda x: tf.add(x, x), "abs f": tf.abs,
    "unsorted": lambda x: tf.math.unsorted_segment_sum(x, [0, 0], 1),
}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_refuses_booleans(name):
    with pytest.raises(Invalid, match="got bool"):
        ARITHMETIC[name](c([True, False]))
    compiled = tf.function(ARITHMETIC[name])
    for _ in range(3):
        with pytest.raises(Invalid):
            compiled(c([True, False]))


def test_logic_takes_booleans():
    x, y = c([True, False]), c([True, True])
    assert [(x & y).numpy().tolist(), (x | y).numpy().tolist(), (~x).numpy().tolist()] == [
        [True, False], [True, True], [False, True]
    ]  # fmt: skip
    assert (x ^ True).numpy().tolist() == [False, True]


# ---- protocols -----------------------------------------------------------------------------------


def test_weak_references_and_indices():
    x, y = c([1.0]), v(1)
    assert weakref.ref(x)() is x
    assert weakref.ref(y)() is y
    assert [10, 20, 30][c(1)] == 20
    assert list(range(c(3))) == [0, 1, 2]


def test_buffers():
    x = c([[1.0, 2.0]])
    assert bytes(x) == np.float32([1, 2]).tobytes()
    if sys.version_info >= (3, 12):
        view = memoryview(x)
        assert (view.readonly, view.format, view.shape) == (True, "f", (1, 2))
        assert np.frombuffer(x, np.float32).tolist() == [1, 2]
    with pytest.raises(TypeError, match="strings has no buffer"):
        bytes(c("a"))


def test_copies_of_variables():
    x = v([1.0], name="x", trainable=False, constraint=abs)
    made = copy.deepcopy(x)
    made.assign([2.0])
    assert (made.name, made.trainable, made.constraint) == ("x:0", False, abs)
    assert x.numpy().tolist() == [1.0]


def test_unknown_sizes_of_variables():
    x = v([[1.0, 2.0]], shape=[None, 2])
    x.assign([[1.0, 2.0], [3.0, 4.0]])
    assert x.shape.as_list() == [None, 2]
    assert tf.shape(x).numpy().tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"Shape mismatch. The variable shape \(None, 2\)"):
        x.assign([[1.0]])


@pytest.mark.parametrize("read", [
    lambda x: tf.gather_nd(x, [[1], [1]]), lambda x: x.gather_nd([[1], [1]]),
    lambda x: x.sparse_read([1, 1]),
])  # fmt: skip
def test_gradients_of_rows_are_indexed_slices(read):
    x = v([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = read(x)
    assert y.numpy().tolist() == [[3, 4], [3, 4]]
    found = tape.gradient(y, x)
    assert isinstance(found, tf.IndexedSlices)
    assert tf.convert_to_tensor(found).numpy().tolist() == [[0, 0], [2, 2]]


def test_gradients_of_elements_are_dense():
    x = v([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather_nd(x, [[0, 1]])
    assert tape.gradient(y, x).numpy().tolist() == [[0, 1], [0, 0]]


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
def test_products_of_8_bits_in_32(dtypes):
    a, b = c([[100, 100]], dtypes[0]), c([[2], [3]], dtypes[1])
    found = tf.matmul(a, b, output_type=tf.int32)
    assert (found.dtype, found.numpy().tolist()) == ("int32", [[500]])
    with pytest.raises(Invalid, match=r"must be tf\.int32 for operands of int8 or uint8"):
        tf.matmul(a, b, output_type=tf.int64)


@pytest.mark.parametrize(
    ("dtype", "large"), [("float16", 6e4), ("float32", 1e30), ("float64", 1e200)]
)
def test_the_slope_of_asinh_where_the_square_overflows(dtype, large):
    x = c([large, -large, np.inf, 0.0, 1.0], dtype)
    with tf.GradientTape() as outer, tf.GradientTape() as tape:
        tape.watch(x)
        outer.watch(x)
        y = tf.asinh(x)
        slope = tape.gradient(y, x)
    np.testing.assert_allclose(slope.numpy(), [1 / large, 1 / large, 0, 1, 0.5**0.5], rtol=2e-3)
    assert np.isfinite(outer.gradient(slope, x).numpy()).all()


def test_normalization_in_the_dtype_of_the_input():
    x = c([[1.0, 2.0]], tf.float16)
    y = tf.nn.batch_normalization(x, tf.ones([2]), tf.ones([2]) * 4, tf.ones([2]), None, 0.0)
    assert (y.dtype, y.numpy().tolist()) == ("float16", [[1.0, 1.5]])


def test_strings_are_padded_with_empty_ones():
    assert tf.pad(c(["a"]), [[1, 0]]).numpy().tolist() == [b"", b"a"]
