"""Why a gradient is None, zero, or what it is, in one sentence.

The record, and beside it the notes, are a graph of serials. A gradient is None because every path
from the source ends before it reaches the target; the sentence says where, and what helps. Under a
trace the journal knows the whole graph, recorded or not, and the place is exact.
"""

from framework.autodiff import notes, zeros
from framework.autodiff.paths import ends_of, forward, joined, links_of, only_blocked
from framework.autodiff.sources import described, forgotten, label, unwatched
from framework.autodiff.traced import traced
from framework.autodiff.verdict import Verdict
from framework.core import dtypes
from framework.core.recorders import thread


def sentence(tape, targets, source):
    """The answer of `tape.explain` for one source."""
    verdict = _of_values(targets, source) or why(tape, [t.serial for t in targets], source)
    if verdict is None:
        verdict = zeros.verdict(tape, targets, source, serials_of(tape, source))
    if verdict.value == "connected":
        return f"The gradient is neither None nor zero: {verdict.reason}."
    remedy = f": {verdict.remedy}" if verdict.remedy else ""
    return f"The gradient is {verdict.value} because {verdict.reason}{remedy}."


class Missing:
    """Why a tape had no gradient for some sources; kept in `thread.missing` until the next one.

    Args:
        tape: a function that gives the tape, or None when it is gone.
        targets: serials.
    """

    def __init__(self, tape, targets):
        self._tape, self._targets = tape, targets
        self._texts = {}  # serial of a variable -> the reason

    def of(self, tape):
        return self._tape() is tape

    def told(self, variables):
        """The same for these variables, known without the tape."""
        found = Missing(lambda: None, ())
        found._texts = {v.serial: self._text(v) for v in variables}
        return found

    def _text(self, variable):
        tape = self._tape()
        if tape is None or not notes.was_missed(tape, variable):
            return self._texts.get(variable.serial, "")
        verdict = _of_source(variable) or why(tape, self._targets, variable)
        if verdict is None:
            return ""
        return f"{verdict.reason}: {verdict.remedy}" if verdict.remedy else verdict.reason

    def reasons(self, variables):
        """One text for all; variables for which the reason is the same are told once."""
        found = {}
        for variable in variables:
            found.setdefault(self._text(variable), []).append(label(variable))
        found.pop("", None)
        if len(found) <= 1:
            return next(iter(found), "")
        return "; ".join(f"for {', '.join(names)}: {reason}" for reason, names in found.items())


def missing(variables):
    """Why the last walk back in this thread found nothing for `variables`; "" if not known."""
    return "" if thread.missing is None else thread.missing.reasons(variables)


def why(tape, targets, source):
    """The verdict where it is None; None where the target depends on the source.

    Args:
        targets: serials.
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


# ---- what needs no record ------------------------------------------------------------------------


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
        "make it GradientTape(persistent=True), or ask explain() first",
    )  # fmt: skip


# ---- where the paths end -------------------------------------------------------------------------


def _disconnected(tape, targets, mine):
    """From what the record and the notes say, without a journal."""
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
        "use the source in the computation of the target, or leave it out",
    )  # fmt: skip
