"""Checking the output of every op for inf and NaN."""

from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.recorders import Recorder, push, remove, thread


class FiniteCheck(Recorder):
    """A recorder that raises at the first op whose output has inf or NaN."""

    # With True, optimizer updates and backward passes that would run as one fused function run op
    # by op, so that the output of each op is checked.
    replays = True

    def op(self, op, args, attrs, outputs, saved):
        for number, output in enumerate(outputs):
            array = output.array
            if array.dtype.kind in "fc" and not np.isfinite(array).all():
                raise InvalidArgumentError(_report(op, args, number, array))


def _report(op, args, number, array):
    nans, infs = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    inputs = ", ".join(_described(a) for a in args)
    return (
        f"check_numerics: output {number} of the op {op.name}, of shape {array.shape} and dtype "
        f"{array.dtype}, has {nans} NaN and {infs} inf among {array.size} elements. "
        f"Inputs: {inputs}."
    )


def _described(value):
    array = np.asarray(getattr(value, "array", value))
    text = f"shape {array.shape}, {array.dtype}"
    if array.dtype.kind not in "fciu" or not array.size:
        return text
    if not np.isfinite(array).all():
        return f"{text}, not finite"
    return text if array.dtype.kind == "c" else f"{text}, {array.min():.4g} to {array.max():.4g}"


def enable_check_numerics(stack_height_limit: Any = 30, path_length_limit: Any = 50) -> None:
    """Make every op in this thread raise if its output has inf or NaN.

    This includes backward passes and updates of optimizers, and makes all ops slower.

    Args:
        stack_height_limit, path_length_limit: ignored; Python's traceback shows the line.

    Raises:
        InvalidArgumentError: by later ops, if an output has inf or NaN; the message describes
            the op, its output and its inputs.

    >>> import framework as tf
    >>> tf.debugging.enable_check_numerics()
    >>> try:
    ...     tf.math.log([1.0, 0.0])
    ... except tf.errors.InvalidArgumentError as error:
    ...     "the op log" in error.message
    ... finally:
    ...     tf.debugging.disable_check_numerics()
    True
    """
    if not any(isinstance(r, FiniteCheck) for r in thread.stack):
        push(FiniteCheck())


def disable_check_numerics() -> None:
    """Undo `enable_check_numerics` in this thread; do nothing if it was not called."""
    for recorder in thread.stack:
        if isinstance(recorder, FiniteCheck):
            remove(recorder)
