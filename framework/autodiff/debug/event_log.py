"""EventLog: a recorder that logs all events with source lines; `debugging.trace()` opens one.

The log contains every op, read and assignment, recorded by a tape or not, with the line of the
innermost frame outside this package. It keeps no arrays.
"""

import os
import sys
import weakref
from collections import deque
from typing import Any, NamedTuple

from framework.core import recorders
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor

LIMIT = 200_000
"""The maximum number of entries in an event log; older entries are dropped."""

_PACKAGE = os.path.abspath(__file__).rpartition("autodiff")[0]  # noqa: PTH100 (no pathlib at import)
_inside = {}  # file name -> whether the file belongs to this package


class LoggedEvent(NamedTuple):
    """One op, variable read, assignment, or read of a value by Python."""

    kind: str  # the sort of event: "op", "variable", "assign" or "value"
    what: object  # the op, the variable, or the function that read a value
    inputs: tuple  # serials of the op's input tensors
    outputs: tuple
    shapes: tuple  # shapes of the op's inputs, followed by those of its outputs
    dtype: object  # dtype of the op's first output
    tapes: frozenset  # numbers of the tapes that were open
    layer: object
    line: str


class EventLog(Recorder):
    """Keeps a `LoggedEvent` for each event while it is open."""

    def __init__(self):
        self.entries = deque(maxlen=LIMIT)
        # serial of a tensor not computed by an op -> (weakref, shape, dtype, line)
        self.leaves = {}
        self._produced = set()  # serials of the tensors that the logged ops computed

    def open(self):
        """Start recording; the log receives each event before the recorders opened earlier."""
        if self not in thread.stack:
            thread.stack = (self, *thread.stack)

    def close(self):
        recorders.remove(self)

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *_):
        self.close()

    # ---- recorder events ----

    def op(self, op, args, attrs, outputs, saved):
        tensors = [a for a in args if type(a) is Tensor]
        line = user_line()
        for tensor in tensors:
            if self._serial(tensor) not in self._produced:
                self._leaf(tensor, line)
        self._add("op", op, tensors, outputs, line)

    def variable_read(self, variable, tensor):
        self._add("variable", variable, (), (tensor,), user_line(), (variable.serial,))

    def variable_assigned(self, variable, value):
        self._add("assign", variable, (value,), (), user_line())

    def value_read(self, tensor, how):
        if how != "print":
            self._add("value", how, (tensor,), (), user_line())

    def _add(self, kind, what, tensors, outputs, line, more=()):
        produced = tuple([self._serial(t) for t in outputs])
        self._produced.update(produced)
        call = thread.call
        self.entries.append(LoggedEvent(
            kind, what, tuple([self._serial(t) for t in tensors]) + more, produced,
            tuple([t.array.shape for t in (*tensors, *outputs)]),
            outputs[0].array.dtype if outputs else None,
            self._tapes(), None if call is None else call[0], line,
        ))  # fmt: skip

    def _serial(self, tensor):
        if tensor.serial is None:
            tensor.serial = next(serials)
        return tensor.serial

    def _leaf(self, tensor, line):
        if tensor.serial not in self.leaves:
            array = tensor.array
            self.leaves[tensor.serial] = weakref.ref(tensor), array.shape, array.dtype, line

    def _tapes(self):
        """Return the numbers of the open tapes; each gets a reference to this event log."""
        numbers = []
        for recorder in thread.stack:
            # Only a GradientTape has this attribute, so other recorders are skipped.
            if hasattr(recorder, "_owns_event_log"):
                if recorder._event_log is not self:
                    recorder._event_log = self
                numbers.append(number_of(recorder))
        return frozenset(numbers)


def number_of(tape):
    """Return a tape's number, unique in the process."""
    if tape._number is None:
        tape._number = next(serials)
    return tape._number


def user_frame():
    """Return the innermost frame outside this package, or None."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        inside = _inside.get(name)
        if inside is None:
            inside = _inside[name] = name.startswith(_PACKAGE)
        if not inside:
            return frame
        frame = frame.f_back
    return None


def user_line():
    """Return `file:line` of the innermost frame outside this package; "" if there is none."""
    frame = user_frame()
    return "" if frame is None else place(frame.f_code.co_filename, frame.f_lineno)


def place(file, line):
    """Return `file:line`, the file relative to the working directory."""
    here = os.getcwd() + os.sep  # noqa: PTH109 (as above)
    return f"{file.removeprefix(here)}:{line}"


def trace() -> Any:
    """Return a context that logs every op with the source line that called it.

    `explain` and `print` of a tape that records in it show files and lines, and distinguish ops
    that no tape recorded from ops that never ran. The log costs about a microsecond per op.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.debugging.trace(), tf.GradientTape() as tape:
        ...     y = tf.round(x)
        >>> print(tape.explain(y, x))  # doctest: +ELLIPSIS
        The gradient is None because the op round (at ...) has no derivative: ...
    """
    return EventLog()
