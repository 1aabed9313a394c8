"""tf.math, element by element, against NumPy."""

import numpy as np
import pytest

import framework as tf

X = np.array([-2.5, -1.0, -0.5, 0.0, 0.5, 1.5, 2.5])
POSITIVE = np.array([0.25, 0.5, 1.0, 2.0, 3.5])
WITHIN = np.array([-0.9, -0.5, 0.0, 0.5, 0.9])
ODD = np.array([np.nan, np.inf, -np.inf, 1.0])

UNARY = {
    "abs": (np.abs, X), "negative": (np.negative, X), "sign": (np.sign, X),
    "square": (np.square, X), "round": (np.rint, X), "rint": (np.rint, X), "floor": (np.floor, X),
    "ceil": (np.ceil, X), "exp": (np.exp, X), "expm1": (np.expm1, X), "sin": (np.sin, X),
    "cos": (np.cos, X), "tan": (np.tan, X), "atan": (np.arctan, X), "sinh": (np.sinh, X),
    "cosh": (np.cosh, X), "tanh": (np.tanh, X), "asinh": (np.arcsinh, X),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), X),
    "log_sigmoid": (lambda x: -np.log1p(np.exp(-x)), X),
    "sqrt": (np.sqrt, POSITIVE), "rsqrt": (lambda x: x**-0.5, POSITIVE), "log": (np.log, POSITIVE),
    "log1p": (np.log1p, POSITIVE), "reciprocal": (np.reciprocal, POSITIVE),
    "acosh": (np.arccosh, POSITIVE + 1), "asin": (np.arcsin, WITHIN), "acos": (np.arccos, WITHIN),
    "atanh": (np.arctanh, WITHIN), "is_nan": (np.isnan, ODD), "is_inf": (np.isinf, ODD),
    "is_finite": (np.isfinite, ODD),
    "reciprocal_no_nan": (lambda x: np.divide(1, x, out=np.zeros_like(x), where=x != 0), X),
}  # fmt: skip

BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "truediv": np.divide, "floordiv": np.floor_divide, "floormod": np.mod, "mod": np.mod,
    "maximum": np.maximum, "minimum": np.minimum, "equal": np.equal, "not_equal": np.not_equal,
    "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "atan2": np.arctan2,
    "squared_difference": lambda a, b: (a - b) ** 2,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_unary(name, dtype):
    reference, x = UNARY[name]
    x = x.astype(dtype)
    function = getattr(tf.math, name)
    expected = reference(x)
    for given in (x, tf.constant(x), tf.Variable(x), tf.constant(x.tolist(), dtype)):
        found = function(given, name="named")
        assert type(found) is tf.Tensor
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(
            found.numpy(), expected, rtol=2e-6 if dtype == "float32" else 1e-12
        )


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    a, b = np.float32([[1.5, -2.0], [3.0, 0.5]]), np.float32([1.5, -0.5])
    function, reference = getattr(tf.math, name), BINARY[name]
    expected = reference(a, b)
    pairs = [(tf.constant(a), tf.constant(b)), (a, tf.constant(b)), (tf.Variable(a), b), (a, b),
             (a.tolist(), b.tolist())]  # fmt: skip
    for pair in pairs:
        found = function(*pair, name=None)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(
        function(tf.constant(a), 1.5).numpy(), reference(a, np.float32(1.5)), rtol=1e-6
    )
    np.testing.assert_allclose(
        function(2, tf.constant(a)).numpy(), reference(np.float32(2), a), rtol=1e-6
    )


def test_powers():
    assert tf.pow([2.0, 3.0], [3.0, 2.0]).numpy().tolist() == [8, 9]
    assert tf.pow(tf.constant([2, 3]), 2).numpy().tolist() == [4, 9]
    assert (tf.constant([4.0]) ** 0.5).numpy().tolist() == [2]
    assert (2.0 ** tf.constant([3.0])).numpy().tolist() == [8]


