"""tf.experimental.numpy beside NumPy itself: values, dtypes, derivatives, operators."""

import inspect

import numpy as np
import pytest

import framework as tf
import framework.experimental.numpy as tnp
from framework.experimental.numpy.declarations import DECLARED

X = np.array([[0.5, 0.25, -0.75], [0.1, 0.9, -0.3]])
Y = np.array([[0.3, 2.0, 1.5], [1.0, -0.5, 0.7]])
I = np.array([[3, 1, 2], [5, 4, 6]])  # noqa: E741 (as in NumPy's examples)
C = X + 1j * Y
CALLS = {
    "all": [(X > 0, 1)], "any": [(X > 0, 0)], "angle": [(C,), (C, True)], "append": [(I, Y)],
    "arccosh": [(Y**2 + 1,)], "argsort": [(X,), (X, 0)], "bitwise_and": [(I, I.T.reshape(2, 3))],
    "bitwise_or": [(I, 6)], "bitwise_xor": [(I, 6)], "bitwise_not": [(I,)], "gcd": [(I, 4)],
    "lcm": [(I, 4)], "broadcast_to": [(X[0], (2, 3))], "concatenate": [([X, I],), ([X, I], 1)],
    "cross": [(X, Y)], "diag": [(X,), (X[0], 1)], "diagflat": [(X[0], -1)],
    "diagonal": [(X, 1)], "diff": [(I,), (X, 2), (X, 1, 0)], "divmod": [(I, 4), (X, 0.2)],
    "dot": [(X, Y.T)], "dsplit": [(np.stack([X, Y], 2), 2)], "dstack": [([X, Y],)],
    "expand_dims": [(X, 1)], "flatten": [], "flip": [(X, 0), (X,)], "hsplit": [(I, 3)],
    "vsplit": [(I, 2)], "split": [(I, 3, 1)], "hstack": [([X, I],)], "vstack": [([X, I],)],
    "stack": [([X, I], 1)], "imag": [(C,)], "real": [(C,)], "conj": [(C,)], "conjugate": [(C,)],
    "iscomplex": [(C,), (X,)], "isreal": [(C,)], "kron": [(X, Y)], "log": [(Y**2,), (I,)],
    "log10": [(Y**2,)], "log2": [(Y**2,)], "log1p": [(Y**2,)], "sqrt": [(Y**2,), (I,)],
    "logical_and": [(I > 2, X > 0)], "logical_or": [(I > 2, X > 0)],
    "logical_xor": [(I > 2, X > 0)], "logical_not": [(X > 0,)], "matmul": [(X, Y.T)],
    "moveaxis": [(X, 0, 1)], "nansum": [(np.where(X > 0, X, np.nan), 1)],
    "nanmean": [(np.where(X > 0, X, np.nan), 1)], "nanprod": [(np.where(X > 0, X, np.nan), 1)],
    "nonzero": [(X > 0,)], "pad": [(X, ((1, 0), (0, 2)), "constant")], "polyval": [(X[0], Y)],
    "power": [(Y**2, X), (I, 2)], "float_power": [(Y**2, X)], "mod": [(X, Y), (I, 4)],
    "floor_divide": [(X, Y), (I, 4)], "remainder": [(X, Y)], "repeat": [(X, 2), (X, 2, 1)],
    "reshape": [(X, (3, 2)), (X, -1)], "roll": [(X, 1), (X, 1, 1)], "rot90": [(X,)],
    "swapaxes": [(X, 0, 1)], "tensordot": [(X, Y.T, 1)], "tile": [(X, (2, 1))],
    "trace": [(I,), (X, 1)], "transpose": [(X,), (X, (1, 0))], "tril": [(X,), (X, 1)],
    "triu": [(X, -1)], "squeeze": [(X[None],), (X[None], 0)], "vander": [(I[0],), (X[0], 2)],
    "vdot": [(X[0], Y[0])], "inner": [(X, Y)], "outer": [(X, Y)], "var": [(X, 0), (I,)],
    "subtract": [(X, Y), (I, 0.5)], "around": [(X, 1)], "round": [(X, 1)], "signbit": [(X,)],
    "compress": [([True, False], X, 0), ([0, 1, 1], X)], "arctanh": [(X,)], "positive": [(X,)],
    "nextafter": [(X, Y)], "heaviside": [(X, Y)], "allclose": [(X, X + 1e-9)],
    "isclose": [(X, X + 1e-9)], "hypot": [(X, Y), (I, 2)], "copy": [(X,)],
}  # fmt: skip
SKIPPED = ("flatten",)  # a method in NumPy
DEFAULTS = {"same": [(X,), (I,)], "float": [(X,), (I / 10,)], "sum": [(X,), (I,), (I, 1)],
            "pair": [(X, Y), (I, 2), (I, 2.5)], "floats": [(X, Y), (I, 2)], "list": []}  # fmt: skip
CASES = [(n, i) for n, (rule, _) in DECLARED.items() if n not in SKIPPED
         for i in range(len(CALLS.get(n) or DEFAULTS[rule]))]  # fmt: skip
