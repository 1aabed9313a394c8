"""Special functions, complex parts and scans of tf.math, against SciPy and TensorFlow."""

import numpy as np
import pytest
from scipy import special

import framework as tf

M = tf.math
ANY = np.concatenate([np.linspace(-6, 27, 400), [-1e-12, 1e-12, 1e-200]])
POSITIVE = np.concatenate(
    [np.linspace(0.01, 12, 500), np.geomspace(1e-290, 1e290, 60), 1 + np.geomspace(1e-12, 0.4, 20)]
)
INSIDE = np.concatenate([np.linspace(-1, 1, 301)[1:-1], [1e-200, 1 - 1e-15, -1 + 1e-13]])
SHARES = np.concatenate([np.linspace(0, 1, 301)[1:-1], [1e-300, 1e-20, 1 - 1e-15]])
BESSEL = np.concatenate([np.linspace(-40, 40, 401), [-700.0, 690.0, 1e-200]])

FUNCTIONS = {  # name: (reference, arguments)
    "erf": (special.erf, ANY),
    "erfc": (special.erfc, ANY[ANY < 26]),
    "erfinv": (special.erfinv, INSIDE),
    "erfcinv": (special.erfcinv, 2 * SHARES),
    "ndtri": (special.ndtri, SHARES),
    "lgamma": (special.gammaln, POSITIVE),
    "digamma": (special.digamma, POSITIVE),
    "bessel_i0": (special.i0, BESSEL),
    "bessel_i1": (special.i1, BESSEL),
    "bessel_i0e": (special.i0e, BESSEL),
    "bessel_i1e": (special.i1e, BESSEL),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64(name):
    reference, x = FUNCTIONS[name]
    found = getattr(M, name)(tf.constant(x))
    assert found.dtype == "float64"
    # SciPy itself loses digits: of erfc far out, of lgamma next to its zeros 1 and 2
    close = {"erfc": (1e-13, 1e-307), "lgamma": (1e-14, 1e-15)}.get(name, (1e-14, 1e-307))
    np.testing.assert_allclose(found.numpy(), reference(x), rtol=close[0], atol=close[1])


def test_the_other_byte_order_keeps_its_digits():
    x = ANY.astype(ANY.dtype.newbyteorder())
    np.testing.assert_allclose(M.erf(tf.constant(x)).numpy(), special.erf(ANY), rtol=1e-14)


EXACT = {  # computed with 40 digits
    "erfc": [(0.75, 0.28884436634648486), (3.1, 1.1648657367199589e-05),
             (11.7, 1.7025329069808723e-61), (26.0, 5.663192408856143e-296)],
    "lgamma": [(1 + 2**-40, -5.249745890076018e-13), (2 - 2**-40, -3.845201127643794e-13),
               (0.3, 1.0957979948180756), (1.46, -0.12148500100400743),
               (123.4, 469.3360974421906), (-2.5, -0.056243716497674054)],
    "digamma": [(1.4616321449683622, -9.241265521729427e-17), (0.001, -1000.5755719318103),
                (-0.75, -2.894120200042932), (57.3, 4.039549239957579)],
    "erfinv": [(1e-09, 8.86226925452758e-10), (0.3, 0.2724627147267543),
               (1 - 2**-45, 5.377767781541279)],
    "bessel_i0": [(3.7, 8.738617524169397), (24.9, 5235629675.804422), (25.1, 6369018573.803502),
                  (300.0, 4.475847367935052e128)],
    "bessel_i1": [(3.7, 7.435745796535337), (24.9, 5129395695.925742), (25.1, 6240828249.8739805),
                  (300.0, 4.468381385036955e128)],
    "ndtri": [(0.01, -2.326347874040841), (0.3, -0.5244005127080408),
              (1 - 2**-40, 7.047700256664409)],
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_float64_to_the_last_digits(name):
    for x, expected in EXACT[name]:
        np.testing.assert_allclose(
            getattr(M, name)(np.float64(x)).numpy(), expected, rtol=2e-15, atol=0
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_is_exact_to_6_digits(name):
    reference, x = FUNCTIONS[name]
    x = x[(np.abs(x) < 60) & ((np.abs(x) > 1e-30) | (x == 0))].astype(np.float32)
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64)).astype(np.float32)
    found = getattr(M, name)(x)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found.numpy(), expected, rtol=5e-7, atol=1e-37)


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_negative_arguments(name):
    x = np.linspace(-20.2, -0.05, 200)
    expected = FUNCTIONS[name][0](x)
    np.testing.assert_allclose(getattr(M, name)(x).numpy(), expected, rtol=1e-12, atol=1e-13)


