"""Notes: rare events that a tape stores so that `autodiff/debug/` can explain missing gradients.

The record of edges does not show these events: an op without derivative received a tracked input,
Python read a tracked value, a layer was called, recording was paused, or the backward pass had no
cotangent for an edge. A note is `(kind, number of edges so far, subject, serials)`; a note of kind
`UNMET` also has the serials of the outputs.

The modules of `debug/` are imported by the methods that need them, never while a tape records.
"""

import weakref
from typing import Any

from framework.core import nest
from framework.core.argument_types import TensorLike
from framework.core.recorders import Recorder, thread

CUT = "an op without derivative had tracked inputs"
BLOCKED = "a rule returned no cotangent"
READ = "Python read a tracked value"
ASSIGNED = "a variable was assigned a tracked value"
LAYER = "a layer was called; if the subject is None, the call of a layer ended"
PAUSED = "recording was paused between two serials"
RESET = "reset() dropped the record"
UNMET = "the backward pass had no cotangent for an edge"
WATCHED = "watch was called with a tensor"
MISSED = "a source got no gradient"


class TapeNotes(Recorder):
    """Base class of `GradientTape`: its notes, and the methods that explain and draw the record."""

    # the log of the `debugging.trace()` that was open while the tape recorded, or None
    _event_log = None
    _owns_event_log = False  # True for GradientTape(trace=True), which opens its own log
    _number = None  # number of the tape in event logs, assigned at first use

    # ---- public methods ----

    def explain(self, target: TensorLike, source: TensorLike):
        """Return a sentence that says why a gradient is None or zero, or how the target depends on
        the source.

        Call it before or after `gradient`. Inside `debugging.trace()`, or with
        `GradientTape(trace=True)`, the sentence names files and lines.

        Args:
            target: a tensor or variable, or a nest of them.
            source: the same; for a nest the text has one line per leaf.

        Example:
            >>> import framework as tf
            >>> x = tf.constant(3.0)
            >>> with tf.GradientTape() as tape:
            ...     y = x * x
            >>> print(tape.explain(y, x))  # doctest: +ELLIPSIS
            The gradient is None because the source, a float32 tensor of shape (), was never ...
        """
        from framework.autodiff.debug.explain_gradient import sentence

        targets = nest.flatten(target)
        return "\n".join([sentence(self, targets, leaf) for leaf in nest.flatten(source)])

    def memory(self):
        """Return the bytes that the record keeps for the backward pass.

        Returns:
            A `Memory`: `.total`, and dicts from names to bytes, `.by_op` and `.by_layer`.
        """
        from framework.autodiff.debug.record_table import Memory

        return Memory(self)

    def to_dot(self, collapse: bool = True):
        """Return the record as a graph in the DOT language of Graphviz.

        Args:
            collapse: draw the ops of a layer's call as one node.
        """
        from framework.autodiff.debug.graph_drawing import to_dot

        return to_dot(self, collapse)

    def plot(self, to_file: Any = "tape.svg", collapse: bool = True):
        """Draw the record into an SVG file, without other programs, and return the file's path.

        Args:
            to_file: a path that ends in ".svg".
            collapse: draw the ops of a layer's call as one node.
        """
        from framework.autodiff.debug.graph_drawing import plot

        return plot(self, to_file, collapse)

    def _repr_html_(self):
        from framework.autodiff.debug.graph_drawing import svg

        return svg(self)

    def __str__(self):
        from framework.autodiff.debug.record_table import table

        return table(self)

    def __repr__(self):
        kind = "persistent " if self._persistent else ""
        state = "recording" if self._recording else "used up" if self._consumed else "closed"
        ops = len(self.recorded_ops())
        return f"<GradientTape: {kind}{state}, {ops} op{'' if ops == 1 else 's'} recorded>"

    # ---- recording of notes ----

    def _trace(self):
        from framework.autodiff.debug.event_log import EventLog

        self._event_log, self._owns_event_log = EventLog(), True

    def value_read(self, tensor: TensorLike, how: Any) -> None:
        if tensor.serial in self._tracked:
            self._notes.append((READ, len(self._edges), how, (tensor.serial,)))

    def variable_assigned(self, variable: Any, value: TensorLike) -> None:
        if value.serial in self._tracked:
            self._notes.append((ASSIGNED, len(self._edges), variable, (value.serial,)))

    def layer_call(self, layer: Any) -> None:
        self._notes.append((LAYER, len(self._edges), layer, ()))

    def _note_watched(self, tensor):
        what = weakref.ref(tensor), tensor.array.shape, tensor.array.dtype
        self._notes.append((WATCHED, len(self._edges), what, (tensor.serial,)))

    def _note_unmet(self, op, produced, read):
        """Store a note: the backward pass had no cotangent for an op with a joint rule."""
        if not self._persistent and self._event_log is None:
            inputs = {serial for ends, *_ in read for serial in ends if serial is not None}
            outputs = tuple([serial for serial, _, _ in produced])
            self._notes.append((UNMET, len(self._edges), op, tuple(inputs), outputs))

    def _note_missing(self, source, target):
        """Store a note that `source` got no gradient, so that a later warning gives the reason."""
        tape = weakref.ref(self) if self._persistent or self._event_log else lambda: self
        if thread.missing is None or not thread.missing.of(self):
            targets = [t.serial for t in nest.flatten(target) if hasattr(t, "serial")]
            thread.missing = MissingGradients(tape, targets)
        if not was_missed(self, source):
            self._notes.append((MISSED, len(self._edges), None, (source.serial,)))


def was_missed(tape, source):
    """Return whether `tape.gradient` gave None for `source`."""
    serial = source.serial
    return serial is not None and any(
        kind is MISSED and serial in serials for kind, _, _, serials, *_ in tape._notes
    )


class MissingGradients:
    """Sources that got no gradient from a tape; `thread.missing` holds the latest instance.

    Args:
        tape: a function that returns the tape, or None once it is freed.
        targets: the targets' serials.
    """

    def __init__(self, tape, targets):
        self._tape, self._targets = tape, targets
        self._reasons = {}  # serial of a variable -> the reason why it got no gradient

    def of(self, tape):
        return self._tape() is tape

    def explained(self, variables):
        """Return a copy that contains the reasons for these variables and needs no tape."""
        copy = MissingGradients(lambda: None, ())
        copy._reasons = {v.serial: self._reason(v) for v in variables}
        return copy

    def _reason(self, variable):
        tape = self._tape()
        if tape is None or not was_missed(tape, variable):
            return self._reasons.get(variable.serial, "")
        from framework.autodiff.debug.explain_gradient import reason_of_none

        return reason_of_none(tape, self._targets, variable)

    def reasons(self, variables):
        """Return the reasons as one text; variables with the same reason are grouped."""
        by_reason = {}
        for variable in variables:
            name = repr(getattr(variable, "path", None) or variable.name)
            by_reason.setdefault(self._reason(variable), []).append(name)
        by_reason.pop("", None)
        if len(by_reason) <= 1:
            return next(iter(by_reason), "")
        return "; ".join(f"for {', '.join(names)}: {reason}" for reason, names in by_reason.items())


def reasons_of_missing(variables):
    """Return why this thread's last backward pass gave `variables` no gradient; "" if unknown."""
    return "" if thread.missing is None else thread.missing.reasons(variables)
