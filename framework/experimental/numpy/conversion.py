"""NumPy's dtype rules for tensors: conversion of values, promotion of dtypes.

Python numbers and lists of them become int64 or float64 if they are the only operands; otherwise
they take the dtype of the tensors or arrays.
`experimental_enable_numpy_behavior(prefer_float32=True)` replaces float64 by float32.
"""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import holds_tensors, tensor
from framework.core.numpy_rule import common_dtype, default_float, narrowed, python_dtype
from framework.core.tensor import Tensor


def asarray(a: TensorLike, dtype: DTypeLike = None) -> Any:
    """Return `a` as a tensor with the dtype that NumPy gives it.

    >>> asarray([1, 2]).dtype, asarray(1.5).dtype
    (tf.int64, tf.float64)
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        found = tensor(a) if not _is_python(a) else Tensor(np.asarray(a, dtype.np))
        return found if found.dtype is dtype else cast(found, dtype=dtype.np)
    if _is_python(a):
        return Tensor(np.asarray(a, python_dtype(a)))
    return tensor(a)


def array(val: TensorLike, dtype: DTypeLike = None, copy: bool = True, ndmin: int = 0) -> Any:
    """Return `val` as a tensor with at least `ndmin` axes; `copy` has no effect."""
    from framework.ops.movement import reshape

    made = asarray(val, dtype)
    if made.ndim < ndmin:
        made = reshape(made, shape=(1,) * (ndmin - made.ndim) + tuple(made.shape))
    return made


def _is_python(value):
    """Return whether a value has no dtype, such as a Python number or a list of numbers."""
    if isinstance(value, (list, tuple)):
        return not holds_tensors(value) and not any(hasattr(v, "dtype") for v in value)
    return not hasattr(value, "dtype")


def promoted(*values: TensorLike) -> list[Any]:
    """Return the values as tensors of the dtype to which NumPy promotes them."""
    dtype = common_dtype(values)
    return [asarray(v, dtype) for v in values]


def floats(*values: TensorLike) -> list[Any]:
    """Return the values as tensors of one floating or complex dtype; integers become float64."""
    made = promoted(*values)
    if made[0].dtype.is_inexact:
        return made
    return [cast(v, dtype=np.dtype(default_float())) for v in made]


def summed(a: TensorLike, dtype: DTypeLike = None) -> Any:
    """Cast `a` to the dtype that NumPy's `sum` returns: integers become int64 or uint64."""
    made = asarray(a, dtype)
    if dtype is not None or made.dtype.is_inexact:
        return made
    return cast(made, dtype=np.dtype(np.uint64 if made.dtype.np.kind == "u" else np.int64))


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype to which NumPy promotes operands or dtypes.

    >>> result_type(1, 2.0)
    tf.float64
    """
    return dtypes.as_dtype(common_dtype(arrays_and_dtypes, of_dtypes=True))


def promote_types(type1: DTypeLike, type2: DTypeLike) -> Any:
    """Return the dtype to which NumPy promotes two dtypes.

    >>> import numpy
    >>> promote_types(numpy.int32, numpy.float32)
    dtype('float64')
    """
    return narrowed(np.promote_types(dtypes.as_dtype(type1).np, dtypes.as_dtype(type2).np))
