"""NumPy's dtype promotion: always for `tf.experimental.numpy`, and for operators if it is enabled.

`core/promotion.py` has TensorFlow's rule and Keras's.
"""

import numpy as np

from framework.core import dtypes
from framework.core.errors import DTypeError, InvalidArgumentError

MODES = ("off", "legacy", "safe", "all")


class _NumpyRule:
    """The settings of `experimental_enable_numpy_behavior`.

    `mode` is "off" or one of TensorFlow's modes: "legacy" (NumPy's rule), "all" (Keras's rule) or
    "safe" (Keras's rule; a dtype that cannot hold the values of an operand is an error).
    """

    mode = "off"
    prefer_float32 = False


settings = _NumpyRule()


def enable(prefer_float32=False, mode="legacy"):
    """Enable NumPy's dtype promotion for the operators of tensors."""
    if mode not in MODES:
        raise InvalidArgumentError(
            f"dtype_conversion_mode: expected one of {list(MODES)}, got {mode!r}."
        )
    settings.mode, settings.prefer_float32 = mode, bool(prefer_float32)


def default_float():
    """Return the NumPy dtype for Python floats."""
    return np.float32 if settings.prefer_float32 else np.float64


def narrowed(dtype):
    """Return the 32-bit variant of a NumPy dtype if `prefer_float32` is set, else the dtype
    itself."""
    narrow = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    return np.dtype(narrow.get(dtype, dtype)) if settings.prefer_float32 else dtype


def python_dtype(value):
    """Return the NumPy dtype of Python numbers or a nest of them."""
    found = np.asarray(value)
    if found.dtype.kind in "US":
        return np.dtype(object)
    return narrowed(found.dtype)


def common_dtype(values, of_dtypes=False):
    """Return the NumPy dtype to which the operands are promoted.

    Args:
        values: tensors, arrays, Python numbers and lists of them.
        of_dtypes: whether `values` also contains dtypes.
    """
    typed, weak = [], []
    for value in values:
        dtype = getattr(value, "dtype", None)
        if of_dtypes and (isinstance(value, (type, dtypes.DType, np.dtype, str))):
            dtype = value
        if dtype is not None:
            typed.append(dtypes.as_dtype(dtype))
        else:
            weak.append(python_dtype(value))
    if settings.mode in ("all", "safe") and typed:
        kinds = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
        found = dtypes.result_type(*typed, *(kinds[w.kind] for w in weak)).np
        if settings.mode == "safe":
            _check_safe(typed, found)
        return found
    if not typed:
        return narrowed(np.result_type(*weak))
    scalars = {"b": True, "i": 1, "u": 1, "f": 1.0, "c": 1j}
    found = np.result_type(*(d.np for d in typed))
    for dtype in weak:
        found = np.result_type(found, scalars.get(dtype.kind, dtype))
    return narrowed(found)


def _check_safe(typed, found):
    lost = [d for d in typed if not np.can_cast(d.np, found, "safe")]
    if lost:
        raise DTypeError(
            f"Operands of dtypes {', '.join(map(str, typed))}: their common dtype "
            f"{dtypes.as_dtype(found)} cannot hold all values of {lost[0]}. Cast one of them, or "
            'use dtype_conversion_mode="all".'
        )
