"""Random numbers: distributions by SciPy's tests of them, shapes, seeds, gradients, generators."""

import numpy as np
import pytest
from scipy import stats

import framework as tf

N = 20_000
SEED = [3, 7]


def continuous(sample, distribution):
    assert stats.kstest(np.asarray(sample, np.float64).ravel(), distribution.cdf).pvalue > 1e-3


def discrete(sample, distribution):
    """Pearson's test of the counts; rare values together."""
    sample = np.asarray(sample).ravel()
    low, high = distribution.ppf([0.005, 0.995]).astype(int)
    bins = np.clip(sample, low, high) - low
    expected = np.diff(distribution.cdf(np.arange(low - 1, high + 1)))
    expected[0], expected[-1] = distribution.cdf(low), distribution.sf(high - 1)
    observed = np.bincount(bins.astype(int), minlength=len(expected))
    assert stats.chisquare(observed, expected * sample.size).pvalue > 1e-3


CONTINUOUS = {
    "normal": (lambda r: r.stateless_normal([N], SEED, 1.0, 2.0), stats.norm(1, 2)),
    "truncated": (lambda r: r.stateless_truncated_normal([N], SEED, 1.0, 2.0),
                  stats.truncnorm(-2, 2, 1, 2)),
    "uniform": (lambda r: r.stateless_uniform([N], SEED, -1.0, 3.0), stats.uniform(-1, 4)),
    "gamma": (lambda r: r.stateless_gamma([N], SEED, 2.5, beta=3.0), stats.gamma(2.5, scale=1 / 3)),
    "gamma below 1": (lambda r: r.stateless_gamma([N], SEED, 0.3), stats.gamma(0.3)),
    "gamma, global": (lambda r: r.gamma([N], 4.0, seed=1), stats.gamma(4)),
    "gamma float64": (lambda r: r.gamma([N], 4.0, dtype=tf.float64, seed=1), stats.gamma(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    make, distribution = CONTINUOUS[name]
    continuous(make(tf.random), distribution)


DISCRETE = {
    "integers": (lambda r: r.stateless_uniform([N], SEED, 2, 9, dtype=tf.int32),
                 stats.randint(2, 9)),
    "poisson": (lambda r: r.stateless_poisson([N], SEED, 3.5), stats.poisson(3.5)),
    "poisson, many": (lambda r: r.stateless_poisson([N], SEED, 80.0), stats.poisson(80)),
    "poisson, global": (lambda r: r.poisson([N], 0.7, seed=1), stats.poisson(0.7)),
    "binomial": (lambda r: r.stateless_binomial([N], SEED, 12, 0.3), stats.binom(12, 0.3)),
    "binomial of a generator": (
        lambda r: r.Generator.from_seed(1).binomial([N], 40.0, 0.9), stats.binom(40, 0.9)),
    "categorical": (
        lambda r: r.stateless_categorical(np.log([[0.2, 0.5, 0.3]]), N, SEED),
        stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3]))),
}  # fmt: skip


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    make, distribution = DISCRETE[name]
    discrete(make(tf.random), distribution)


def test_the_tests_of_distributions_find_wrong_ones():
    sample = tf.random.stateless_gamma([N], SEED, 2.5)
    with pytest.raises(AssertionError):
        continuous(sample, stats.gamma(2.6))
    with pytest.raises(AssertionError):
        discrete(tf.random.stateless_poisson([N], SEED, 3.5), stats.poisson(3.4))


@pytest.mark.parametrize(
    ("make", "shape", "dtype"),
    [
        (lambda: tf.random.gamma([3], [1.0, 2.0]), (3, 2), tf.float32),
        (lambda: tf.random.gamma([3], [1.0, 2.0], [[1.0], [2.0]]), (3, 2, 2), tf.float32),
        (lambda: tf.random.gamma([], tf.constant([1.0, 2.0], tf.float64), dtype=tf.float64), (2,),
         tf.float64),
        (lambda: tf.random.gamma([4], 1.0, dtype=tf.float16), (4,), tf.float16),
        (lambda: tf.random.poisson([3], [1.0, 2.0]), (3, 2), tf.float32),
        (lambda: tf.random.poisson([3], 2.0, dtype=tf.int64), (3,), tf.int64),
        (lambda: tf.random.stateless_gamma([3, 2], SEED, [1.0, 2.0], 3.0), (3, 2), tf.float32),
        (lambda: tf.random.stateless_poisson([3, 2], SEED, [1.0, 2.0]), (3, 2), tf.int32),
        (lambda: tf.random.stateless_binomial([3, 2], SEED, [10, 20], 0.3), (3, 2), tf.int32),
        (lambda: tf.random.stateless_binomial([2], SEED, 10, 0.3, tf.float32), (2,), tf.float32),
        (lambda: tf.random.Generator.from_seed(1).binomial([2, 3], [5.0, 6.0, 7.0], 0.1), (2, 3),
         tf.int32),
        (lambda: tf.random.Generator.from_seed(1).uniform_full_int([2]), (2,), tf.uint64),
    ],
)  # fmt: skip
def test_shapes_and_dtypes(make, shape, dtype):
    found = make()
    assert (tuple(found.shape), found.dtype) == (shape, dtype)


