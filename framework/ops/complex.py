"""Complex numbers, their real and imaginary parts, angle and squared absolute value.

In derivative rules, the cotangent g is the conjugate of TensorFlow's gradient: dL = Re(g dz), see
`GradientTape`.
"""

import numpy as np

from framework.core.cast import cast
from framework.core.tensor import Tensor
from framework.ops.elementwise import binary, conj, divide, multiply, negative, square, unary, zero
from framework.ops.reduction import np_dtype


def is_complex(x):
    """Return whether an array or tensor has a complex dtype."""
    return (x.array.dtype if type(x) is Tensor else np_dtype(x)).kind == "c"


def _real_vjp(g, x_dtype):
    return cast(g, dtype=x_dtype)


def _imag_vjp(g, x_dtype):
    return cast(g, dtype=x_dtype) * -1j if x_dtype.kind == "c" else zero(g)


def _complex(a, b):
    a, b = np.broadcast_arrays(a, b)
    z = np.empty(a.shape, np.complex64 if a.dtype == np.float32 else np.complex128)
    z.real, z.imag = a, b
    return z


def _angle_vjp(g, x):
    """Return the cotangent of `angle`'s input, by d angle = Im(dx / x); 0 for a real number."""
    return divide(cast(g, dtype=np_dtype(x)) * -1j, x) if is_complex(x) else zero(g)


real = unary("real", lambda x: np.real(x), _real_vjp)
imag = unary("imag", lambda x: np.imag(x), _imag_vjp)
angle = unary("angle", lambda x: np.angle(x).astype(np.real(x).dtype), _angle_vjp)
complex_ = binary("complex", _complex, lambda g: real(g), lambda g: negative(imag(g)))


def conjugated(x):
    """Return the conjugate of a complex `x`, and a real `x` unchanged."""
    return conj(x) if is_complex(x) else x


def squared_size(x):
    """Return |x|², which is real for complex `x` too."""
    return real(multiply(conj(x), x)) if is_complex(x) else square(x)
