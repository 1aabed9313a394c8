"""Values and slopes where the mathematics leaves a choice, or a limit is infinite.

The numbers are TensorFlow's (2.21), but for the running product, which is exact here.
"""

import numpy as np
import pytest

import framework.ops.operators  # noqa: F401  hangs the operators on tensors
from framework import activations
from framework.autodiff.tape import GradientTape
from framework.core.tensor import Tensor
from framework.ops import elementwise as e
from framework.ops import losses, movement, rows, special
from framework.ops import reduction as r

INF, NAN = np.inf, np.nan


def over_all(op):
    return lambda x: op(x, axis=(0,), keepdims=False)


UNARY = {  # name: (function, argument, value, slope)
    "relu": (e.relu, [0, -1, 1], [0, 0, 1], [0, 0, 1]),
    "relu6": (activations.relu6, [0, 6, 3], [0, 6, 3], [0, 0, 1]),
    "leaky_relu": (activations.leaky_relu, [0, 1, -1], [0, 1, -0.2], [0.2, 1, 0.2]),
    "elu": (activations.elu, [0, 2], [0, 2], [1, 1]),
    "elu at -inf": (activations.elu, [-INF, 900], [-1, 900], [0, 1]),
    "hard_sigmoid": (activations.hard_sigmoid, [-4, 0, 4], [0, 0.5, 1], [0, 1 / 6, 0]),
    "silu": (activations.silu, [0, 900, -900], [0, 900, 0], [0.5, 1, 0]),
    "log_sigmoid": (activations.log_sigmoid, [0, 900, -900], [-np.log(2), 0, -900], [0.5, 0, 1]),
    "softsign": (activations.softsign, [0], [0], [1]),
    "abs": (e.absolute, [0, -2, 2], [0, 2, 2], [0, -1, 1]),
    "sign": (e.sign, [0, 2, -2], [0, 1, -1], [0, 0, 0]),
    "sqrt": (e.sqrt, [0, 4], [0, 2], [INF, 0.25]),
    "sqrt of a square": (lambda x: e.sqrt(e.square(x)), [2], [2], [1]),
    "sqrt not chosen": (
        lambda x: e.select(e.greater(x, 0), e.sqrt(x), 0.0), [-1, 0, 4], [0, 0, 2], [0, 0, 0.25],
    ),
    "square not chosen": (
        lambda x: e.select(e.less(x, 10), x, e.square(x)), [5, 50], [5, 2500], [1, 100],
    ),
    "rsqrt": (e.rsqrt, [0], [INF], [-INF]),
    "reciprocal": (e.reciprocal, [0], [INF], [-INF]),
    "log": (e.log, [0, -1], [-INF, NAN], [INF, -1]),
    "log1p": (e.log1p, [-1], [-INF], [INF]),
    "exp": (e.exp, [1000, -1000], [INF, 0], [INF, 0]),
    "asin": (e.asin, [1, -1], [np.pi / 2, -np.pi / 2], [INF, INF]),
    "acos": (e.acos, [1], [0], [-INF]),
    "acosh": (e.acosh, [1], [0], [INF]),
    "atanh": (e.atanh, [1], [INF], [INF]),
    "sin": (e.sin, [INF], [NAN], [NAN]),
    "tanh": (e.tanh, [1000], [1], [0]),
    "erf": (special.erf, [-INF, 0, INF], [-1, 0, 1], [0, 2 / np.sqrt(np.pi), 0]),
    "sigmoid": (e.sigmoid, [-800, 800, 0], [0, 1, 0.5], [0, 0, 0.25]),
    "softplus": (e.softplus, [100, -800, 0], [100, 0, np.log(2)], [1, 0, 0.5]),
    "x ** 2.": (lambda x: e.power(x, 2.0), [0, -3], [0, 9], [0, -6]),
    "x ** 0.": (lambda x: e.power(x, 0.0), [0, 2], [1, 1], [NAN, 0]),
    "x ** 0.5": (lambda x: e.power(x, 0.5), [0], [0], [INF]),
    "x ** 1": (lambda x: e.power(x, 1), [0, 2], [0, 2], [1, 1]),
    "x ** 3": (lambda x: e.power(x, 3), [0, 2], [0, 8], [0, 12]),
    "2 ** x": (lambda x: e.power(2.0, x), [1], [2], [2 * np.log(2)]),
    "0 ** x": (lambda x: e.power(0.0, x), [2], [0], [0]),
    "clip": (lambda x: e.clip(x, 1.0, 2.0), [0, 1, 2, 5], [1, 1, 2, 2], [0, 1, 1, 0]),
    "reduce_max": (over_all(r.reduce_max), [3, 1, 3], 3, [0.5, 0, 0.5]),
    "reduce_min": (over_all(r.reduce_min), [3, 1, 1], 1, [0, 0.5, 0.5]),
    "reduce_prod": (over_all(r.reduce_prod), [2, 0, 3], 0, [0, 6, 0]),
    "reduce_prod of zeros": (over_all(r.reduce_prod), [0, 0, 3], 0, [0, 0, 0]),
    "cumprod": (lambda x: r.cumprod(x, axis=0, reverse=False), [1, 0, 3], [1, 0, 0], [1, 4, 0]),
    "reduce_logsumexp": (over_all(r.reduce_logsumexp), [-INF, 0], 0, [0, 1]),
    "reduce_logsumexp, large": (over_all(r.reduce_logsumexp), [1000, 0], 1000, [1, 0]),
    "norm": (lambda x: e.sqrt(over_all(r.reduce_sum)(e.square(x))), [0, 0], 0, [NAN, NAN]),
    "softmax": (lambda x: rows.softmax(x, axis=0), [1000, 0], [1, 0], [0, 0]),
    "log_softmax": (lambda x: rows.log_softmax(x, axis=0), [0, -INF], [0, -INF], [-1, 1]),
}  # fmt: skip


