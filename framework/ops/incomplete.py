"""Special functions of several arguments: incomplete gamma and beta, Hurwitz's zeta, polygamma.

The attribute n of `igamma` and `gamma_density` selects their n-th derivative with respect to a.
"""

from framework.core.op import elementwise, no_derivative
from framework.kernels import gamma, incomplete
from framework.ops.elementwise import divide, log, log1p
from framework.ops.special import digamma


def _over(a, x):
    """Return (a - 1) / x, the derivative of (a - 1) log x; 0 where a is 1."""
    return divide(a - 1, x)


# ---- incomplete gamma ----------------------------------------------------------------------------


def _density_by_x(g, y, a, x, n):
    slope = (_over(a, x) - 1) * y
    if n:
        slope = slope + divide(gamma_density(a, x, n=n - 1) * n, x)
    return g * slope


igamma = elementwise(
    "igamma", incomplete.igamma,
    lambda g, a, x, n: g * igamma(a, x, n=n + 1),
    lambda g, a, x, n: g * gamma_density(a, x, n=n),
)  # fmt: skip
igammac = elementwise(
    "igammac", incomplete.igammac,
    lambda g, a, x: g * igamma(a, x, n=1) * -1.0,
    lambda g, a, x: g * gamma_density(a, x, n=0) * -1.0,
)  # fmt: skip
# `gamma_density` is the density of the gamma distribution: the derivative of `igamma` with respect
# to x.
gamma_density = elementwise(
    "gamma_density", incomplete.gamma_density,
    lambda g, a, x, n: g * gamma_density(a, x, n=n + 1), _density_by_x,
)  # fmt: skip


# ---- incomplete beta -----------------------------------------------------------------------------

# As in TensorFlow, `betainc` has no derivative with respect to a and b.
betainc = elementwise(
    "betainc", incomplete.betainc, no_derivative, no_derivative,
    lambda g, a, b, x: g * beta_density(a, b, x),
)  # fmt: skip
# `beta_density` is the density of the beta distribution: the derivative of `betainc` with respect
# to x.
beta_density = elementwise(
    "beta_density", incomplete.beta_density,
    lambda g, y, a, b, x: g * y * (log(x) - digamma(a) + digamma(a + b)),
    lambda g, y, a, b, x: g * y * (log1p(x * -1.0) - digamma(b) + digamma(a + b)),
    lambda g, y, a, b, x: g * y * (_over(a, x) - _over(b, x * -1.0 + 1)),
)  # fmt: skip


# ---- zeta and polygamma --------------------------------------------------------------------------

# As in TensorFlow, there is no derivative of zeta with respect to x, nor of polygamma with respect
# to its order a.
zeta = elementwise("zeta", gamma.zeta, no_derivative, lambda g, x, q: g * x * zeta(x + 1, q) * -1.0)
polygamma_of = elementwise(
    "polygamma_of", gamma.polygamma_of, no_derivative, lambda g, a, x: g * polygamma_of(a + 1, x)
)
