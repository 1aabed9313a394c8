"""Operands of rules: common dtypes, numbers beside tensors, and small integers."""

import numpy as np

from framework.saving.onnx.builder import Reference

_WIDE = {"int8", "uint8", "int16", "uint16"}


def promoted(b, *args):
    """Return References of one dtype: numbers take the dtype of the tensors, as in NumPy."""
    dtypes = [a.dtype if type(a) is Reference else a for a in args]
    numbers = [d for d in dtypes if not isinstance(d, np.dtype)]
    tensors = [d for d in dtypes if isinstance(d, np.dtype)]
    dtype = tensors[0]
    if len(set(tensors)) > 1 or (numbers and dtype.kind in "biu"):
        dtype = np.result_type(*tensors, *numbers)
    return [b.cast(a, dtype) if type(a) is Reference else b.constant(a, dtype) for a in args]


def wide(function):
    """Decorate a rule: 8- and 16-bit integers are computed as int32, which runtimes implement."""

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
