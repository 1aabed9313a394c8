"""What a tape keeps so that it can explain and show itself, and the methods that do.

Beside the edges a tape keeps notes, made only where something ends or is rare: an op without
derivative met a live input, a live value was read by Python, a layer was called, recording was
paused, or a walk back met an edge with no cotangent. A note is `(kind, edges so far, what,
serials)`, and for `UNMET` the serials of the outputs too.
"""

import weakref

from framework.autodiff import drawing, explain, notes, picture
from framework.autodiff.journal import Journal
from framework.autodiff.notes import LAYER, MISSED, READ, UNMET, WATCHED
from framework.core import nest
from framework.core.recorders import Recorder, thread


class Explaining(Recorder):
    """The side of a `GradientTape` that talks about itself."""

    _journal = None  # of the trace under which it recorded
    _own_journal = False  # GradientTape(trace=True)
    _number = None  # that the journal knows it by

    # ---- what users call ----

    def explain(self, target, source):
        """One sentence saying why a gradient is None, zero, or what it is.

        Works before and after `gradient` was called. Inside `debugging.trace()`, or with
        `GradientTape(trace=True)`, it names files and lines too.

        Args:
            target: a tensor or variable, or a nest of them.
            source: the same; for a nest the answer has a line for each leaf.

        Example:
            >>> import framework as tf
            >>> x = tf.constant(3.0)
            >>> with tf.GradientTape() as tape:
            ...     y = x * x
            >>> print(tape.explain(y, x))  # doctest: +ELLIPSIS
            The gradient is None because the source, a float32 tensor of shape (), was never ...
        """
        targets = nest.flatten(target)
        lines = [explain.sentence(self, targets, each) for each in nest.flatten(source)]
        return "\n".join(lines)

    def memory(self):
        """The bytes that the record keeps for the backward pass.

        Returns:
            A `Memory`: `.total`, and dicts from names to bytes, `.by_op` and `.by_layer`.
        """
        return picture.Memory(self)

    def to_dot(self, collapse=True):
        """The record as a graph in Graphviz's language.

        Args:
            collapse: draw the ops of a layer's call as one node.
        """
        return drawing.to_dot(self, collapse)

    def plot(self, to_file="tape.svg", collapse=True):
        """Draw the record into an SVG file, without other programs; returns the file's path.

        Args:
            to_file: a path that ends in ".svg".
            collapse: draw the ops of a layer's call as one node.
        """
        return drawing.plot(self, to_file, collapse)

    def __str__(self):
        return picture.table(self)

    def __repr__(self):
        kind = "persistent " if self._persistent else ""
        state = "recording" if self._recording else "used up" if self._consumed else "closed"
        ops = len(self.recorded_ops())
        return f"<GradientTape: {kind}{state}, {ops} op{'' if ops == 1 else 's'} recorded>"

    # ---- notes ----

    def _trace(self):
        self._journal, self._own_journal = Journal(), True

    def value_read(self, tensor, how):
        if tensor.serial in self._live:
            self._notes.append((READ, len(self._edges), how, (tensor.serial,)))

    def layer_call(self, layer):
        self._notes.append((LAYER, len(self._edges), layer, ()))

    def _note_watched(self, tensor):
        what = weakref.ref(tensor), tensor.array.shape, tensor.array.dtype
        self._notes.append((WATCHED, len(self._edges), what, (tensor.serial,)))

    def _note_unmet(self, op, made, read):
        """A walk back met no cotangent for an op with a joint rule or several outputs."""
        if not self._persistent and self._journal is None:
            inputs = {serial for ends, *_ in read for serial in ends if serial is not None}
            outputs = tuple([serial for serial, _, _ in made])
            self._notes.append((UNMET, len(self._edges), op, tuple(inputs), outputs))

    def _note_missing(self, source, target):
        """`source` got no gradient: whoever reports that in this thread may ask why."""
        tape = weakref.ref(self) if self._persistent or self._journal else lambda: self
        if thread.missing is None or not thread.missing.of(self):
            targets = [t.serial for t in nest.flatten(target) if hasattr(t, "serial")]
            thread.missing = explain.Missing(tape, targets)
        if not notes.was_missed(self, source):
            self._notes.append((MISSED, len(self._edges), None, (source.serial,)))
