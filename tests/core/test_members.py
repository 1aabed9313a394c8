"""What tensors, variables, dtypes, shapes and errors have beside their operators."""

import copy
import inspect
import operator
import pickle

import numpy as np
import pytest

import framework as tf


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


SCATTERED = {  # as TensorFlow 2.21 gives them: repeated rows one after another
    "scatter_add": [5.0, 12.0], "scatter_sub": [-3.0, 12.0], "scatter_mul": [3.0, 12.0],
    "scatter_div": [1 / 3, 12.0], "scatter_max": [3.0, 12.0], "scatter_min": [1.0, 12.0],
    "scatter_update": [3.0, 12.0],
}  # fmt: skip


@pytest.mark.parametrize("name", SCATTERED)
def test_scatter_rows(name):
    v = tf.Variable([1.0, 12.0])
    assert getattr(v, name)(slices([1.0, 3.0], [0, 0])) is v
    np.testing.assert_allclose(v.numpy(), SCATTERED[name], rtol=1e-6)


def test_scatter_divides_integers():
    assert tf.Variable([7, 2]).scatter_div(slices([2], [0])).numpy().tolist() == [3, 2]


NESTED = {
    "scatter_nd_add": [[1, 32], [9, 4]], "scatter_nd_sub": [[1, -28], [-3, 4]],
    "scatter_nd_update": [[1, 20], [6, 4]], "scatter_nd_max": [[1, 20], [6, 4]],
    "scatter_nd_min": [[1, 2], [3, 4]],
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_scatter_elements(name):
    v = tf.Variable([[1, 2], [3, 4]])
    assert getattr(v, name)([[0, 1], [1, 0], [0, 1]], [10, 6, 20]) is v
    assert v.numpy().tolist() == NESTED[name]


def test_scatter_whole_rows_and_gather_them():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.scatter_nd_update([[1]], [[7.0, 8.0]])
    with tf.GradientTape() as tape:
        y = v.gather_nd([[1, 0], [1, 0], [0, 1]])
    assert y.numpy().tolist() == [7, 7, 2]
    assert tape.gradient(y, v).numpy().tolist() == [[0, 1], [2, 0]]


def test_what_others_hold_is_not_changed():
    v = tf.Variable([1.0, 2.0])
    before, dense = v.read_value(), v.numpy()
    v.scatter_add(slices([5.0], [1]))
    assert before.numpy().tolist() == dense.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda v: v.scatter_add(3.0), TypeError, "scatter_add expected a tf.IndexedSlices"),
        (lambda v: v.scatter_add(slices([1.0], [5])), tf.errors.InvalidArgumentError,
         "expected indices from 0 to 1 along axis 0: indices\\[0\\] = 5"),
        (lambda v: v.scatter_nd_add([[-1]], [1.0]), IndexError, r"indices\[0\] = -1 is not"),
        (lambda v: v.gather_nd([[2]]), IndexError, r"indices\[0\] = 2 is not"),
        (lambda v: v.scatter_add(slices([1], [0])), TypeError, "float32"),
        (lambda v: v.set_shape([3]), ValueError, "incompatible"),
        (lambda v: v.read_value().set_shape([2, 1]), ValueError, "incompatible"),
    ],
)  # fmt: skip
def test_errors_of_members(call, error, said):
    with pytest.raises(error, match=said):
        call(tf.Variable([1.0, 2.0]))


def test_small_members():
    v = tf.Variable([1.0, 2.0], constraint=abs, name="v")
    assert v.constraint is abs
    assert tf.Variable(1.0).constraint is None
    assert copy.deepcopy(v).constraint is abs
    assert v.device == tf.ones(2).device == "/device:CPU:0"
    assert v.set_shape([None]) is None
    assert tf.ones([2, 3]).set_shape([None, 3]) is None
    with tf.name_scope("outer") as path:
        assert path == "outer/"
        assert tf.Variable(1.0, name="w").name == "outer/w:0"
        with tf.name_scope("inner") as inner:
            assert inner == "outer/inner/"
    with tf.keras.name_scope("outer") as scope:  # Keras's gives itself
        assert scope.name == "outer"


def test_tensors_have_neither_name_nor_hash():
    t, v = tf.ones(2), tf.Variable(1.0)
    assert getattr(t, "name", None) is None
    with pytest.raises(AttributeError, match=r"Tensor\.name is undefined"):
        t.name  # noqa: B018
    with pytest.raises(TypeError, match=r"Tensor is unhashable.*tensor\.ref\(\)"):
        hash(t)
    with pytest.raises(TypeError, match=r"Variable is unhashable.*variable\.ref\(\)"):
        {v: 1}  # noqa: B018


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
def test_operators_are_functions_with_names(make):
    a, b = make([5, 7]), make([2, 3])
    kind = type(a)
    assert kind.__add__(x=a, y=b).numpy().tolist() == [7, 10]
    assert kind.__rsub__(y=a, x=b).numpy().tolist() == [-3, -4]
    assert kind.__lt__(x=a, y=b, name="less").numpy().tolist() == [False, False]
    assert kind.__neg__(a, name="minus").numpy().tolist() == [-5, -7]
    assert kind.__invert__(a, name="not").numpy().tolist() == [-6, -8]
    assert kind.__abs__(make([-1]), name="abs").numpy().tolist() == [1]
    assert a.__eq__(other=b).numpy().tolist() == [False, False]
    assert a.__ne__(other=None) is True
    assert int(kind.__getitem__(a, slice_spec=1)) == 7


