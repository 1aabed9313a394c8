"""Conversion of arguments of keras.ops: tensors, dtypes, shapes and axes."""

import numpy as np

from framework.core import dtypes
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.tensor import Tensor


def floating(x):
    """Return `x` as a tensor of a floating dtype; integers and booleans are cast to floatx."""
    if type(x) is Tensor and x.array.dtype.kind == "f":
        return x
    x = tensor(x)
    return x if x.dtype.is_inexact else cast(x, dtype=dtypes.floatx().np)


def as_dtype(x, dtype):
    """Return `x` as a tensor of `dtype`."""
    return tensor(x, dtype, casts=True)


def summed_dtype(dtype):
    """Return the dtype of sums and products; small integers and booleans widen to 32 bits."""
    if dtype.is_bool or dtype in ("int8", "int16"):
        return dtypes.int32
    return dtypes.uint32 if dtype in ("uint8", "uint16") else dtype


def ints(shape):
    """Return a shape or axes (an int, sequence or tensor) as a tuple; None is an unknown size."""
    if hasattr(shape, "__array__"):
        shape = np.asarray(shape).tolist()
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    return tuple(None if n is None else int(n) for n in shape)
