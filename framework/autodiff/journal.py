"""Journal: a recorder that keeps where everything happened; `debugging.trace()` opens one.

It keeps every op, read and assignment, whether or not a tape recorded it, with the code position of
the first frame outside this package. It keeps no arrays.
"""

import os
import sys
import weakref
from collections import deque
from typing import NamedTuple

from framework.core import recorders
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor

LIMIT = 200_000
"""The entries that a journal keeps, the last ones."""

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120 (no pathlib at import)
_inside = {}  # file name -> whether it is this package's


class Entry(NamedTuple):
    """One event."""

    kind: str  # "op", "variable", "assign" or "value"
    what: object  # the op, the variable, or how the value was read
    inputs: tuple  # serials
    outputs: tuple
    shapes: tuple  # of inputs, then of outputs
    dtype: object  # of the first output
    tapes: frozenset  # numbers of the tapes that were open
    layer: object
    line: str


class Journal(Recorder):
    """Keeps an `Entry` for each event while it is open."""

    def __init__(self):
        self.entries = deque(maxlen=LIMIT)
        self.leaves = {}  # serial of what no op made -> (weak reference, shape, dtype, line)
        self._made = set()

    def open(self):
        """Listen from here on, behind every recorder that is open already."""
        if self not in thread.stack:
            thread.stack = (self, *thread.stack)

    def close(self):
        recorders.remove(self)

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *_):
        self.close()

    # ---- events ----

    def op(self, op, args, attrs, outputs, saved):
        tensors = [a for a in args if type(a) is Tensor]
        line = user_line()
        for tensor in tensors:
            if self._serial(tensor) not in self._made:
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
        made = tuple([self._serial(t) for t in outputs])
        self._made.update(made)
        call = thread.call
        self.entries.append(Entry(
            kind, what, tuple([self._serial(t) for t in tensors]) + more, made,
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
        """The numbers of the open tapes, which are told who follows them."""
        found = []
        for recorder in thread.stack:
            if hasattr(recorder, "_own_journal"):  # a GradientTape, not another recorder
                if recorder._journal is not self:
                    recorder._journal = self
                found.append(number_of(recorder))
        return frozenset(found)


def number_of(tape):
    """A tape's number, unique in the process."""
    if tape._number is None:
        tape._number = next(serials)
    return tape._number


def user_line():
    """`file:line` of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        inside = _inside.get(name)
        if inside is None:
            inside = _inside[name] = name.startswith(_PACKAGE)
        if not inside:
            return f"{_short(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _short(name):
    here = os.getcwd() + os.sep  # noqa: PTH109 (as above)
    return name.removeprefix(here)


def trace():
    """Context in which every op keeps the code position that it was called from.

    What tapes that record in it say (`explain`, `print(tape)`) has files and lines, and tells ops
    that no tape recorded from those that never ran. Nothing else changes; it costs about a
    microsecond an op.

    Example:
        >>> import framework as tf
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.debugging.trace(), tf.GradientTape() as tape:
        ...     y = tf.round(x)
        >>> print(tape.explain(y, x))  # doctest: +ELLIPSIS
        The gradient is None because the op round (at ...) has no derivative: ...
    """
    return Journal()
