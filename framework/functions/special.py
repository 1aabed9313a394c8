"""Special functions. Each has derivatives of every order.

>>> import framework as tf
>>> tf.math.ndtri([0.025, 0.5]).numpy().round(2)
array([-1.96, -0.  ], dtype=float32)
"""

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import real_floating, strict_all
from framework.core.tensor import Tensor
from framework.functions.wrappers import Wrappers
from framework.ops import incomplete, numerics, reduction
from framework.ops import special as ops

tf = Wrappers(__name__)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """Return log|B(x)|, the log of the multivariate beta function along the last axis.

    >>> import framework as tf
    >>> tf.math.lbeta([1.0, 2.0]).numpy()
    np.float32(-0.6931472)
    """
    x = real_floating(x, "lbeta")
    if not x.ndim:
        raise InvalidArgumentError("lbeta: expected rank 1 or more, got a 0-d tensor.")
    last = (x.ndim - 1,)
    logs = reduction.reduce_sum(ops.lgamma(x), axis=last, keepdims=False)
    return logs - ops.lgamma(reduction.reduce_sum(x, axis=last, keepdims=False))


# ---- functions of several arguments --------------------------------------------------------------


def _several(op, *operands, **attributes):
    """Convert the operands to floating tensors of one dtype, and call `op` on them."""
    values = strict_all(*operands)
    return op(*(real_floating(v, op.name) for v in values), **attributes)


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return the lower regularized incomplete gamma function P(a, x).

    It is the integral of t^(a - 1) exp(-t) from 0 to x, divided by Γ(a); NaN unless a > 0 and
    x >= 0. It is differentiable with respect to both arguments.

    >>> import framework as tf
    >>> tf.math.igamma(1.0, 2.0).numpy().round(4)
    np.float32(0.8647)
    """
    return _several(incomplete.igamma, a, x, n=0)


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return 1 - igamma(a, x), accurate also for small results."""
    return _several(incomplete.igammac, a, x)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return the regularized incomplete beta function I_x(a, b).

    It is the integral of t^(a - 1) (1 - t)^(b - 1) from 0 to x, divided by B(a, b); NaN unless
    a, b > 0 and 0 <= x <= 1. As in TensorFlow, it is differentiable with respect to x only.

    >>> import framework as tf
    >>> tf.math.betainc(2.0, 2.0, 0.5).numpy()
    np.float32(0.5)
    """
    return _several(incomplete.betainc, a, b, x)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """Return Hurwitz's zeta function, the sum of (q + k)^-x over k = 0, 1, 2, ...

    It is NaN for x < 1 and infinite at x = 1. It is differentiable with respect to q only.

    >>> import framework as tf
    >>> tf.math.zeta(2.0, 1.0).numpy().round(4)
    np.float32(1.6449)
    """
    return _several(incomplete.zeta, x, q)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Return the derivative of order `a` of digamma(x).

    Args:
        a: non-negative integers in the dtype of `x`; elsewhere the result is NaN.
        x: floats.

    >>> import framework as tf
    >>> tf.math.polygamma(1.0, 1.0).numpy().round(4)
    np.float32(1.6449)
    """
    return _several(incomplete.polygamma_of, a, x)


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """Return the next float after `x1` in the direction of `x2`; the gradient goes to `x1`.

    >>> import framework as tf
    >>> float(tf.math.nextafter(1.0, 2.0) - 1.0) == 2**-23
    True
    """
    return _several(numerics.nextafter, x1, x2)
