"""Explaining: the notes of a tape, and its methods that explain and draw the record.

A note stands for a rare event: an op without derivative had a live input, Python read a live value,
a layer was called, recording was paused, or the backward pass had no cotangent for an edge. A note
is `(kind, number of edges so far, subject, serials)`; `UNMET` adds the serials of the outputs.
"""

import weakref

from framework.autodiff import drawing, explain, notes, picture
from framework.autodiff.journal import Journal
from framework.autodiff.notes import LAYER, MISSED, READ, UNMET, WATCHED
from framework.core import nest
from framework.core.recorders import Recorder, thread


class Explaining(Recorder):
    """Base class of `GradientTape`: `explain`, `memory`, `plot`, and the notes that they need."""

    _journal = None  # the journal of the `debugging.trace()` under which the tape recorded
    _own_journal = False  # GradientTape(trace=True)
    _number = None  # identifies the tape in journals

    # ---- public methods ----

    def explain(self, target, source):
        """Return a sentence that says why a gradient is None or zero, or how it arises.

        It can be called before and after `gradient`. Inside `debugging.trace()`, or with
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
        targets = nest.flatten(target)
        lines = [explain.sentence(self, targets, leaf) for leaf in nest.flatten(source)]
        return "\n".join(lines)

    def memory(self):
        """Return the bytes that the record keeps for the backward pass.

        Returns:
            A `Memory`: `.total`, and dicts from names to bytes, `.by_op` and `.by_layer`.
        """
        return picture.Memory(self)

    def to_dot(self, collapse=True):
        """Return the record as a graph in the DOT language of Graphviz.

        Args:
            collapse: draw the ops of a layer's call as one node.
        """
        return drawing.to_dot(self, collapse)

    def plot(self, to_file="tape.svg", collapse=True):
        """Draw the record into an SVG file and return the file's path; needs no other program.

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
        """Note that the backward pass had no cotangent for an op with a joint rule."""
        if not self._persistent and self._journal is None:
            inputs = {serial for ends, *_ in read for serial in ends if serial is not None}
            outputs = tuple([serial for serial, _, _ in made])
            self._notes.append((UNMET, len(self._edges), op, tuple(inputs), outputs))

    def _note_missing(self, source, target):
        """Note that `source` got no gradient, so that a later warning can give the reason."""
        tape = weakref.ref(self) if self._persistent or self._journal else lambda: self
        if thread.missing is None or not thread.missing.of(self):
            targets = [t.serial for t in nest.flatten(target) if hasattr(t, "serial")]
            thread.missing = explain.Missing(tape, targets)
        if not notes.was_missed(self, source):
            self._notes.append((MISSED, len(self._edges), None, (source.serial,)))
