"""Convert gradients to tensors, and report wrong or missing gradients."""

import warnings

import numpy as np

from framework.autodiff.notes import reasons_of_missing
from framework.core import dtypes
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


def as_gradient(grad):
    """Convert a gradient (a variable, IndexedSlices or an array) to a tensor."""
    if isinstance(grad, CoreVariable):
        return grad.read()
    if hasattr(grad, "_as_tensor"):
        return grad._as_tensor()
    if hasattr(grad, "array"):
        return grad
    if isinstance(grad, (np.ndarray, np.generic, int, float)):
        return Tensor(np.asarray(grad, getattr(grad, "dtype", dtypes.floatx().np)))
    raise InvalidArgumentError(
        f"apply_gradients: expected a tensor or None as gradient, got {type(grad).__name__}. "
        "Pass pairs (gradient, variable): optimizer.apply_gradients(zip(gradients, variables))."
    )


def mismatch_error(grad, variable):
    """Return the error for a gradient whose shape or dtype differs from its variable's."""
    aspect, error = ("dtype", DTypeError)
    if grad.array.shape != variable.array.shape:
        aspect, error = ("shape", ShapeError)
    return error(
        f"apply_gradients: the gradient of {path_of(variable)!r} has {aspect} "
        f"{getattr(grad.array, aspect)}, the variable {getattr(variable.array, aspect)}."
    )


def path_of(variable):
    """Return the name by which messages refer to a variable."""
    return getattr(variable, "path", None) or variable.name


def without_missing(grads, variables):
    """Drop each gradient that is None, and its variable; warn, or raise if all are None."""
    missing = [v for g, v in zip(grads, variables, strict=True) if g is None]
    kept = [(g, v) for g, v in zip(grads, variables, strict=True) if g is not None]
    _report_missing(missing, kept)
    return [g for g, _ in kept], [v for _, v in kept]


def _report_missing(missing, kept):
    names = ", ".join(repr(path_of(v)) for v in missing)
    reason = reasons_of_missing(missing)
    if not kept:
        reason = reason or "the loss does not depend on them through ops that the tape recorded"
        raise InvalidArgumentError(
            f"No gradients provided for any variable: {names}. {reason[0].upper()}{reason[1:]}."
        )
    reason = f": {reason}" if reason else ""
    warnings.warn(
        f"Gradients do not exist for variables {names} when minimizing the loss{reason}. If that "
        "is intended, leave them out of the gradient's sources.",
        stacklevel=6,
    )
