"""Special functions. Each has derivatives of every order."""

from framework.core.errors import InvalidArgumentError
from framework.core.promotion import floating
from framework.ops import reduction
from framework.ops import special as ops


def erfc(x, name=None):
    """Return 1 - erf(x), accurate where it is small."""
    return ops.erfc(floating(x, "erfc"))


def erfinv(x, name=None):
    """Return the inverse of erf; ±inf at ±1, NaN beyond."""
    return ops.erfinv(floating(x, "erfinv"))


def erfcinv(x, name=None):
    """Return the inverse of erfc; inf at 0, -inf at 2, NaN beyond."""
    return ops.erfcinv(floating(x, "erfcinv"))


def ndtri(x, name=None):
    """Return the quantile of the standard normal distribution at probability x.

    >>> import framework as tf
    >>> tf.math.ndtri([0.025, 0.5]).numpy().round(2)
    array([-1.96, -0.  ], dtype=float32)
    """
    return ops.ndtri(floating(x, "ndtri"))


def lgamma(x, name=None):
    """Return log|Γ(x)|; inf at 0 and the negative integers."""
    return ops.lgamma(floating(x, "lgamma"))


def digamma(x, name=None):
    """Return the derivative of log Γ(x); NaN at 0 and the negative integers."""
    return ops.digamma(floating(x, "digamma"))


def lbeta(x, name=None):
    """Return log|B(x)|, the log of the multivariate beta function along the last axis.

    >>> import framework as tf
    >>> tf.math.lbeta([1.0, 2.0]).numpy()
    np.float32(-0.6931472)
    """
    x = floating(x, "lbeta")
    if not x.ndim:
        raise InvalidArgumentError("lbeta: expected rank 1 or more, got a 0-d tensor.")
    last = (x.ndim - 1,)
    logs = reduction.reduce_sum(ops.lgamma(x), axis=last, keepdims=False)
    return logs - ops.lgamma(reduction.reduce_sum(x, axis=last, keepdims=False))


def bessel_i0(x, name=None):
    """Return the modified Bessel function of the first kind of order 0."""
    return ops.bessel_i0(floating(x, "bessel_i0"))


def bessel_i1(x, name=None):
    """Return the modified Bessel function of the first kind of order 1."""
    return ops.bessel_i1(floating(x, "bessel_i1"))


def bessel_i0e(x, name=None):
    """Return exp(-|x|) bessel_i0(x), which never overflows."""
    return ops.bessel_i0e(floating(x, "bessel_i0e"))


def bessel_i1e(x, name=None):
    """Return exp(-|x|) bessel_i1(x), which never overflows."""
    return ops.bessel_i1e(floating(x, "bessel_i1e"))
