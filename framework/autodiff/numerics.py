"""Checker: follows values that are not finite from where they arise.

A value is *tainted* when it is not finite and was computed from what is not finite, or arose
itself: nan from what had none, inf from what had none. What an op masks out again (`tf.where`, a
rule's exact zero) is no harm, so that in a step that is run again only the taint of what is asked
for is told. On a raw tape the first one that arises in the forward pass is an error at once.
"""

import sys

import numpy as np

from framework.autodiff.journal import Journal, user_line
from framework.autodiff.verdict import where
from framework.core import recorders
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor

ROWS = 10
"""The rows of a batch that a message names."""


class NumericsError(InvalidArgumentError):
    """A value is not finite.

    Attributes:
        op: the name of the op in which it arose; None where it came from outside.
        phase: "forward", "backward" or "update".
        layer: the layer's path, or None.
        line: `file:line` of the user's code.
        rows: the rows of the batch, a list; None where they are not known.
    """

    def __init__(self, message, origin=None):
        super().__init__(message)
        for name in ("op", "phase", "layer", "line", "rows"):
            setattr(self, name, getattr(origin, name, None))


class Origin:
    """Where a value that is not finite arose."""

    op = layer = rows = None
    phase, line = "forward", ""

    def __init__(self, text):
        self.text = text

    def error(self, ending=""):
        rows = ""
        if self.rows:
            shown = ", ".join(map(str, self.rows[:ROWS]))
            more = f" and {len(self.rows) - ROWS} more" if len(self.rows) > ROWS else ""
            rows = f"; rows of the batch: {shown}{more}"
        return NumericsError(f"numerics: {self.text}{rows}.{ending}", self)


class Checker(Recorder):
    """Finds the origin of values that are not finite.

    Args:
        immediate: raise as soon as one arises in the forward pass.
        rows: the number of rows in a batch, where known.
        names: {serial: name} of what comes from outside.
    """

    replays = True  # backward passes and updates come as ops

    def __init__(self, immediate=False, rows=None, names=None):
        self._immediate, self._rows, self._names = immediate, rows, names or {}
        self._journal = Journal()
        self._taints = {}  # serial -> Origin

    def __enter__(self):
        self._journal.open()
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)
        self._journal.close()

    def origin_of(self, tensor):
        """The `Origin` of what is not finite in a tensor; None where there is none."""
        return None if tensor.serial is None else self._taints.get(tensor.serial)

    # ---- events ----

    def op(self, op, args, attrs, outputs, saved):
        for output in outputs:
            if not is_finite(output.array):
                self._met(op, args, output)

    def variable_read(self, variable, tensor):
        if not is_finite(tensor.array):
            origin = Origin(f"the variable {_label(variable)} holds {_kind(tensor.array)} already")
            origin.line = user_line()
            self._taint(tensor, origin)

    def variable_assigned(self, variable, value):
        origin = self.origin_of(value)
        if origin is not None and self._immediate:
            raise origin.error()

    def value_read(self, tensor, how):
        origin = self.origin_of(tensor)
        if origin is not None and self._immediate and how != "print":
            raise origin.error()

    def _met(self, op, args, output):
        bad = [a for a in args if not is_finite(getattr(a, "array", a))]
        known = [a for a in bad if type(a) is Tensor and self.origin_of(a) is not None]
        if known:
            self._taint(output, self.origin_of(known[0]))
            return
        arisen = [a for a in bad if not _has_nan(a)]
        if len(arisen) < len(bad):
            outside = next(a for a in bad if _has_nan(a))
            origin = self._from_outside(outside, op)
        elif bad and not _has_nan(output):
            return  # an inf that was given: a mask
        else:
            origin = self._arisen(op, args, output)
        self._taint(output, origin)

    def _taint(self, tensor, origin):
        if tensor.serial is None:
            tensor.serial = next(serials)
        self._taints[tensor.serial] = origin
        if self._immediate and origin.phase == "forward":
            raise origin.error()

    # ---- origins ----

    def _from_outside(self, value, op):
        array = getattr(value, "array", value)
        name = self._names.get(getattr(value, "serial", None), "an input")
        origin = Origin(f"{name} holds {_kind(array)} already, where the op {op.name} takes it")
        origin.rows, origin.line = self._bad_rows(array), user_line()
        return origin

    def _arisen(self, op, args, output):
        place = _place()
        origin = Origin("")
        origin.op, origin.phase = op.name, place.phase
        origin.layer = None if thread.call is None else thread.call[0]
        origin.line = user_line()
        origin.rows = self._bad_rows(output.array)
        made = f"made {_kind(output.array)} of {_ranges(args)}"
        if place.phase == "backward":
            entry = self._entry(place.made)
            if entry is not None:
                origin.layer, origin.line = entry.layer, entry.line
            origin.op = place.op.name
            spot = where(origin.layer, origin.line)
            origin.text = f"in the backward pass the rule of the op {origin.op}{spot} {made}"
            origin.text += f" (in {op.name})" if op.name != origin.op else ""
        elif place.phase == "update":
            origin.text = f"in the update of {place.variable} the op {op.name} {made}"
        else:
            spot = where(origin.layer, origin.line)
            origin.text = f"in the forward pass the op {op.name}{spot} {made}"
        if origin.layer is not None:
            origin.layer = getattr(origin.layer, "path", None) or origin.layer.name
        return origin

    def _entry(self, made):
        first = made[0][0] if isinstance(made, tuple) else made
        return next((e for e in self._journal.entries if first in e.outputs), None)

    def _bad_rows(self, array):
        if not array.ndim or (self._rows is not None and array.shape[0] != self._rows):
            return None
        if self._rows is None and array.ndim < 2:
            return None
        bad = ~np.isfinite(array).reshape(array.shape[0], -1).all(axis=1)
        return np.flatnonzero(bad).tolist()


class _Place:
    phase, op, made, variable = "forward", None, None, "a variable"


def _place():
    """Which phase of training runs: what the frames of this package say."""
    place = _Place()
    frame = sys._getframe(1)
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module == "framework.autodiff.tape" and name in ("_walk_back", "_joined"):
            values = frame.f_locals
            place.phase, place.op, place.made = "backward", values["op"], values["made"]
            return place
        if module.startswith("framework.optimizers"):
            place.phase = "update"
            variable = frame.f_locals.get("variable")
            if variable is not None and place.variable == "a variable":
                place.variable = _label(variable)
        frame = frame.f_back
    return place


def is_finite(value):
    """Whether all of a value is finite, or it is nothing of which that can be asked."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("f", "c"):
        return bool(np.isfinite(value).all())
    return not isinstance(value, float) or bool(np.isfinite(value))


def _has_nan(value):
    return bool(np.isnan(getattr(value, "array", value)).any())


def _kind(array):
    found = [word for word, test in (("nan", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf))
             if array.dtype.kind == "f" and test(array).any()]  # fmt: skip
    return " and ".join(found) or "values that are not finite"


def _ranges(args):
    """The inputs' ranges, in words."""
    found = []
    for arg in args:
        array = np.asarray(getattr(arg, "array", arg))
        if array.dtype.kind in "fiu" and array.size:
            low, high = np.min(array), np.max(array)
            found.append(f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}")
    return f"inputs {' and '.join(found)}" if found else "its inputs"


def _label(variable):
    return repr(getattr(variable, "path", None) or variable.name)
