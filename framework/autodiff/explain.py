"""Why a gradient is None, zero, or what it is, in one sentence.

The record, and beside it the notes, are a graph of serials. A gradient is None because every path
from the source ends before it reaches the target; the sentence says where, and what helps. Under a
trace the journal knows the whole graph, recorded or not, and the place is exact.
"""

from typing import NamedTuple

import numpy as np

from framework.autodiff import notes, zeros
from framework.autodiff.journal import number_of
from framework.autodiff.record import Layers, steps
from framework.autodiff.verdict import Verdict, where
from framework.core import dtypes
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable


class Link(NamedTuple):
    """A step from one serial to another, or to nowhere (`output` None: it ends there)."""

    op: object
    input: int
    output: object
    layer: object
    line: str = ""


def sentence(tape, targets, source):
    """The answer of `tape.explain` for one source."""
    verdict = _of_values(targets, source) or why(tape, [t.serial for t in targets], source)
    if verdict is None:
        verdict = zeros.verdict(tape, targets, source, _serials(tape, source))
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
            found.setdefault(self._text(variable), []).append(_label(variable))
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
    mine = _serials(tape, source)
    if tape._journal is not None:
        verdict = _traced(tape, targets, source, mine)
        if verdict is not None:
            return verdict
    return (
        _forgotten(tape, targets, source, mine)
        or _unwatched(tape, source, mine)
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
        "None", f"{_the(source)} has dtype {dtype}, and only floating and complex values have "
        "gradients", "make it float32, as 3.0 rather than 3, or by tf.cast(x, tf.float32)",
    )  # fmt: skip


def _the(source):
    if isinstance(source, CoreVariable):
        return f"the variable {_label(source)}"
    array = source.array
    return f"the source, a {dtypes.of_array(array)} tensor of shape {array.shape},"


def _label(variable):
    return repr(getattr(variable, "path", None) or variable.name)


def _serials(tape, source):
    found = set(tape._serials_of([source]))
    found.add(source.serial)
    found.discard(None)
    return found


# ---- what the tape knows of the source -----------------------------------------------------------


def _forgotten(tape, targets, source, mine):
    for kind, _, _, serials, *_ in tape._notes:
        if kind is notes.RESET and not serials.isdisjoint({*mine, *targets}):
            lost = _the(source) if not serials.isdisjoint(mine) else "the target"
            if not ({*mine} if lost != "the target" else {*targets}) & tape._live:
                verb = "was watched" if lost != "the target" else "was computed"
                return Verdict(
                    "None", f"tape.reset() forgot the record in which {lost} {verb}",
                    "compute the target after reset(), and watch the source again",
                )  # fmt: skip
    return None


def _unwatched(tape, source, mine):
    if not mine.isdisjoint(tape._live):
        return None
    if isinstance(source, CoreVariable):
        return _unwatched_variable(tape, source)
    return _another_object(tape, source) or Verdict(
        "None", f"{_the(source)} was never watched by this tape",
        "call tape.watch(x) inside the `with` block before x is used, or make it a tf.Variable",
    )  # fmt: skip


def _unwatched_variable(tape, variable):
    label = _label(variable)
    if variable.serial in tape._variables:
        return Verdict(
            "None", f"the variable {label} was watched but not used while this tape recorded",
            "use it inside the `with` block",
        )  # fmt: skip
    if not variable.trainable:
        return Verdict(
            "None", f"the variable {label} has trainable=False and was never watched",
            "call tape.watch(variable), or set trainable=True",
        )  # fmt: skip
    if not tape._watch_accessed:
        return Verdict(
            "None", f"the variable {label} was never watched: this tape was made with "
            "watch_accessed_variables=False", "call tape.watch(variable) inside the `with` block",
        )  # fmt: skip
    twin = _equal_variable(tape, variable)
    if twin is not None:
        return Verdict(
            "None", f"the variable {label} is another object than the one used, {_label(twin)}, "
            "which has the same value", "pass the very variable that the computation reads",
        )  # fmt: skip
    return Verdict(
        "None", f"the variable {label} was not used while this tape recorded: the target does not "
        "depend on it, or was computed before or outside the tape",
        "compute the target from it inside the `with` block",
    )  # fmt: skip


