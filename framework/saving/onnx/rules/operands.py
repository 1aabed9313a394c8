"""Conversion of operands: common dtypes, Python numbers beside tensors, and small integers."""

import numpy as np

from framework.saving.onnx.builder import Reference
from framework.saving.onnx.sizes import Size

_WIDE = {"int8", "uint8", "int16", "uint16"}


def promoted(b, *args):
    """Return References of one dtype: Python numbers get the dtype of the tensors, as in NumPy."""
    tensors = [a.dtype for a in args if type(a) is Reference]
    numbers = [0 if type(a) is Size else a for a in args if type(a) is not Reference]
    dtype = tensors[0]
    if len(set(tensors)) > 1 or (numbers and dtype.kind in "biu"):
        dtype = np.result_type(*tensors, *numbers)
    return [as_reference(b, a, dtype) for a in args]


def as_reference(b, value, dtype):
    """Convert a Reference, a number or a Size to a Reference of `dtype`."""
    if type(value) is Size:
        return b.cast(b.squeeze(b.size(value), 0), dtype)
    return b.cast(value, dtype) if type(value) is Reference else b.constant(value, dtype)


def wide(function):
    """Decorate a rule to compute 8- and 16-bit integers as int32, which runtimes implement."""

    def widened(b, *args, **attrs):
        args = promoted(b, *args)
        dtype = args[0].dtype
        if dtype.name not in _WIDE:
            return function(b, *args, **attrs)
        y = function(b, *(b.cast(a, np.int32) for a in args), **attrs)
        return b.cast(y, dtype) if y.dtype == np.int32 else y

    return widened


def number(b, value, ref):
    """Return a number as a constant of the dtype of `ref`."""
    return b.constant(value, ref.dtype)