def gradients(function, *arguments):
    xs = [Tensor(np.asarray(a, np.float64)) for a in arguments]
    with GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    return y.array, [None if g is None else g.array for g in tape.gradient(y, xs)]


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-300)


@pytest.mark.parametrize(("function", "x", "value", "slope"), UNARY.values(), ids=UNARY)
def test_one_argument(function, x, value, slope):
    y, (g,) = gradients(function, x)
    same(y, value)
    same(g, slope)


BINARY = {  # name: (op, arguments, value, slopes)
    "maximum": (e.maximum, [1, 2, 3], [1, 3, 2], [1, 3, 3], [1, 0, 1], [0, 1, 0]),
    "minimum": (e.minimum, [1, 2, 3], [1, 3, 2], [1, 2, 2], [1, 1, 0], [0, 0, 1]),
    "divide": (e.divide, [1, 0], [0, 0], [INF, NAN], [INF, INF], [-INF, NAN]),
    "divide_no_nan": (
        e.divide_no_nan, [1, 0, 3], [0, 0, 2], [0, 0, 1.5], [0, 0, 0.5], [0, 0, -0.75],
    ),
    "multiply_no_nan": (
        e.multiply_no_nan, [INF, 2, 3], [0, 0, 2], [0, 0, 6], [0, 0, 2], [INF, 2, 3],
    ),
    "xlogy": (
        special.xlogy, [0, 0, 2], [0, 3, 3], [0, 0, 2 * np.log(3)],
        [0, 0, np.log(3)], [0, 0, 2 / 3],
    ),
    "xlog1py": (special.xlog1py, [0, 0], [-1, 3], [0, 0], [0, 0], [0, 0]),
    "xdivy": (special.xdivy, [0, 0, 1], [0, 2, 2], [0, 0, 0.5], [0, 0, 0.5], [0, 0, -0.25]),
    "power": (
        e.power, [0, -2, 2, 0], [2, 2, 3, 0], [0, 4, 8, 1], [0, -4, 12, NAN],
        [0, 0, 8 * np.log(2), 0],
    ),
    "floor_mod": (e.floor_mod, [5, -5, 5], [3, 3, -3], [2, 1, -1], [1, 1, 1], [-1, 2, 2]),
    "atan2": (e.atan2, [0, 1], [0, 0], [0, np.pi / 2], [NAN, 0], [NAN, -1]),
    "sigmoid_cross_entropy": (
        losses.sigmoid_cross_entropy, [0, 100, -100], [1, 1, 1], [np.log(2), np.exp(-100), 100],
        [-0.5, 0, -1], [0, -100, 100],
    ),
    "select": (
        lambda x, y: e.select(e.less(x, y), x, y), [1, 2], [1, 3], [1, 2], [0, 1], [1, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("op", "a", "b", "value", "by_a", "by_b"), BINARY.values(), ids=BINARY)
def test_two_arguments(op, a, b, value, by_a, by_b):
    y, (g_a, g_b) = gradients(op, a, b)
    np.testing.assert_allclose(y, value, rtol=1e-7, atol=1e-300)
    np.testing.assert_allclose(g_a, by_a, rtol=1e-7, atol=1e-40)
    np.testing.assert_allclose(g_b, by_b, rtol=1e-7, atol=1e-40)


def test_atan2_of_numbers_whose_squares_overflow_has_no_nan():
    y = Tensor(np.float32([3e38, 3e38])), Tensor(np.float32([1.0, -3e38]))
    with GradientTape() as tape:
        tape.watch(y)
        z = e.atan2(*y) * 5.0
    for g in tape.gradient(z, y):
        np.testing.assert_allclose(g.numpy(), 0, atol=1e-37)


def test_clip_passes_what_it_cuts_off_to_the_bounds():
    x = [0, 1, 2, 5]
    _, (by_x, by_low, by_high) = gradients(e.clip, x, 1, 2)
    same(by_x, [0, 1, 1, 0])
    same(by_low, 1)
    same(by_high, 1)


@pytest.mark.parametrize("op", [e.floor, e.ceil, e.round_, e.trunc, e.stop_gradient, e.is_nan])
def test_no_gradient_where_there_is_no_derivative(op):
    _, (g,) = gradients(op, [1.5, -0.5])
    assert g is None


@pytest.mark.parametrize("op", [e.equal, e.less, e.greater_equal, e.floor_divide])
def test_no_gradient_through_comparisons(op):
    _, found = gradients(op, [1.5, -0.5], [1.0, 1.0])
    assert found == [None, None]


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 1), (0, 3), (2, 1), (2, 3)])
def test_broadcast_arguments_get_gradients_of_their_own_shape(shape):
    other = np.ones((0, 3) if shape == (0, 3) else (2, 3))
    y, (g, g_other) = gradients(e.multiply, np.full(shape, 2.0), other)
    assert y.shape == g_other.shape == other.shape
    same(g, np.full(shape, other.size / max(np.size(np.ones(shape)), 1)))


