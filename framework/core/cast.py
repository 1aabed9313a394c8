"""The op `cast`; it is in core because the conversion of operands needs it."""

import numpy as np

from framework.core import dtypes
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op


@no_warnings
def _cast(x, *, dtype):
    x = np.asarray(x)
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    return x.astype(dtype)


def _cast_vjp(g, x_dtype, dtype):
    """Return the cotangent in the input's dtype; None if a dtype is not floating or complex."""
    differentiable = dtypes.as_dtype(x_dtype).is_inexact and dtypes.as_dtype(dtype).is_inexact
    return cast(g, dtype=x_dtype) if differentiable else None


cast = Op("cast", _cast, _cast_vjp, kind="elementwise")
