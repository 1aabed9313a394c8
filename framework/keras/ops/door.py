"""Operands of keras.ops: anything becomes a tensor, dtypes are promoted as Keras does."""

import numpy as np

from framework.core import dtypes
from framework.core.doors import cast, tensor
from framework.core.tensor import Tensor


def floating(x):
    """`x` as a tensor of a floating dtype: integers and booleans become floatx."""
    if type(x) is Tensor and x.array.dtype.kind == "f":
        return x
    x = tensor(x)
    return x if x.dtype.is_inexact else cast(x, dtype=dtypes.floatx().np)


def as_dtype(x, dtype):
    """`x` as a tensor of `dtype`."""
    return tensor(x, dtype, casts=True)


def summed_dtype(dtype):
    """What sums and products are made in: small integers and booleans widen to 32 bits."""
    if dtype.is_bool or dtype in ("int8", "int16"):
        return dtypes.int32
    return dtypes.uint32 if dtype in ("uint8", "uint16") else dtype


def ints(shape):
    """A shape or axes, an int, sequence or tensor, as a tuple; None stands for an unknown size."""
    if hasattr(shape, "__array__"):
        shape = np.asarray(shape).tolist()
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    return tuple(None if n is None else int(n) for n in shape)