def test_dtypes_by_number():
    assert tf.DType(1) is tf.float32
    assert tf.DType(type_enum=3) is tf.dtypes.DType("int32") is tf.int32
    assert [tf.DType(d.as_datatype_enum) is d for d in (tf.bool, tf.complex64, tf.half)] == [
        True
    ] * 3
    assert pickle.loads(pickle.dumps(tf.uint8)) is tf.uint8
    with pytest.raises(TypeError, match="is not a dtype"):
        tf.DType(999)


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    assert tf.bfloat16 is tf.dtypes.bfloat16 is tf.as_dtype("bfloat16")
    assert tf.cast([1.5], tf.bfloat16).numpy().tolist() == [1.5]
    assert (tf.bfloat16.size, tf.bfloat16.is_floating) == (2, True)
    with pytest.raises(AttributeError, match="no attribute 'bfloat17'"):
        tf.dtypes.bfloat17  # noqa: B018


def test_shapes_are_made():
    assert tf.TensorShape(dims=[2, None]) == (2, None)
    assert tf.TensorShape(3) == (3,)
    assert pickle.loads(pickle.dumps(tf.TensorShape([2, 3]))).rank == 2
    with pytest.raises(ValueError, match="unknown rank"):
        tf.TensorShape(None)


ERRORS = {
    tf.errors.InvalidArgumentError: (ValueError, 3),
    tf.errors.NotFoundError: (KeyError, 5),
    tf.errors.OutOfRangeError: (IndexError, 11),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_are_made_as_tensorflows(kind):
    builtin, code = ERRORS[kind]
    error = kind("node", "op", "what went wrong")
    assert isinstance(error, builtin)
    assert isinstance(error, tf.errors.OpError)
    assert str(error) == error.message == "what went wrong"
    assert (error.node_def, error.op, error.error_code) == ("node", "op", code)
    short = kind("what went wrong")
    assert short.message == "what went wrong"
    assert (short.node_def, short.op) == (None, None)
    assert pickle.loads(pickle.dumps(short)).message == "what went wrong"
    assert kind().message == ""


def test_ours_are_tensorflows():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.reshape([1, 2], [3])
    assert caught.value.error_code == tf.errors.INVALID_ARGUMENT
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        bool(tf.keras.Input((2,)))


def test_constant_initializer():
    found = tf.constant_initializer(3)([2], dtype=tf.float64)
    assert (found.dtype, found.numpy().tolist()) == (tf.float64, [3, 3])
    assert tf.constant_initializer([1.0, 2.0])([2]).numpy().tolist() == [1, 2]
    assert tf.constant_initializer()([1]).dtype == tf.int32
    assert tf.constant_initializer(3).get_config() == {"value": 3}
    made = tf.keras.layers.Dense(2, kernel_initializer=tf.constant_initializer(0.5))
    assert made(tf.ones([1, 4])).numpy().tolist() == [[2, 2]]


def test_signatures_of_modules():
    class Line(tf.Module):
        def __init__(self, slope, name=None):
            super().__init__(name)

        def __call__(self, x):
            return x

    assert list(inspect.signature(tf.Module).parameters) == ["name"]
    assert list(inspect.signature(Line).parameters) == ["slope", "name"]
    assert list(inspect.signature(Line(1.0)).parameters) == ["x"]


A, B = np.float32([[3, -2], [5, 4]]), np.float32([[2, 3], [-1, 2]])
WHOLE = np.int32([[3, 2], [5, 4]]), np.int32([[2, 3], [1, 2]])
OPERATORS = {
    name: getattr(operator, name)
    for name in ("__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__",
                 "__matmul__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
}  # fmt: skip
REFLECTED = ("__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rmatmul__")


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
def test_every_operator(make):
    a, b = make(A), make(B)
    for name, function in OPERATORS.items():
        np.testing.assert_allclose(getattr(a, name)(b).numpy(), function(A, B), rtol=1e-6)
    for name in REFLECTED:
        np.testing.assert_allclose(getattr(a, name)(b).numpy(), getattr(B, name[:2] + name[3:])(A))
    np.testing.assert_allclose(a.__rpow__(2.0).numpy(), 2**A)
    np.testing.assert_allclose(a.__pow__(2.0).numpy(), A**2)
    m, n = map(make, WHOLE)
    for name in ("__and__", "__or__", "__xor__"):
        found = getattr(m, name)(n).numpy()
        np.testing.assert_array_equal(found, getattr(operator, name)(*WHOLE))
    one = make(3)
    assert (one.__index__(), one.__int__(), one.__bool__(), one.__float__()) == (3, 3, True, 3.0)
    np.testing.assert_array_equal(a.__array__(), A)
    assert (len(a), [row.numpy().tolist() for row in a]) == (2, A.tolist())


def test_initializers_and_small_functions():
    assert tf.ones_initializer()([2]).numpy().tolist() == [1, 1]
    assert tf.zeros_initializer()([2], tf.int32).numpy().tolist() == [0, 0]
    x = tf.random_normal_initializer(1.0, 0.5, seed=1)([4000]).numpy()
    assert (x.mean(), x.std()) == (pytest.approx(1, abs=0.05), pytest.approx(0.5, abs=0.05))
    x = tf.random_uniform_initializer(2.0, 4.0, seed=1)([4000]).numpy()
    assert (x.min(), x.max()) == (pytest.approx(2, abs=0.01), pytest.approx(4, abs=0.01))
    assert tf.realdiv([6.0], [4.0]).numpy().tolist() == [1.5]
    assert [t.numpy().tolist() for t in tf.identity_n([tf.ones(1), tf.zeros(1)])] == [[1], [0]]
