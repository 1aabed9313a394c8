"""Explanations under `debugging.trace()`, whose event log contains all ops, recorded or not."""

from framework.autodiff.debug.event_log import number_of
from framework.autodiff.debug.explain_sources import forgotten, unwatched
from framework.autodiff.debug.explanation import Explanation, where
from framework.autodiff.debug.gradient_paths import (
    LEAVING,
    Link,
    assigned_to,
    end_of,
    forward,
    joined,
    left_by,
    links_of,
)
from framework.autodiff.notes import PAUSED
from framework.core import dtypes


def traced(tape, targets, source, mine):
    """Return the Explanation that follows from the event log, or None."""
    entries = list(tape._event_log.entries)
    number = number_of(tape)
    pairs = [
        Link(e, i, o, e.layer, e.line)
        for e in entries if e.kind in ("op", "variable")
        for i in e.inputs for o in e.outputs
    ]  # fmt: skip
    path = forward(pairs, {source.serial} if source.serial else set())
    path &= forward([p._replace(input=p.output, output=p.input) for p in pairs], set(targets))
    if path.isdisjoint(targets) or not path:
        return _left_for_python(entries, pairs, source)
    recorded = {(link.input, link.output) for link in links_of(tape) if link.output is not None}
    recorded |= {(e.inputs[0], e.outputs[0]) for e in entries if e.kind == "variable"}
    live = {source.serial, *mine}
    for link in pairs:
        if (link.input, link.output) in recorded and link.input in live:
            live.add(link.output)
    if not live.isdisjoint(targets):
        return None
    for entry in entries:
        inputs = [i for i in entry.inputs if i in live and i in path]
        outputs = [o for o in entry.outputs if o in path]
        followed = any((i, o) in recorded for i in inputs for o in outputs)
        if entry.kind == "op" and inputs and outputs and not followed:
            return _break(tape, entry, entries, number, source, mine)
    return None


def _break(tape, entry, entries, number, source, mine):
    """Return the Explanation for the logged op at which the path from the source left the tape."""
    place = where(entry.layer, entry.line)
    what = f"the op {entry.what.name}"
    if number not in entry.tapes:
        return Explanation("None", f"{what}{place} ran {_outside(tape, entry, entries, number)}",
                       "compute the target inside the `with` block of the tape")  # fmt: skip
    if mine.isdisjoint(tape._tracked):
        explanation = forgotten(tape, (), source, mine) or unwatched(tape, source, mine)
        line = f"{explanation.reason}, though {what}{place} used it"
        return explanation._replace(reason=line.replace(",,", ","))
    if _flows(entry):
        lost = forgotten(tape, entry.outputs, source, mine)
        return lost or Explanation(
            "None", f"the source was watched only after {what}{place} had used it",
            "call tape.watch(x) before x is used",
        )  # fmt: skip
    dtype = None if entry.dtype is None else dtypes.as_dtype(entry.dtype)
    return Explanation("None", *end_of(entry.what, entry.layer, entry.line, dtype))


def _flows(entry):
    """Return whether the op has a derivative for the dtype of its output."""
    integer = entry.dtype is not None and entry.dtype.kind not in "fcV"
    return entry.what.derivative and not (entry.what.name == "cast" and integer)


def _outside(tape, entry, entries, number):
    """Return a text that says when an unrecorded op ran, relative to the tape's recording."""
    output = entry.outputs[0]  # Serials increase over time, so they show when the op ran.
    if any(kind is PAUSED and start < output < end for kind, start, end, *_ in tape._notes):
        return "inside stop_recording()"
    at = next(i for i, each in enumerate(entries) if each is entry)
    before = any(number in e.tapes for e in entries[:at])
    after = any(number in e.tapes for e in entries[at + 1 :])
    if before:
        return "while the tape was closed" if after else "after the tape was closed"
    return "before the tape was opened" if after else "outside the tape"


def _left_for_python(entries, pairs, source):
    """Return the Explanation if Python read a value computed from the source, otherwise None."""
    reached = forward(pairs, {source.serial} if source.serial else set())
    found = {}
    for entry in entries:
        if entry.kind == "value" and entry.what in LEAVING and entry.inputs[0] in reached:
            found.setdefault(*left_by(entry.what, entry.layer, entry.line))
        if entry.kind == "assign" and entry.inputs[0] in reached:
            found.setdefault(*assigned_to(entry.what, entry.layer, entry.line))
    return Explanation("None", *joined(found)) if found else None