SCALED = {  # draws with two parameters, beside their numbers for 0 and 2
    "normal": tf.random.normal, "uniform": tf.random.uniform,
    "truncated_normal": tf.random.truncated_normal,
    "stateless_normal": lambda shape, *a, **k: tf.random.stateless_normal(shape, SEED, *a, **k),
    "stateless_uniform": lambda shape, *a, **k: tf.random.stateless_uniform(shape, SEED, *a, **k),
    "Generator.normal": lambda *a, **k: tf.random.Generator.from_seed(1).normal(*a, **k),
    "Generator.uniform": lambda *a, **k: tf.random.Generator.from_seed(1).uniform(*a, **k),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALED)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_parameters_take_the_dtype_of_the_draw(name, dtype):
    draw = SCALED[name]
    for two in (2, 2.0, [2.0, 2.0], np.float32(2), np.int64(2), np.float64([2, 2]),
                tf.constant(2.0, dtype), tf.Variable([2.0, 2.0], dtype=dtype)):  # fmt: skip
        tf.random.set_seed(1)
        expected = draw([2], 0.0, 2.0, dtype=dtype).numpy()
        tf.random.set_seed(1)
        found = draw([2], 0, two, dtype=dtype)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-3)
    other = "float32" if dtype == "float64" else "float64"
    with pytest.raises(TypeError, match=f"requested dtype {dtype} for a tensor of dtype {other}"):
        draw([2], 0, tf.constant(2.0, other), dtype=dtype)


def test_each_parameter_has_its_numbers():
    alpha, beta = np.float32([1, 40]), np.float32([[1], [100]])
    mean = tf.random.gamma([4000], alpha, beta, seed=2).numpy().mean(0)
    np.testing.assert_allclose(mean, alpha / beta, rtol=0.1)
    rates = tf.random.stateless_poisson([4000, 2], SEED, [1.0, 50.0]).numpy().mean(0)
    np.testing.assert_allclose(rates, [1, 50], rtol=0.1)
    hits = tf.random.stateless_binomial([4000, 2], SEED, [10, 20], [0.5, 0.1]).numpy().mean(0)
    np.testing.assert_allclose(hits, [5, 2], rtol=0.1)


STATELESS = {
    "gamma": lambda seed: tf.random.stateless_gamma([5], seed, 2.0),
    "poisson": lambda seed: tf.random.stateless_poisson([5], seed, 20.0),
    "binomial": lambda seed: tf.random.stateless_binomial([5], seed, 1000, 0.5),
    "normal": lambda seed: tf.random.stateless_normal([5], seed),
    "uniform": lambda seed: tf.random.stateless_uniform([5], seed),
    "truncated_normal": lambda seed: tf.random.stateless_truncated_normal([5], seed),
}


@pytest.mark.parametrize("name", STATELESS)
def test_a_seed_gives_its_numbers_whatever_came_before(name):
    make = STATELESS[name]
    first = make([1, 2]).numpy()
    np.testing.assert_array_equal(make(tf.constant([1, 2])).numpy(), first)
    assert (make([2, 2]).numpy() != first).any()
    assert (make([1, 3]).numpy() != first).any()


@pytest.mark.parametrize(
    "draw",
    [lambda **k: tf.random.gamma([5], 2.0, **k), lambda **k: tf.random.poisson([5], 9.0, **k)],
)
def test_the_global_seed(draw):
    tf.random.set_seed(5)
    first, second = draw().numpy(), draw(seed=1).numpy()
    third = draw(seed=1).numpy()
    tf.random.set_seed(5)
    np.testing.assert_array_equal(draw().numpy(), first)
    np.testing.assert_array_equal(draw(seed=1).numpy(), second)
    assert (second != third).any()