def _another_object(tape, source):
    """The source looks like something on the tape, but is not it."""
    array = source.array
    twin = _equal_variable(tape, source)
    if twin is not None:
        return Verdict(
            "None", f"{_the(source)} is another object than the one used: it has the value of the "
            f"variable {_label(twin)}", "pass the variable itself",
        )  # fmt: skip
    watched = [what for kind, _, what, *_ in tape._notes if kind is notes.WATCHED]
    for reference, shape, dtype in watched:
        other = reference()
        if (shape, dtype) == (array.shape, array.dtype):
            same = other is not None and np.array_equal(other.array, array)
            detail = " of the same value" if same else " of the same shape and dtype"
            if same or other is None:
                return Verdict(
                    "None", f"{_the(source)} is another object than the one that was watched, "
                    f"a tensor{detail}",
                    "pass the very object that was watched and used; a tensor computed anew, or "
                    "a name bound again, is a different one",
                )  # fmt: skip
    for value in _kept(tape):
        if value.array.shape == array.shape and np.array_equal(value.array, array):
            return Verdict(
                "None", f"{_the(source)} is another object than the one used: an equal tensor is "
                "on the tape, but this one was computed anew outside it",
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
    """The live tensors that the record keeps."""
    found = {}
    for step in steps(tape):
        for _, reads in step.edges:
            for value in reads.values():
                if type(value) is Tensor and value.serial in tape._live:
                    found[value.serial] = value
    return found.values()


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
    links = _links(tape)
    reached = _forward(links, mine)
    if not reached.isdisjoint(targets) and not _only_blocked(links, mine, targets):
        return None
    ends = _ends(tape, links, reached)
    if ends:
        return Verdict("None", *_joined(ends))
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


def _only_blocked(links, mine, targets):
    """Whether what leads to the targets passes ops through which no gradient flows."""
    through = [link for link in links if link.output is not None]
    return _forward(through, mine).isdisjoint(targets)


def _links(tape):
    """What the tape recorded, as links; of a used-up tape, what its walk back did not meet."""
    layers = Layers(tape)
    found = []
    for step in steps(tape):
        for serial, reads in step.edges:
            blocked = _to_integers(step.op, reads)
            outputs = (None,) if blocked else step.outputs
            found += [Link(step.op, serial, o, step.layer, step.line) for o in outputs]
    layer = None
    for note in tape._notes:
        kind, index, what, serials = note[:4]
        if kind is notes.LAYER:
            layer = what
        elif kind is notes.CUT:
            found += [Link(what, s, None, layer) for s in serials]
        elif kind is notes.BLOCKED:
            found += [Link(what, s, None, layers.at(index)) for s in serials]
        elif kind is notes.UNMET:
            place = layers.at(index)
            found += [Link(what, s, o, place) for s in serials for o in note[4]]
    return found


def _to_integers(op, reads):
    """Whether an edge of this op passes no gradient for its dtypes' sake."""
    if op.name != "cast":
        return False
    kinds = [np.dtype(reads[name]).kind for name in ("x_dtype", "dtype") if name in reads]
    return any(kind not in "fcV" for kind in kinds)


def _forward(links, start):
    """All that descends from `start`."""
    after = {}
    for link in links:
        after.setdefault(link.input, []).append(link.output)
    found, open_ends = set(start), list(start)
    while open_ends:
        for output in after.get(open_ends.pop(), ()):
            if output is not None and output not in found:
                found.add(output)
                open_ends.append(output)
    return found


def _ends(tape, links, reached):
    """(reason, remedy) of each place where a path ends."""
    found = {}
    for link in links:
        if link.output is None and link.input in reached:
            found.setdefault(*_end_of(link.op, link.layer, link.line))
    layer = None
    for kind, _, what, serials, *_ in tape._notes:
        if kind is notes.LAYER:
            layer = what
        elif kind is notes.READ and what in LEAVING and not reached.isdisjoint(serials):
            found.setdefault(*_left_by(what, layer, ""))
    return found


LEAVING = {
    "numpy": ".numpy()", "__array__": "np.asarray()", "item": ".item()", "tolist": ".tolist()",
    "float": "float()", "int": "int()", "complex": "complex()", "index": "an index",
    "bool": "bool()", "convert": "a list of Python values",
}  # fmt: skip
"""By what a value leaves for Python, as users write it."""


def _left_by(how, layer, line):
    return (
        f"the value left the tape through {LEAVING[how]}{where(layer, line)}",
        "compute with tf functions, or NumPy functions called on the tensor itself",
    )


def _end_of(op, layer, line, dtype=None):
    """(reason, remedy) for an op through which no gradient flows."""
    place = where(layer, line)
    if op.name == "stop_gradient":
        return f"stop_gradient{place} cuts the path", "remove it, or use another path"
    if op.name == "cast":
        to = "an integer or boolean dtype" if dtype is None else str(dtype)
        return (
            f"a cast to {to}{place} has no derivative", "stay in a floating dtype on the way",
        )  # fmt: skip
    remedy = _REMEDIES.get(op.name, "use a differentiable op in its place")
    return f"the op {op.name}{place} has no derivative", remedy


_REMEDIES = {
    "argmax": "use softmax, or work with the values and not with their positions",
    "argmin": "use softmax of the negative, or work with the values and not with their positions",
    "round": "leave it out while training, or pass its gradient through by tf.grad_pass_through",
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
                    "use a smooth function such as sigmoid(a - b) in place of the comparison"),
}  # fmt: skip


