"""Division. With integers, `/` returns floats, and `//` and `%` raise for a divisor of 0.

The caller has converted the operands: two tensors or arrays of one dtype, or one of them and a
number.
"""

import numpy as np

from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError
from framework.core.numpy_warnings import Context
from framework.core.op import no_derivative
from framework.core.promotion import promote
from framework.core.symbolic import broadcast_shapes
from framework.core.tensor import Tensor
from framework.ops import elementwise

# the largest `dtype.num` of boolean and integer dtypes; those of floats are larger
LAST_INTEGER = np.dtype(np.ulonglong).num
_context = Context(divide="raise")


def _refusing_zero(ufunc, sign):
    def forward(a, b):
        try:
            return _context.run(ufunc, a, b)
        except FloatingPointError:
            raise InvalidArgumentError(
                f"x {sign} y: integers cannot be divided by 0, but y contains a 0. Replace the "
                "zeros, or cast x and y to a floating dtype."
            ) from None

    return forward


def _whole(name, ufunc, sign):
    return elementwise.elementwise(
        name, _refusing_zero(ufunc, sign), no_derivative, no_derivative, inputs=("a", "b"),
        infer=lambda a, b: (broadcast_shapes(name, (a, b)), _dtype(a, b)), raises=True,
    )  # fmt: skip


whole_divide = _whole("whole_divide", np.floor_divide, "//")
whole_mod = _whole("whole_mod", np.mod, "%")


def floor_divide(x, y):
    """Return x // y; for floats the floor of the quotient, as in TensorFlow: 1.0 // 0.1 is 10."""
    if _dtype(x, y).kind in "iu":
        return whole_divide(x, y)
    return elementwise.floor(elementwise.divide(x, y))


def floor_mod(x, y):
    """Return x % y."""
    return (whole_mod if _dtype(x, y).kind in "iu" else elementwise.floor_mod)(x, y)


def true_divide(x, y):
    """Return x / y; integers are cast to floats as in TensorFlow."""
    return elementwise.divide(*in_floats(x, y))


def in_floats(x, y):
    """Cast integers to TensorFlow's dtype for division: float32 below 32 bits, else float64."""
    source = _dtype(x, y)
    if source.kind not in "iu":
        return x, y
    dtype = np.dtype(np.float32 if source.itemsize < 4 else np.float64)
    return cast(tensor(x), dtype=dtype), cast(tensor(y), dtype=dtype)


def _dtype(x, y):
    """Return the NumPy dtype of the operand that is not a Python number."""
    x = x if type(x) is Tensor or hasattr(x, "dtype") else y
    dtype = x.array.dtype if type(x) is Tensor else x.dtype
    return getattr(dtype, "np", dtype)


def promoted_floats(x, y):
    """Return operands promoted by Keras's rule for `/`: integers and booleans become floats."""
    x, y = promote(x, y)
    if as_dtype(x.dtype).is_inexact:
        return x, y
    dtype = floatx().np
    return cast(x, dtype=dtype), cast(y, dtype=dtype)
