"""One sentence that explains why a gradient is None or zero, or how the target depends on a source.

The record and the notes of a tape are a graph of serials. A gradient is None because every path
from the source ends before the target; the sentence names that place and a remedy. Under
`debugging.trace()` the journal has all ops, recorded or not, and source lines.
"""

from framework.autodiff import notes, zeros
from framework.autodiff.paths import ends_of, forward, joined, links_of, only_blocked
from framework.autodiff.sources import described, forgotten, label, unwatched
from framework.autodiff.traced import traced
from framework.autodiff.verdict import Verdict
from framework.core import dtypes
from framework.core.recorders import thread


def sentence(tape, targets, source):
    """Return the sentence of `tape.explain` for one source."""
    verdict = _of_values(targets, source) or why(tape, [t.serial for t in targets], source)
    if verdict is None:
        verdict = zeros.verdict(tape, targets, source, serials_of(tape, source))
    if verdict.value == "connected":
        return f"The gradient is neither None nor zero: {verdict.reason}."
    remedy = f": {verdict.remedy}" if verdict.remedy else ""
    return f"The gradient is {verdict.value} because {verdict.reason}{remedy}."


class Missing:
    """Sources that got no gradient from a tape; `thread.missing` holds the latest instance.

    Args:
        tape: a function that returns the tape, or None once it is freed.
        targets: the targets' serials.
    """

    def __init__(self, tape, targets):
        self._tape, self._targets = tape, targets
        self._texts = {}  # serial of a variable -> the reason

    def of(self, tape):
        return self._tape() is tape

    def explained(self, variables):
        """Return a copy with the reasons for these variables, which needs no tape."""
        copy = Missing(lambda: None, ())
        copy._texts = {v.serial: self._text(v) for v in variables}
        return copy

    def _text(self, variable):
        tape = self._tape()
        if tape is None or not notes.was_missed(tape, variable):
            return self._texts.get(variable.serial, "")
        verdict = _of_source(variable) or why(tape, self._targets, variable)
        if verdict is None:
            return ""
        return f"{verdict.reason}: {verdict.remedy}" if verdict.remedy else verdict.reason

    def reasons(self, variables):
        """Return the reasons as one text; variables with the same reason are grouped."""
        by_reason = {}
        for variable in variables:
            by_reason.setdefault(self._text(variable), []).append(label(variable))
        by_reason.pop("", None)
        if len(by_reason) <= 1:
            return next(iter(by_reason), "")
        return "; ".join(f"for {', '.join(names)}: {reason}" for reason, names in by_reason.items())


def missing(variables):
    """Return why this thread's last backward pass gave `variables` no gradient; "" if unknown."""
    return "" if thread.missing is None else thread.missing.reasons(variables)


def why(tape, targets, source):
    """Return the Verdict of a gradient that is None; None if the target depends on the source.

    Args:
        targets: the targets' serials.
    """
    mine = serials_of(tape, source)
    if tape._journal is not None:
        verdict = traced(tape, targets, source, mine)
        if verdict is not None:
            return verdict
    return (
        forgotten(tape, targets, source, mine)
        or unwatched(tape, source, mine)
        or _used_up(tape, source)
        or _disconnected(tape, targets, mine)
    )


# ---- reasons that need no record -----------------------------------------------------------------


def _of_values(targets, source):
    if all(t.array.dtype.kind not in "fcV" for t in targets):
        dtype = dtypes.of_array(targets[0].array)
        return Verdict(
            "None", f"the target has dtype {dtype}, and only floating and complex values have "
            "gradients", "compute it in floating point, tf.cast(...) its inputs to float32",
        )  # fmt: skip
    return _of_source(source)


def _of_source(source):
    if source.array.dtype.kind in "fcV":
        return None
    dtype = dtypes.of_array(source.array)
    return Verdict(
        "None", f"{described(source)} has dtype {dtype}, and only floating and complex values have "
        "gradients", "make it float32, as 3.0 rather than 3, or by tf.cast(x, tf.float32)",
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
        return Verdict("None", "the tape was never entered", "compute inside `with tape:`")
    return Verdict(
        "None", "the tape's record was used up by an earlier gradient()",
        "make it GradientTape(persistent=True), or call explain() first",
    )  # fmt: skip


# ---- where the paths end -------------------------------------------------------------------------


def _disconnected(tape, targets, mine):
    """Return the Verdict from the record and the notes, without a journal."""
    links = links_of(tape)
    reached = forward(links, mine)
    if not reached.isdisjoint(targets) and not only_blocked(links, mine, targets):
        return None
    ends = ends_of(tape, links, reached)
    if ends:
        return Verdict("None", *joined(ends))
    if not any(t in tape._live for t in targets):
        paused = any(kind is notes.PAUSED for kind, *_ in tape._notes)
        how = (
            "inside stop_recording(), or before or outside the tape" if paused
            else "before or outside the tape, or from values that do not descend from the source"
        )  # fmt: skip
        return Verdict(
            "None", f"the target was not computed while this tape recorded: it was computed {how}",
            "compute it inside the `with` block, after watching the source",
        )  # fmt: skip
    return Verdict(
        "None", "nothing that the target depends on was computed from the source",
        "use the source in the computation of the target, or leave it out of the sources",
    )  # fmt: skip
