"""Explain in a sentence why a gradient is None or zero, or how the target depends on a source.

The record and the notes of a tape form a graph of tensors, identified by serial numbers. A gradient
is None because every path from the source ends before the target; the sentence says where, and
names a remedy. Under `debugging.trace()` the event log has all ops, recorded or not, and source
lines.
"""

from framework.autodiff import notes
from framework.autodiff.debug.explain_sources import described, forgotten, unwatched
from framework.autodiff.debug.explain_traced import traced
from framework.autodiff.debug.explain_zeros import explain_zero
from framework.autodiff.debug.explanation import Explanation
from framework.autodiff.debug.gradient_paths import ends_of, forward, joined, links_of, only_blocked
from framework.core import dtypes


def sentence(tape, targets, source):
    """Return the sentence that `tape.explain` shows for one source."""
    explanation = _of_values(targets, source) or why(tape, [t.serial for t in targets], source)
    if explanation is None:
        explanation = explain_zero(tape, targets, source, serials_of(tape, source))
    if explanation.value == "connected":
        return f"The gradient is neither None nor zero: {explanation.reason}."
    remedy = f": {explanation.remedy}" if explanation.remedy else ""
    return f"The gradient is {explanation.value} because {explanation.reason}{remedy}."


def reason_of_none(tape, targets, variable):
    """Return why the gradient of a variable is None, with a remedy; "" if the gradient is not None.

    Args:
        targets: the targets' serials.
    """
    explanation = _of_source(variable) or why(tape, targets, variable)
    if explanation is None:
        return ""
    return ": ".join(filter(None, [explanation.reason, explanation.remedy]))


def why(tape, targets, source):
    """Return the Explanation of a gradient of None, or None if the target depends on the source.

    Args:
        targets: the targets' serials.
    """
    mine = serials_of(tape, source)
    if tape._event_log is not None:
        explanation = traced(tape, targets, source, mine)
        if explanation is not None:
            return explanation
    return (
        forgotten(tape, targets, source, mine)
        or unwatched(tape, source, mine)
        or _used_up(tape, source)
        or _disconnected(tape, targets, mine)
    )


# ---- reasons that do not depend on the record ----------------------------------------------------


def _of_values(targets, source):
    if all(t.array.dtype.kind not in "fcV" for t in targets):
        dtype = dtypes.of_array(targets[0].array)
        return Explanation(
            "None", f"the target has dtype {dtype}, and only floating and complex values have "
            "gradients", "compute the target from floats, such as tf.cast(x, tf.float32)",
        )  # fmt: skip
    return _of_source(source)


def _of_source(source):
    if source.array.dtype.kind in "fcV":
        return None
    dtype = dtypes.of_array(source.array)
    return Explanation(
        "None", f"{described(source)} has dtype {dtype}, and only floating and complex values have "
        "gradients", "make the source float32, by 3.0 rather than 3, or tf.cast(x, tf.float32)",
    )  # fmt: skip


def serials_of(tape, source):
    found = set(tape._serials_of([source]))
    found.add(source.serial)
    found.discard(None)
    return found


def _used_up(tape, source):
    if not tape._consumed or tape._edges or notes.was_missed(tape, source):
        return None
    if tape._fresh:
        return Explanation(
            "None", "the tape was never entered", "compute the target inside `with tape:`"
        )
    return Explanation(
        "None", "the tape's record was used up by an earlier gradient()",
        "create the tape by GradientTape(persistent=True), or call explain() before gradient()",
    )  # fmt: skip


# ---- ops at which paths end ----------------------------------------------------------------------


def _disconnected(tape, targets, mine):
    """Return the Explanation from the record and the notes, without an event log."""
    links = links_of(tape)
    reached = forward(links, mine)
    if not reached.isdisjoint(targets) and not only_blocked(links, mine, targets):
        return None
    ends = ends_of(tape, links, reached)
    if ends:
        return Explanation("None", *joined(ends))
    if not any(t in tape._tracked for t in targets):
        paused = any(kind is notes.PAUSED for kind, *_ in tape._notes)
        how = (
            "inside stop_recording(), or before or outside the tape" if paused
            else "before or outside the tape, or from values that do not descend from the source"
        )  # fmt: skip
        return Explanation(
            "None", f"the target was not computed while this tape recorded: it was computed {how}",
            "compute the target inside the `with` block, after watching the source",
        )  # fmt: skip
    return Explanation(
        "None", "nothing that the target depends on was computed from the source",
        "use the source in the computation of the target, or leave the source out of the sources",
    )  # fmt: skip
