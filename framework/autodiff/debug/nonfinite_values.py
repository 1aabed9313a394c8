"""Checker: finds the op that computed the first nonfinite value.

A tensor is *tainted* if it is not finite; its origin is the op that computed nan or inf from finite
inputs. A later op may mask these values (`tf.where`, or a rule that returns exact zeros), so in a
repeated training step only taints of the loss and of assigned variables are reported. With a
hand-written tape, the first taint in the forward pass raises an error at once.
"""

import sys
from typing import Any

import numpy as np

from framework.autodiff.debug.event_log import EventLog, user_line
from framework.autodiff.debug.explanation import where
from framework.core import recorders
from framework.core.errors import InvalidArgumentError
from framework.core.recorders import Recorder, serials, thread
from framework.core.tensor import Tensor

ROWS = 10
"""The maximum number of rows of a batch that a message names."""


class NumericsError(InvalidArgumentError):
    """Raised for a value that contains nan or inf.

    Attributes:
        op: the name of the op that computed the value; None for an input or a variable's value.
        phase: "forward", "backward" or "update".
        layer: the layer's path, or None.
        line: `file:line` of the user's code.
        rows: the rows of the batch, a list; None if unknown.
    """

    def __init__(self, message: Any, origin: Any = None):
        super().__init__(message)
        for name in ("op", "phase", "layer", "line", "rows"):
            setattr(self, name, getattr(origin, name, None))


class Origin:
    """Where a value first became nan or inf: the op, phase, layer, line and rows."""

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
    """Finds the origin of nan and inf values.

    Args:
        immediate: raise as soon as the forward pass computes such a value.
        rows: the number of rows in a batch, or None.
        names: {serial: name} of the inputs.
    """

    # Backward passes and updates of variables run as ops if this is True, so that they are checked.
    replays = True

    def __init__(self, immediate=False, rows=None, names=None):
        self._immediate, self._rows, self._names = immediate, rows, names or {}
        self._event_log = EventLog()
        self._taints = {}  # serial of a tensor with non-finite values -> their Origin

    def __enter__(self):
        self._event_log.open()
        recorders.push(self)
        return self

    def __exit__(self, *_):
        recorders.remove(self)
        self._event_log.close()

    def origin_of(self, tensor):
        """Return the `Origin` of a tensor's values that are not finite; None if there is none."""
        return None if tensor.serial is None else self._taints.get(tensor.serial)

    # ---- recorder events ----

    def op(self, op, args, attrs, outputs, saved):
        for output in outputs:
            if not is_finite(output.array):
                self._met(op, args, output)

    def variable_read(self, variable, tensor):
        if not is_finite(tensor.array):
            origin = Origin(f"the variable {_label(variable)} already has {_kind(tensor.array)}")
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
            # An infinite input, such as a mask of -inf, is meant to make the output infinite.
            return
        else:
            origin = self._arisen(op, args, output)
        self._taint(output, origin)

    def _taint(self, tensor, origin):
        if tensor.serial is None:
            tensor.serial = next(serials)
        self._taints[tensor.serial] = origin
        if self._immediate and origin.phase == "forward":
            raise origin.error()

    # ---- origins of nonfinite values ----

    def _from_outside(self, value, op):
        array = getattr(value, "array", value)
        name = self._names.get(getattr(value, "serial", None), "an input")
        origin = Origin(f"{name} already has {_kind(array)}, as an input of the op {op.name}")
        origin.rows, origin.line = self._bad_rows(array), user_line()
        return origin

    def _arisen(self, op, args, output):
        place = _phase()
        origin = Origin("")
        origin.op, origin.phase = op.name, place.phase
        origin.layer = None if thread.call is None else thread.call[0]
        origin.line = user_line()
        origin.rows = self._bad_rows(output.array)
        event = f"computed {_kind(output.array)} from {_ranges(args)}"
        if place.phase == "backward":
            entry = self._entry(place.produced)
            if entry is not None:
                origin.layer, origin.line = entry.layer, entry.line
            origin.op = place.op.name
            spot = where(origin.layer, origin.line)
            origin.text = f"in the backward pass the rule of the op {origin.op}{spot} {event}"
            origin.text += f" (in {op.name})" if op.name != origin.op else ""
        elif place.phase == "update":
            origin.text = f"in the update of {place.variable} the op {op.name} {event}"
        else:
            spot = where(origin.layer, origin.line)
            origin.text = f"in the forward pass the op {op.name}{spot} {event}"
        if origin.layer is not None:
            origin.layer = getattr(origin.layer, "path", None) or origin.layer.name
        return origin

    def _entry(self, produced):
        first = produced[0][0] if isinstance(produced, tuple) else produced
        return next((e for e in self._event_log.entries if first in e.outputs), None)

    def _bad_rows(self, array):
        if not array.ndim or (self._rows is not None and array.shape[0] != self._rows):
            return None
        if self._rows is None and array.ndim < 2:
            return None
        bad = ~np.isfinite(array).reshape(array.shape[0], -1).all(axis=1)
        return np.flatnonzero(bad).tolist()


class _Phase:
    phase, op, produced, variable = "forward", None, None, "a variable"


def _phase():
    """Return the current phase of training, read from this package's stack frames."""
    place = _Phase()
    frame = sys._getframe(1)
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module == "framework.autodiff.tape" and name in ("_walk_back", "_joined"):
            values = frame.f_locals
            place.phase, place.op, place.produced = "backward", values["op"], values["produced"]
            return place
        if module.startswith("framework.optimizers"):
            place.phase = "update"
            variable = frame.f_locals.get("variable")
            if variable is not None and place.variable == "a variable":
                place.variable = _label(variable)
        frame = frame.f_back
    return place


def is_finite(value):
    """Return whether a value has no nan or inf; True for values that are not floating."""
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
    """Return the ranges of the inputs as text."""
    found = []
    for arg in args:
        array = np.asarray(getattr(arg, "array", arg))
        if array.dtype.kind in "fiu" and array.size:
            low, high = np.min(array), np.max(array)
            found.append(f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}")
    return f"inputs {' and '.join(found)}" if found else "its inputs"


def _label(variable):
    return repr(getattr(variable, "path", None) or variable.name)
