"""Special functions. Each has derivatives of every order.

>>> import framework as tf
>>> tf.math.ndtri([0.025, 0.5]).numpy().round(2)
array([-1.96, -0.  ], dtype=float32)
"""

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import floating
from framework.core.tensor import Tensor
from framework.functions.wrappers import Wrappers, floats
from framework.ops import reduction
from framework.ops import special as ops

tf = Wrappers(__name__)

erfc = tf.unary(ops.erfc, "1 - erf({x}), accurate where it is small", floats)
erfinv = tf.unary(ops.erfinv, "the inverse of erf; ±inf at ±1, NaN beyond", floats)
erfcinv = tf.unary(ops.erfcinv, "the inverse of erfc; inf at 0, -inf at 2, NaN beyond", floats)
ndtri = tf.unary(
    ops.ndtri, "the quantile of the standard normal distribution at probability {x}", floats
)
lgamma = tf.unary(ops.lgamma, "log|Γ({x})|; inf at 0 and the negative integers", floats)
digamma = tf.unary(
    ops.digamma, "the derivative of log Γ({x}); NaN at 0 and the negative integers", floats
)
bessel_i0 = tf.unary(
    ops.bessel_i0, "the modified Bessel function of the first kind of order 0", floats
)
bessel_i1 = tf.unary(
    ops.bessel_i1, "the modified Bessel function of the first kind of order 1", floats
)
bessel_i0e = tf.unary(ops.bessel_i0e, "exp(-|{x}|) bessel_i0({x}), which never overflows", floats)
bessel_i1e = tf.unary(ops.bessel_i1e, "exp(-|{x}|) bessel_i1({x}), which never overflows", floats)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
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
