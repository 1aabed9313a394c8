"""Explanations for a source that the tape did not record: unwatched, another object, or reset."""

import numpy as np

from framework.autodiff import notes
from framework.autodiff.debug.explanation import Explanation
from framework.autodiff.debug.gradient_paths import label
from framework.autodiff.debug.rebound_names import rebound
from framework.autodiff.debug.recorded_ops import steps
from framework.core import dtypes
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


def described(source):
    if isinstance(source, CoreVariable):
        return f"the variable {label(source)}"
    array = source.array
    return f"the source, a {dtypes.of_array(array)} tensor of shape {array.shape},"


def forgotten(tape, targets, source, mine):
    for kind, _, _, serials, *_ in tape._notes:
        if kind is notes.RESET and not serials.isdisjoint({*mine, *targets}):
            lost = described(source) if not serials.isdisjoint(mine) else "the target"
            if not ({*mine} if lost != "the target" else {*targets}) & tape._tracked:
                verb = "was watched" if lost != "the target" else "was computed"
                return Explanation(
                    "None", f"tape.reset() forgot the record in which {lost} {verb}",
                    "compute the target after reset(), and watch the source again",
                )  # fmt: skip
    return None


def unwatched(tape, source, mine):
    if not mine.isdisjoint(tape._tracked):
        return None
    if isinstance(source, CoreVariable):
        return _unwatched_variable(tape, source)
    return rebound(source) or _another_object(tape, source) or Explanation(
        "None", f"{described(source)} was never watched by this tape",
        "call tape.watch(x) inside the `with` block before x is used, or make x a tf.Variable",
    )  # fmt: skip


def _unwatched_variable(tape, variable):
    name = label(variable)
    if variable.serial in tape._variables:
        return Explanation(
            "None", f"the variable {name} was watched but not used while this tape recorded",
            "use the variable inside the `with` block",
        )  # fmt: skip
    if not variable.trainable:
        return Explanation(
            "None", f"the variable {name} has trainable=False and was never watched",
            "call tape.watch(variable), or set trainable=True",
        )  # fmt: skip
    if not tape._watch_accessed:
        return Explanation(
            "None", f"the variable {name} was never watched: this tape was created with "
            "watch_accessed_variables=False", "call tape.watch(variable) inside the `with` block",
        )  # fmt: skip
    twin = _equal_variable(tape, variable)
    if twin is not None:
        return Explanation(
            "None", f"the variable {name} is another object than the one used, {label(twin)}, "
            "which has the same value", "pass the variable that the computation reads",
        )  # fmt: skip
    paused = "inside stop_recording(), " * any(kind is notes.PAUSED for kind, *_ in tape._notes)
    return Explanation(
        "None", f"the variable {name} was not used while this tape recorded: the target does not "
        f"depend on it, or was computed {paused}before or outside the tape",
        "compute the target from the variable inside the `with` block",
    )  # fmt: skip


def _another_object(tape, source):
    """Return the Explanation if the tape recorded another object with the value of the source."""
    array = source.array
    twin = _equal_variable(tape, source)
    if twin is not None:
        return Explanation(
            "None", f"{described(source)} is another object than the one used: it has the value of "
            f"the variable {label(twin)}", "pass the variable itself as the source",
        )  # fmt: skip
    watched = [what for kind, _, what, *_ in tape._notes if kind is notes.WATCHED]
    for reference, shape, dtype in watched:
        other = reference()
        if (shape, dtype) == (array.shape, array.dtype):
            same = other is not None and np.array_equal(other.array, array)
            detail = " of the same value" if same else " of the same shape and dtype"
            if same or other is None:
                return Explanation(
                    "None", f"{described(source)} is another object than the one that was watched, "
                    f"a tensor{detail}",
                    "pass the same object that was watched and used; a tensor computed anew, or "
                    "a name bound again, is a different one",
                )  # fmt: skip
    for value in _kept(tape):
        if value.array.shape == array.shape and np.array_equal(value.array, array):
            return Explanation(
                "None", f"{described(source)} is another object than the one used: an equal tensor "
                "is on the tape, but this one was computed anew outside it",
                "keep the tensor that was computed inside the `with` block, and pass that",
            )  # fmt: skip
    return None


def _equal_variable(tape, source):
    array = source.array
    for variable in tape.watched_variables():
        other = variable.array
        if variable is not source and other.dtype == array.dtype and np.array_equal(other, array):
            return variable
    return None


def _kept(tape):
    """Return the tracked tensors that the record keeps."""
    found = {}
    for step in steps(tape):
        for _, reads in step.edges:
            for value in reads.values():
                if type(value) is Tensor and value.serial in tape._tracked:
                    found[value.serial] = value
    return found.values()