@pytest.mark.parametrize(("x", "y"), [(7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (-6, 3)])
def test_two_kinds_of_integer_division(x, y):
    assert (int(tf.math.floordiv(x, y)), int(tf.math.floormod(x, y))) == (x // y, x % y)
    assert int(tf.truncatediv(x, y)) == int(x / y)
    assert int(tf.truncatemod(x, y)) == int(np.fmod(x, y))


def test_zeros_that_win():
    assert tf.math.divide_no_nan([1.0, 4.0], [0.0, 2.0]).numpy().tolist() == [0, 2]
    assert tf.math.multiply_no_nan([np.inf, 4.0], [0.0, 2.0]).numpy().tolist() == [0, 8]
    assert tf.math.xlogy([0.0, 1.0], [0.0, np.e]).numpy().tolist() == pytest.approx([0, 1])
    assert tf.math.xdivy([0.0, 1.0], [0.0, 2.0]).numpy().tolist() == [0, 0.5]
    assert tf.math.xlog1py([0.0], [-1.0]).numpy().tolist() == [0]


def test_reciprocal_no_nan():
    found = tf.math.reciprocal_no_nan([np.inf, 0.0, -np.inf, 2.0, np.nan]).numpy()
    np.testing.assert_array_equal(found, np.float32([0, 0, 0, 0.5, np.nan]))
    assert tf.math.reciprocal_no_nan([2j, 0j]).numpy().tolist() == [-0.5j, 0]


@pytest.mark.parametrize("base", [-1 + 1j, 2 - 0.5j, -3 + 0j, 0j])
def test_slope_by_the_exponent_of_a_complex_base(base):
    b = tf.constant(2 + 0j)
    for a in (tf.constant(base), base):
        with tf.GradientTape() as tape:
            tape.watch(b)
            y = a**b
        expected = np.conj(base**2 * np.log(base)) if base else 0
        np.testing.assert_allclose(tape.gradient(y, b).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("function", [tf.maximum, tf.minimum])
def test_beside_nan_the_second_argument_has_the_slope(function):
    a, b = tf.constant([np.nan, 1.0, np.nan]), tf.constant([1.0, np.nan, np.nan])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = function(a, b)
    slopes = tape.gradient(y, [a, b])
    assert [g.numpy().tolist() for g in slopes] == [[0, 0, 0], [1, 1, 1]]


def test_logic():
    a, b = [True, True, False, False], [True, False, True, False]
    assert tf.logical_and(a, b).numpy().tolist() == [True, False, False, False]
    assert tf.logical_or(a, b).numpy().tolist() == [True, True, True, False]
    assert tf.math.logical_xor(a, b).numpy().tolist() == [False, True, True, False]
    assert tf.logical_not(a).numpy().tolist() == [False, False, True, True]


def test_integers_keep_their_dtype():
    x = tf.constant([-1, 2], tf.int64)
    for function in (tf.abs, tf.negative, tf.sign, tf.square, tf.round):
        assert function(x).dtype == "int64"


def test_add_n():
    parts = [tf.constant([1.0, 2.0])] * 3
    assert tf.add_n(parts).numpy().tolist() == [3, 6]
    assert tf.add_n(parts[:1]) is not parts[0]
    with pytest.raises(ValueError, match="at least one"):
        tf.add_n([])
    with pytest.raises(ValueError, match=r"the same shape.*\(2,\).*\(1,\)"):
        tf.add_n([tf.zeros([2]), tf.zeros([1])])


def test_cast():
    assert tf.cast([1.9, -1.9], tf.int32).numpy().tolist() == [1, -1]
    assert tf.cast([0, 2], "bool").numpy().tolist() == [False, True]
    x = tf.constant(1.0)
    assert tf.cast(x, tf.float32) is x
    assert tf.saturate_cast([300.0, -5.0, 7.0], tf.uint8).numpy().tolist() == [255, 0, 7]
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        wide = tf.cast(v, tf.float64) * 3
        lost = tf.cast(tf.cast(v, tf.int32), tf.float32)
    assert tape.gradient(wide, v).dtype == "float32"
    assert float(tape.gradient(wide, v)) == 3
    assert tape.gradient(lost, v) is None


def test_cast_keeps_indexed_slices():
    slices = tf.IndexedSlices([[1.0]], [1], [3, 1])
    found = tf.cast(slices, tf.float64)
    assert type(found) is tf.IndexedSlices
    assert (found.dtype, found.indices.numpy().tolist()) == ("float64", [1])
    assert tf.convert_to_tensor(found).numpy().tolist() == [[0], [1], [0]]


def test_scalar_mul():
    assert tf.scalar_mul(2.0, [1.0, 2.0]).numpy().tolist() == [2, 4]
    with pytest.raises(ValueError, match="0-d"):
        tf.scalar_mul([1.0], [1.0])


KINKS = [
    (tf.abs, 0.0, 0.0), (tf.nn.relu, 0.0, 0.0), (tf.nn.relu6, 0.0, 0.0), (tf.nn.relu6, 6.0, 0.0),
    (tf.nn.elu, 0.0, 1.0), (tf.nn.selu, 0.0, 1.0507009873554805), (tf.nn.leaky_relu, 0.0, 0.2),
    (tf.sqrt, 0.0, np.inf), (tf.math.log, 0.0, np.inf), (tf.nn.softplus, 100.0, 1.0),
    (tf.sign, 3.0, 0.0), (lambda x: tf.clip_by_value(x, 0.0, 1.0), 0.0, 1.0),
    (lambda x: tf.clip_by_value(x, 0.0, 1.0), 1.0, 1.0),
    (lambda x: tf.where(x > 0, tf.sqrt(x), 0.0), -1.0, 0.0),
    (lambda x: tf.maximum(x, 0.0), 0.0, 1.0), (lambda x: tf.maximum(0.0, x), 0.0, 0.0),
    (lambda x: tf.minimum(x, 0.0), 0.0, 1.0), (tf.nn.softsign, 0.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("function", "at", "slope"), KINKS)
def test_kinks_and_ties_are_tensorflows(function, at, slope):
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert float(tape.gradient(y, x)) == pytest.approx(slope)


@pytest.mark.parametrize("compiled", [False, True])
def test_tanh_under_an_infinite_cotangent(compiled):
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(x) * np.inf
        return tape.gradient(y, x)

    slopes = tf.function(slopes) if compiled else slopes
    for _ in range(3):
        found = slopes(tf.constant([0.5, -2.0, 100.0]))
    np.testing.assert_array_equal(found, [np.inf, np.inf, np.nan])


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.logical_and([1.0], [True]),
        lambda: tf.logical_or(tf.constant([1]), tf.constant([0])),
        lambda: tf.logical_not(tf.constant(1)),
        lambda: tf.math.logical_xor(1, 0),
    ],
)
def test_logic_of_numbers_is_refused(call):
    with pytest.raises(TypeError, match=r"logical_\w+: expected booleans, got \w+\d+\. Compare"):
        call()