OTHER = {  # of the functions that are not declared
    "arange": [(3,), (3.0,), (1, 7, 2), (0, 1, 0.25)], "array": [([1, 2],), (1.5,)],
    "array_equal": [(X, X), (X, Y), (X, I[0])], "asarray": [([[1.0]],)],
    "atleast_1d": [(1,)], "atleast_2d": [([1, 2],)], "atleast_3d": [([1, 2],), (X,)],
    "average": [(X, 1), (X, 1, Y)], "broadcast_arrays": [(X, Y[0])],
    "clip": [(X, 0, 0.5), (I, None, 4), (I, 2, 4.5)], "diag_indices": [(3,)],
    "einsum": [("ij,kj->ik", X, Y)], "empty": [], "eye": [(2,), (2, 3, 1)],
    "full": [((2,), 1), ((2,), 1.5)], "full_like": [(I, 2)], "geomspace": [(1, 8, 4)],
    "identity": [(2,)], "ix_": [([0, 1], [2]), ([True, False], [1])], "linspace": [(0, 1, 5)],
    "logspace": [(0, 2, 3)], "meshgrid": [([1, 2], [3, 4, 5])], "ones": [((2, 3),)],
    "ones_like": [(I,)], "zeros": [(2,)], "zeros_like": [(X,)], "tri": [(3,), (2, 3, 1)],
    "select": [([X > 0, Y > 0], [X, Y], 7)], "take": [(X, [0, 2], 1), (I, [1, 0])],
    "take_along_axis": [(X, np.argsort(X, 1), 1)], "where": [(X > 0, I, 0.5), (X > 0,)],
    "compress": CALLS["compress"], "ndim": [(X,)], "size": [(X,), (X, 1)], "isscalar": [(1,)],
    "iscomplexobj": [(C,)], "isrealobj": [(C,)], "issubdtype": [(np.int32, np.integer)],
}  # fmt: skip
CASES += [(n, i) for n, calls in OTHER.items() for i in range(len(calls))]


@pytest.fixture(autouse=True)
def _tensorflows_rule():
    yield
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")


def same(found, expected):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected):
            same(f, e)
        return
    expected = np.asarray(expected)
    found = np.asarray(found)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype or expected.dtype.kind in "iu"
    assert found.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_the_value_is_numpys(name, number):
    calls = OTHER.get(name) or CALLS.get(name) or DEFAULTS[DECLARED[name][0]]
    args = calls[number]
    same(getattr(tnp, name)(*args), getattr(np, name)(*args))


@pytest.mark.parametrize("name", ["sum", "mean", "reshape", "arctan2", "concatenate"])
def test_the_signature_has_numpys_names(name):
    known = {"sum": "(a, axis=None, dtype=None, keepdims=None)",
             "mean": "(a, axis=None, dtype=None, out=None, keepdims=None)",
             "reshape": '(a, newshape, order=\'C\')', "arctan2": "(x1, x2)",
             "concatenate": "(arys, axis=0)"}  # fmt: skip
    assert str(inspect.signature(getattr(tnp, name))) == known[name]
    assert getattr(tnp, name) is getattr(tnp, name)


def test_dtypes_together():
    """The numbers of TensorFlow: NumPy's rule, with Python's numbers and lists as weak ones."""
    assert tnp.add(np.float32([1]), [1]).dtype == "float32"
    assert tnp.add(np.float32([1]), np.int32([1])).dtype == "float64"
    assert tnp.add(tf.constant([1], tf.uint8), np.int8([1])).dtype == "int16"
    assert tnp.add(True, [2]).dtype == "int64"
    assert tnp.add(np.float16([1]), 1j).dtype == "complex64"
    assert tnp.sum(tf.constant([1], tf.int32)).dtype == "int64"
    assert tnp.mean([1, 2]).dtype == "float64"
    assert tnp.result_type(np.int32, 1.5) == "float64"


def test_derivatives():
    def f(x, y):
        return tnp.sum(tnp.tanh(tnp.matmul(x, y.T if hasattr(y, "T") else tnp.transpose(y))) ** 2)

    tf.debugging.check_gradients(f, [X, Y])


def test_random_numbers():
    tnp.random.seed(3)
    first = tnp.random.randn(2, 3)
    tnp.random.seed(3)
    np.testing.assert_array_equal(first, tnp.random.standard_normal((2, 3)))
    assert first.dtype == "float64"
    drawn = np.asarray(tnp.random.randint(2, 5, size=[200]))
    assert set(drawn) == {2, 3, 4}
    uniform = np.asarray(tnp.random.uniform(2.0, 3.0, [500]))
    assert uniform.min() >= 2
    assert uniform.max() < 3
    assert tnp.random.rand(2, 2).shape == (2, 2)
    assert tnp.random.poisson(4.0, [5]).dtype == "int64"


def test_operators_promote_while_it_is_switched_on():
    a, b = tf.constant([1], tf.int32), tf.constant([1.5], tf.float32)
    with pytest.raises(TypeError):
        a + b
    tnp.experimental_enable_numpy_behavior()
    assert (a + b).dtype == "float64"
    assert (a + 1.5).dtype == (1.5 + a).dtype == "float64"
    assert (b + np.ones(1)).dtype == "float64"
    assert (a < b).numpy().tolist() == [True]
    assert b.T.shape == (1,)
    assert b.astype("int32").dtype == "int32"
    assert np.max(b) == 1.5
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    assert (a + b).dtype == tnp.asarray(1.0).dtype == "float32"
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
    assert (a + b).dtype == "float32"
    v = tf.Variable(10, dtype=tf.int32)
    assert v.assign_add(tf.constant(5, tf.int16)).numpy() == 15
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
    with pytest.raises(TypeError, match="cannot hold all values of"):
        a + b
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
    assert not hasattr(b, "astype")
    with pytest.raises(TypeError):
        a + b
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype_conversion_mode"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="some")