def test_gradients_reach_the_rates_of_gamma():
    beta = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.random.stateless_gamma([3, 2], SEED, 2.0, beta)
    expected = -(y / beta).numpy().sum(0)
    np.testing.assert_allclose(tape.gradient(y, beta).numpy(), expected, rtol=1e-6)


def test_gamma_is_never_zero():
    assert tf.random.stateless_gamma([1000], SEED, 1e-4).numpy().min() > 0


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8, tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_full_range_integers(dtype):
    found = tf.random.Generator.from_seed(4).uniform_full_int([4000], dtype=dtype).numpy()
    info = np.iinfo(dtype.np)
    quarter = (info.max - info.min) // 4
    shares = [np.mean(found < info.min + k * quarter) for k in (1, 2, 3)]
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.75], atol=0.03)
    if dtype.size == 1:
        assert len(np.unique(found)) == 256


def test_generators_by_key_and_counter():
    a = tf.random.Generator.from_seed(9)
    a.normal([2])
    b = tf.random.Generator.from_key_counter(9, 1, "philox")
    np.testing.assert_array_equal(a.normal([3]).numpy(), b.normal([3]).numpy())
    assert int(b.key) == 9
    assert b.algorithm == 1
    b.reset_from_key_counter(9, [0, 0])
    np.testing.assert_array_equal(
        b.uniform([3]).numpy(), tf.random.Generator.from_seed(9).uniform([3]).numpy()
    )
    again = tf.random.Generator.from_state(a.state, "philox")
    np.testing.assert_array_equal(again.normal([3]).numpy(), a.normal([3]).numpy())


def test_generators_begin_anew_skip_and_split():
    a, b = tf.random.Generator.from_seed(9), tf.random.Generator.from_seed(9, alg=1)
    a.skip(2)
    b.normal([1]), b.truncated_normal([4])
    np.testing.assert_array_equal(a.normal([3]).numpy(), b.normal([3]).numpy())
    a.reset_from_seed(1)
    b.reset(tf.random.Generator.from_seed(1).state)
    assert a.state.numpy().tolist() == b.state.numpy().tolist()
    c, d = a.split(2)
    assert (c.normal([3]).numpy() != d.normal([3]).numpy()).any()
    assert a.make_seeds(4).shape == (2, 4)
    e = tf.random.Generator.from_non_deterministic_state()
    tf.random.set_global_generator(e)
    assert tf.random.get_global_generator() is e
    continuous(e.truncated_normal([N], 1.0, 2.0), stats.truncnorm(-2, 2, 1, 2))


def test_shuffle_and_categorical():
    rows = np.arange(30).reshape(10, 3)
    found = tf.random.shuffle(rows, seed=1).numpy()
    assert (found != rows).any()
    np.testing.assert_array_equal(found[np.argsort(found[:, 0])], rows)
    share = tf.random.categorical(np.log([[0.25, 0.75]]), 4000, seed=3).numpy().mean()
    assert share == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda r: r.gamma([2], -1.0), ValueError, "gamma: `alpha` must be above 0, got -1.0"),
        (lambda r: r.gamma([2], 1.0, dtype=tf.int32), ValueError, "floating dtype, got int32"),
        (lambda r: r.poisson([2], [1.0, -2.0]), ValueError, "`lam` must be at least 0, got -2.0"),
        (lambda r: r.stateless_binomial([2], SEED, 5, 1.5), ValueError, "and at most 1, got 1.5"),
        (lambda r: r.stateless_binomial([2], SEED, np.nan, 0.5), ValueError, "`counts`.*got nan"),
        (lambda r: r.stateless_gamma([3], SEED, [1.0, 2.0]), ValueError,
         r"alpha \(2,\), beta \(\) do not broadcast to shape=\(3,\)"),
        (lambda r: r.stateless_poisson([3], 1, 1.0), ValueError, "`seed` must be two integers"),
        (lambda r: r.Generator.from_key_counter(1, [0, 1], None), ValueError, "`counter` must be"),
        (lambda r: r.Generator.from_seed(1, "threefry"), ValueError, "'philox', got 'threefry'"),
        (lambda r: r.Generator.from_seed(1).uniform_full_int([2], tf.float32), TypeError,
         "integer dtype, got float32"),
        (lambda r: r.Generator(), ValueError, "Generator.from_seed"),
    ],
)  # fmt: skip
def test_bad_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call(tf.random)