def test_an_infinite_logit_of_another_class_does_no_harm():
    x = [[1.0, -INF, 2.0]]
    labels = Tensor(np.array([[1.0, 0.0, 0.0]]))
    _, (g,) = gradients(lambda x: rows.softmax_cross_entropy(x, labels), x)
    np.testing.assert_allclose(g, [[-0.73105858, 0, 0.73105858]], rtol=1e-7)
    _, (g,) = gradients(lambda x: rows.sparse_softmax_cross_entropy(x, Tensor(np.array([0]))), x)
    np.testing.assert_allclose(g, [[-0.73105858, 0, 0.73105858]], rtol=1e-7)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_integers_keep_their_type(dtype):
    x = np.array([[3, 1, 2], [5, 4, 0]], dtype)
    for op in (r.reduce_sum, r.reduce_max, r.reduce_min, r.reduce_prod, r.reduce_mean):
        assert op(Tensor(x), axis=(1,), keepdims=False).array.dtype == dtype
    for op in (e.relu, e.square, e.absolute, e.sign):
        assert op(Tensor(x)).array.dtype == dtype
    assert r.cumsum(Tensor(x), axis=1, reverse=True).array.dtype == dtype


@pytest.mark.parametrize(("dtype", "least", "most"), [
    ("float32", -INF, INF), ("int32", -(2**31), 2**31 - 1), ("uint8", 0, 255),
    ("bool", False, True),
])  # fmt: skip
def test_the_largest_of_nothing_is_the_least_value(dtype, least, most):
    nothing = np.zeros((0, 2), dtype)
    assert r.reduce_max(nothing, axis=(0,), keepdims=False).tolist() == [least] * 2
    assert r.reduce_min(nothing, axis=(0,), keepdims=False).tolist() == [most] * 2


def test_the_mean_of_many_float16_does_not_overflow():
    assert r.reduce_mean(np.full(40000, 8, np.float16), axis=(0,), keepdims=False) == 8


def test_choices_by_bits_are_exact_beside_nan_and_inf():
    rng = np.random.default_rng(0)
    condition = rng.random((100, 100)) < 0.5
    for dtype in ("float16", "float32", "float64", "int8", "int64"):
        a, b = rng.integers(-9, 9, (2, 100, 100)).astype(dtype)
        if a.dtype.kind == "f":
            a[0], a[1], b[0], b[1] = NAN, INF, -INF, -0.0
        np.testing.assert_array_equal(e.select(condition, a, b), np.where(condition, a, b))
        np.testing.assert_array_equal(e.select(condition, a, 2), np.where(condition, a, 2))
        kept = e.masked(a, condition)
        np.testing.assert_array_equal(kept, np.where(condition, a, 0))
        assert kept.dtype == dtype


def test_top_k_takes_the_first_of_equals_and_gradients_go_back_there():
    x = Tensor(np.array([[1.0, 3, 2, 3], [4, 0, 4, 1]]))
    with GradientTape() as tape:
        tape.watch(x)
        values, order = movement.top_k(x, k=2)
    assert values.array.tolist() == [[3, 3], [4, 4]]
    assert order.array.tolist() == [[1, 3], [0, 2]]
    assert tape.gradient(values, x).array.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