INF, NAN = np.inf, np.nan
ENDS = {  # as in TensorFlow, but for the Bessel functions at infinity: nan there
    "lgamma": ([-INF, -1, 0, INF, NAN], [INF, INF, INF, INF, NAN]),
    "digamma": ([-1, 0, INF, NAN], [NAN, NAN, INF, NAN]),
    "erfc": ([-INF, 0, INF, NAN], [2, 1, 0, NAN]),
    "erfinv": ([-1.5, -1, 0, 1, 1.5, NAN], [NAN, -INF, 0, INF, NAN, NAN]),
    "erfcinv": ([-1, 0, 1, 2, 3, NAN], [NAN, INF, 0, -INF, NAN, NAN]),
    "ndtri": ([-1, 0, 0.5, 1, 2, NAN], [NAN, -INF, 0, INF, NAN, NAN]),
    "bessel_i0": ([-INF, 0, INF, NAN], [INF, 1, INF, NAN]),
    "bessel_i1": ([-INF, 0, INF, NAN], [-INF, 0, INF, NAN]),
    "bessel_i0e": ([-INF, 0, INF, NAN], [0, 1, 0, NAN]),
    "bessel_i1e": ([-INF, 0, INF, NAN], [0, 0, 0, NAN]),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ends(name, dtype):
    x, expected = ENDS[name]
    np.testing.assert_array_equal(getattr(M, name)(tf.constant(x, dtype)).numpy(), expected)


def slope(function, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    found = [g.numpy() for g in tape.gradient(y, xs)]
    return found if len(found) > 1 else found[0]


def test_slopes():
    np.testing.assert_allclose(slope(M.lgamma, [0.5, 3.0]), special.digamma([0.5, 3.0]), rtol=1e-6)
    np.testing.assert_allclose(
        slope(M.digamma, [-1.0, 1.0, INF]), [NAN, np.pi**2 / 6, 0], rtol=1e-6
    )
    np.testing.assert_allclose(
        slope(M.erfc, [-1.0, 0.0, 1.0, INF]), [-0.41510751, -1.1283792, -0.41510751, 0], rtol=1e-6
    )
    np.testing.assert_array_equal(slope(M.bessel_i1, [0.0]), [0.5])
    np.testing.assert_array_equal(slope(M.bessel_i1e, [0.0]), [0.5])
    np.testing.assert_array_equal(slope(M.bessel_i0e, [0.0]), [0])


def test_lbeta():
    x = np.array([[1.0, 2.0, 0.5], [3.0, 0.2, 7.0]])
    expected = special.gammaln(x).sum(-1) - special.gammaln(x.sum(-1))
    np.testing.assert_allclose(M.lbeta(x).numpy(), expected, rtol=1e-13)
    assert M.lbeta(np.zeros((2, 0))).numpy().tolist() == [-INF, -INF]
    found = slope(M.lbeta, x)
    np.testing.assert_allclose(
        found, special.digamma(x) - special.digamma(x.sum(-1, keepdims=True)), rtol=1e-13
    )
    with pytest.raises(ValueError, match="lbeta: expected rank 1 or more"):
        M.lbeta(1.0)


def test_integers_are_refused():
    for name in (*FUNCTIONS, "lbeta", "cumulative_logsumexp"):
        with pytest.raises(TypeError, match=f"{name}: expected a floating dtype, got int32"):
            getattr(M, name)([1, 2])


def test_complex_numbers_are_refused():
    """TensorFlow refuses them too; casting them would drop their imaginary parts."""
    for name in (*FUNCTIONS, "lbeta"):
        with pytest.raises(TypeError, match=f"{name}: expected real numbers, got complex64"):
            getattr(M, name)(tf.constant([1.0 + 2.0j], "complex64"))
    with pytest.raises(TypeError, match="igamma: expected real numbers, got complex128"):
        M.igamma(1.0j, 2.0j)


# ---- functions of several arguments --------------------------------------------------------------

RNG = np.random.default_rng(3)
SHAPES = np.concatenate([RNG.uniform(0.01, 20, 400), 10 ** RNG.uniform(-8, 5, 600)])
NEAR = np.maximum(SHAPES * (1 + RNG.normal(size=1000) / np.sqrt(SHAPES + 1)), 0.01)
ORDERS = RNG.uniform(1.01, 30, 1000)
PLACES = 10 ** RNG.uniform(-3, 6, 1000)
PARTS = np.clip(SHAPES / (SHAPES + SHAPES[::-1]) * RNG.uniform(0.5, 1.2, 1000), 0.01, 0.99)

SEVERAL = {  # name: (reference, arguments)
    "igamma": (special.gammainc, (SHAPES, NEAR)),
    "igammac": (special.gammaincc, (SHAPES, NEAR)),
    "betainc": (special.betainc, (SHAPES, SHAPES[::-1], PARTS)),
    "zeta": (special.zeta, (ORDERS, PLACES)),
    "polygamma": (special.polygamma, (np.tile(np.arange(10.0), 100), PLACES)),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_several_arguments(name):
    reference, xs = SEVERAL[name]
    expected = reference(xs[0].astype(int) if name == "polygamma" else xs[0], *xs[1:])
    found = getattr(M, name)(*xs)
    assert found.dtype == "float64"
    ordinary = np.isfinite(expected) & ((np.abs(expected) > 1e-290) | (expected == 0))
    np.testing.assert_allclose(found.numpy()[ordinary], expected[ordinary], rtol=2e-10, atol=1e-300)
    narrow = getattr(M, name)(*(x.astype(np.float32) for x in xs))
    assert narrow.dtype == "float32"


BEYOND = {  # computed with 25 digits; SciPy loses up to 13 of them
    "igamma": [((4497509.119208132, 4482247.1641780045), 2.91188096717321383e-13)],
    "igammac": [((1.339574748703507e-08, 1.1204327114701282), 2.41024947151272380e-09)],
}


@pytest.mark.parametrize("name", BEYOND)
def test_large_and_tiny_parameters(name):
    for xs, expected in BEYOND[name]:
        found = getattr(M, name)(*(np.float64(x) for x in xs))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9)


EDGES = {  # TensorFlow's values
    "igamma": [(0, 1, NAN), (1, 0, 0), (1, INF, 1), (-1, 1, NAN), (1, -1, NAN), (NAN, 1, NAN)],
    "igammac": [(0, 1, NAN), (1, 0, 1), (1, INF, 0), (-1, 1, NAN), (1, -1, NAN), (INF, 1, 1)],
    "betainc": [(0, 1, 0.5, NAN), (1, 0, 0.5, NAN), (1, 1, -0.1, NAN), (1, 1, 0, 0), (1, 1, 1, 1)],
    "zeta": [(2, -0.5, 8.934802), (3, -1.5, 0.11810221), (2, -2, INF), (0.5, 1, NAN), (1, 1, INF),
             (2.5, -1.5, NAN), (200, 2, 0), (2, 0, INF)],
    "polygamma": [(0, 1.3, -0.16919065), (2, -0.5, -0.82879674), (1.5, 1, NAN), (1, -1, INF)],
    "nextafter": [(1, 2, 1 + 2**-23), (1, 1, 1), (0, 1, 2.0**-149), (NAN, 1, NAN)],
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_edges_of_several_arguments(name):  # TensorFlow computes them in float32
    *xs, expected = np.array(EDGES[name], np.float32).T
    np.testing.assert_allclose(getattr(M, name)(*xs).numpy(), expected, rtol=3e-6)


def test_slopes_of_several_arguments():
    by_a, by_x = slope(M.igamma, [2.0, 0.5], [1.0, 2.0])  # TensorFlow's numbers
    np.testing.assert_allclose(by_a, [-0.27619605, -0.13561934], rtol=1e-6)
    np.testing.assert_allclose(by_x, [0.36787944, 0.05399097], rtol=1e-6)
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = M.nextafter(x, [2.0, 0.0])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [1, 1])


def test_a_derivative_by_a_large_parameter():
    a, x = np.array([3e5, 1e7]), np.array([2.995e5, 1.0002e7])
    step = a * 1e-7
    found = slope(M.igamma, a, x)[0]
    expected = (M.igamma(a + step, x) - M.igamma(a - step, x)).numpy() / (2 * step)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


# ---- complex numbers -----------------------------------------------------------------------------

Z = np.array([3 + 4j, -1 + 0j, 1j, -2 - 1j], np.complex64)


def test_parts():
    np.testing.assert_array_equal(M.real(Z).numpy(), Z.real)
    np.testing.assert_array_equal(M.imag(Z).numpy(), Z.imag)
    np.testing.assert_array_equal(M.conj(Z).numpy(), Z.conj())
    np.testing.assert_allclose(M.angle(Z).numpy(), np.angle(Z), rtol=1e-7)
    np.testing.assert_array_equal(tf.complex(Z.real, Z.imag).numpy(), Z)
    for part in (M.real, M.imag, M.angle):
        assert part(Z).dtype == "float32"
    assert tf.complex(Z.real, tf.constant(1.0)).dtype == "complex64"
    assert tf.complex(np.float64(1), np.float64(2)).numpy() == 1 + 2j
    assert tf.complex(np.float64(1), np.float64(2)).dtype == "complex128"
    np.testing.assert_array_equal(tf.complex(INF, 1.0).numpy(), complex(INF, 1))


def test_parts_of_real_numbers():
    assert M.real([1, 2]).numpy().tolist() == [1, 2]
    assert M.imag([1, 2]).numpy().tolist() == [0, 0]
    assert M.conj([1.0]).numpy().tolist() == [1]
    np.testing.assert_allclose(M.angle([-1.0, 0.0, 2.0, -0.0]).numpy(), [np.pi, 0, 0, 0], rtol=1e-7)
    x = tf.constant([-1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = M.angle(x)
    assert tape.gradient(y, x) is None  # as in TensorFlow


def test_gradients_of_parts_are_tensorflows():
    assert slope(M.real, [3 + 4j]) == [1]
    assert slope(M.imag, [3 + 4j]) == [1j]
    np.testing.assert_allclose(slope(M.angle, [3 + 4j, -1 + 0j]), [-0.16 + 0.12j, -1j])
    by_real, by_imag = slope(lambda a, b: tf.abs(tf.complex(a, b)), [3.0], [4.0])
    np.testing.assert_allclose([by_real, by_imag], [[0.6], [0.8]], rtol=1e-6)


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("int32", "int32"), ("float16",) * 2])
def test_what_makes_no_complex_number(dtypes):
    with pytest.raises(TypeError, match=r"different dtypes|complex: `real` and `imag`"):
        tf.complex(*(tf.constant(1, d) for d in dtypes))


# ---- along an axis, polynomials ------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumulative_logsumexp"])
def test_scans(name, axis, exclusive, reverse):
    x = np.random.default_rng(0).normal(size=(3, 4))
    run, neutral = {"cumsum": (np.cumsum, 0), "cumprod": (np.cumprod, 1), "cumulative_logsumexp": (
        lambda x, axis: np.log(np.cumsum(np.exp(x), axis)), -INF)}[name]  # fmt: skip
    turned = np.flip(x, axis) if reverse else x
    expected = run(turned, axis=axis)
    if exclusive:
        first = np.full_like(np.take(x, [0], axis), neutral)
        expected = np.concatenate([first, np.take(expected, range(x.shape[axis] - 1), axis)], axis)
    expected = np.flip(expected, axis) if reverse else expected
    found = getattr(M, name)(x, axis=axis, exclusive=exclusive, reverse=reverse)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-13)


def test_cumulative_logsumexp_far_out():
    x = [-INF, -INF, -1000.0, 1000.0, 999.0]
    found = M.cumulative_logsumexp(x).numpy()
    np.testing.assert_allclose(found, [-INF, -INF, -1000, 1000, 1000.3133], rtol=1e-6)
    np.testing.assert_allclose(
        slope(M.cumulative_logsumexp, x), [0, 0, 1, 1.7310586, 0.26894143], rtol=1e-4
    )
    found = slope(lambda x: M.cumulative_logsumexp(x, exclusive=True), [0.0, 1.0, 2.0])
    np.testing.assert_allclose(found, [1.2689414, 0.7310586, 0], rtol=1e-6)
    found = slope(M.cumulative_logsumexp, [1.0, -2.0, INF, 3.0])
    np.testing.assert_allclose(found, [1.9525741, 0.0474259, 2, 0], rtol=1e-6)


def test_products_with_zeros():
    x = [2.0, 0.0, 3.0]
    np.testing.assert_array_equal(slope(M.cumprod, x), [1, 8, 0])
    np.testing.assert_array_equal(slope(lambda x: M.cumprod(x, exclusive=True), x), [1, 2, 0])


def test_polyval():
    assert M.polyval([2.0, 3.0, 1.0], 2.0).numpy() == 15
    assert M.polyval([1, 2, 3], tf.constant([1, 2])).numpy().tolist() == [6, 11]
    assert M.polyval([], tf.constant([1.0, 2.0])).numpy().tolist() == [0, 0]
    assert M.polyval([tf.constant([1.0, 2.0]), 1.0], 3.0).numpy().tolist() == [4, 7]
    a, x = slope(lambda a, x: M.polyval([a, 1.0, a], x), 2.0, 3.0)
    assert (a, x) == (10, 13)
    with pytest.raises(ValueError, match="polyval: `coeffs` must be a list"):
        M.polyval(np.ones(2), 2.0)
