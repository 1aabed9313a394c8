"""Conversion of NumPy's errors to the errors that ops raise for unsuitable arrays."""

import numpy as np

from framework.core.errors import (
    DTypeError,
    FrameworkError,
    InvalidArgumentError,
    ShapeError,
    refused_booleans,
    unfit,
)

# AttributeError: for arrays of objects, such as strings
OF_NUMPY = ValueError, OverflowError, TypeError, AttributeError
"""What NumPy raises for arrays that do not fit an op."""

_SHAPES = ("broadcast", "mismatch", "shapes", "dimension")  # words in NumPy's errors about shapes


def misfit(name, computed, error, arrays):
    """Convert an error of NumPy to the error that an op raises.

    Shape mismatches become a ShapeError that names the op, dtypes without a kernel a DTypeError,
    ints out of range an InvalidArgumentError; other errors are returned unchanged.

    Args:
        name: the name of the op.
        computed: the function that raised the error, maybe a ufunc.
        error: one of `OF_NUMPY`.
        arrays: the op's inputs.
    """
    if isinstance(error, OverflowError):
        return _overflow(name, arrays) or error
    if isinstance(error, (TypeError, AttributeError)):
        return _bad_dtype(name, computed, arrays, error) or error
    if "negative integer powers" in str(error):
        return InvalidArgumentError(f"{name}: {error} Cast the integers to floats.")
    if isinstance(error, FrameworkError) or not any(word in str(error) for word in _SHAPES):
        return error
    shapes = ", ".join(str(np.shape(a)) for a in arrays)
    versus = " vs. ".join(str(list(np.shape(a))) for a in arrays)
    return ShapeError(
        f"{name}: the shapes {shapes} do not fit together: Incompatible shapes: {versus}."
    )


def _bad_dtype(name, computed, arrays, error):
    """Return the error for arrays of a dtype that the op does not compute, otherwise None."""
    dtypes = {np.asarray(a).dtype: None for a in arrays}
    kinds = {dtype.kind for dtype in dtypes}
    if kinds & set("OSU"):
        return DTypeError(f"{name}: expected numbers, got strings.")
    if isinstance(error, AttributeError) or "ufunc" not in str(error):
        return refused_booleans(name) if kinds == {"b"} else None
    types = computed.types if isinstance(computed, np.ufunc) else ()
    accepted = {np.dtype(signature[0]).kind for signature in types} - {"O"}
    if kinds == {"b"} and "b" not in accepted:
        return refused_booleans(name)
    got = " and ".join(map(str, dtypes))
    if "c" in kinds and "f" in accepted:
        told = "real numbers", "Pass tf.math.real(x) or tf.abs(x)."
    elif "f" not in accepted and "i" in accepted:
        told = "integers" + " or booleans" * ("b" in accepted), "Cast it: tf.cast(x, tf.int32)."
    else:
        return DTypeError(f"{name}: there is no kernel for dtype {got}.")
    return DTypeError(f"{name}: expected {told[0]}, got dtype {got}. {told[1]}")


def _overflow(name, arrays):
    """Return an error if a Python int does not fit the dtype of the arrays, otherwise None."""
    found = {a.dtype for a in arrays if type(a) is np.ndarray}
    for dtype in found if len(found) == 1 else ():
        for number in arrays:
            if type(number) is int and dtype.kind in "iu" and (reason := unfit(number, dtype)):
                return InvalidArgumentError(f"{name}: {reason}")
    return None