def _joined(ends):
    """One reason and one remedy of several ends."""
    ends = list(ends.items())[:3]
    return " and ".join(reason for reason, _ in ends), ends[0][1]


# ---- with a journal ------------------------------------------------------------------------------


def _traced(tape, targets, source, mine):
    """The verdict from the whole graph, recorded or not; None where the journal has no answer."""
    entries = list(tape._journal.entries)
    number = number_of(tape)
    pairs = [
        Link(e, i, o, e.layer, e.line)
        for e in entries if e.kind in ("op", "variable")
        for i in e.inputs for o in e.outputs
    ]  # fmt: skip
    path = _forward(pairs, {source.serial} if source.serial else set())
    path &= _forward([p._replace(input=p.output, output=p.input) for p in pairs], set(targets))
    if path.isdisjoint(targets) or not path:
        return _left_for_python(entries, pairs, source)
    recorded = {(link.input, link.output) for link in _links(tape) if link.output is not None}
    recorded |= {(source.serial, serial) for serial in mine}
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
        if entry.kind in ("op", "variable") and inputs and outputs and not followed:
            return _break(tape, entry, entries, number, source, mine)
    return None


def _break(tape, entry, entries, number, source, mine):
    """Why the tape did not follow the path over `entry`."""
    place = where(entry.layer, entry.line)
    what = f"the op {entry.what.name}" if entry.kind == "op" else "the read of the variable"
    if number not in entry.tapes:
        return Verdict("None", f"{what}{place} ran {_outside(entry, entries, number)}",
                       "compute the target inside the `with` block")  # fmt: skip
    if mine.isdisjoint(tape._live):
        verdict = _forgotten(tape, (), source, mine) or _unwatched(tape, source, mine)
        line = f"{verdict.reason}, though {what}{place} used it"
        return verdict._replace(reason=line.replace(",,", ","))
    if entry.kind == "op" and _flows(entry):
        forgotten = _forgotten(tape, entry.outputs, source, mine)
        return forgotten or Verdict(
            "None", f"the source was watched only after {what}{place} had used it",
            "call tape.watch(x) before x is used",
        )  # fmt: skip
    dtype = None if entry.dtype is None else dtypes.as_dtype(entry.dtype)
    return Verdict("None", *_end_of(entry.what, entry.layer, entry.line, dtype))


def _flows(entry):
    """Whether the op would pass gradients on if its inputs were live."""
    integer = entry.dtype is not None and entry.dtype.kind not in "fcV"
    return entry.what.derivative and not (entry.what.name == "cast" and integer)


def _outside(entry, entries, number):
    """Where in the tape's life an entry lies that the tape did not see."""
    at = entries.index(entry)
    before = any(number in e.tapes for e in entries[:at])
    after = any(number in e.tapes for e in entries[at + 1 :])
    if before and after:
        return "inside stop_recording(), or while the tape was closed"
    return "after the tape was closed" if before else "before the tape was opened"


def _left_for_python(entries, pairs, source):
    """Whether what descends from the source was read by Python."""
    reached = _forward(pairs, {source.serial} if source.serial else set())
    found = {}
    for entry in entries:
        if entry.kind == "value" and entry.what in LEAVING and entry.inputs[0] in reached:
            found.setdefault(*_left_by(entry.what, entry.layer, entry.line))
    return Verdict("None", *_joined(found)) if found else None
