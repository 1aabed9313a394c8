"""Batched: a tensor whose leading axis, the rows of a vectorized map, is hidden from ops.

For an op, a `Batched` is a tensor with the shape of one row. An op with a batching rule
(`batch_rules.py`) is applied to all rows in one call, any other op once per row.

A `Batched` contains an array, a tensor (if recorders must receive the call on all rows) or, in
nested maps, a `Batched` of the outer map, whose level is lower.
"""

import itertools
import math

from framework.autodiff.batch_rules import (
    np_dtype_of,
    repeated,
    row_by_row,
    rule_of,
    shape_of,
)  # fmt: skip
from framework.autodiff.diagonal import Diagonal
from framework.core import dtypes, recorders
from framework.core.dtypes import Shape
from framework.core.errors import BatchedValueError
from framework.core.operand import Operand
from framework.core.promotion import strict
from framework.core.recorders import Recorder, thread
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.movement import stack
from framework.ops.operators import add_operators

_orders = itertools.count(1)


class Level:
    """The level of one vectorized map; inner maps have higher levels.

    Recorders that are open when the map begins receive the calls on all rows. Recorders opened
    within the map receive the calls on `Batched`, as calls on one row.
    """

    __slots__ = ("order", "outside")

    def __init__(self):
        self.order, self.outside = next(_orders), thread.stack


class _Row:
    """Stands for the array of one row: it has the row's shape and dtype, and bounds for checks."""

    __slots__ = ("_array", "dtype", "ndim", "shape", "size")

    def __init__(self, value):
        array = getattr(value, "array", value)
        self._array, self.dtype, self.shape = array, array.dtype, tuple(array.shape[1:])
        self.ndim, self.size = len(self.shape), math.prod(self.shape)

    def min(self):
        """Return the smallest element of all rows, so that bounds checks cover every row."""
        return self._array.min()

    def max(self):
        """Return the largest element of all rows, so that bounds checks cover every row."""
        return self._array.max()


class Batched(Operand):
    """One tensor per row, stored as one array; internal, never returned to users.

    Args:
        value: an array or tensor whose leading axis counts the rows, or a `Diagonal`.
        level: the Level of the map that it belongs to.
    """

    __slots__ = ("__weakref__", "level", "serial", "value")
    __hash__ = None

    def __init__(self, value, level):
        self.value, self.level, self.serial = value, level, None

    @property
    def array(self):
        """A substitute for one row's array, with the attributes that tapes and checks read."""
        return _Row(self.value)

    @property
    def shape(self):
        return Shape(shape_of(self.value)[1:])

    @property
    def dtype(self):
        value = self.value
        known = isinstance(value, Operand | Tensor) and type(value) is not Diagonal
        return value.dtype if known else dtypes.of_array(value)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    def get_shape(self):
        return self.shape

    def _op_call(self, op, args, attrs):
        return call(op, args, attrs)

    def _refuse(self, *_args, **_kwargs):
        raise BatchedValueError(
            "Python needed the value of a tensor (if, int(), NumPy, printing, ...) that stands for "
            "many rows at once. Use ops on it instead."
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = __complex__ = _refuse
    __getattr__ = _refuse  # Python calls this only for attributes that Batched does not define.

    def __len__(self):
        if not self.shape:
            raise TypeError("A 0-d tensor has no len().")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<Batched: level={self.level}, shape={self.shape}, dtype={self.dtype}>"


def _one_dtype(a, b):
    """Return operands of equal dtype unchanged; convert others to one dtype or raise (`strict`)."""
    x, y = np_dtype_of(a), np_dtype_of(b)
    if x is y or (type(b) is float and x is not None and x.kind == "f"):
        return a, b
    return strict(a, b)


add_operators(Batched, _one_dtype)


def rows_of(x, level, count):
    """Return `x` with a leading axis of `count` rows, repeated if it is not batched at `level`."""
    if type(x) is Batched and x.level is level:
        return x.value.dense() if type(x.value) is Diagonal else x.value
    return repeated(x, count)


def call(op, args, attrs):
    """Return `op(*args, **attrs)` for every row; at least one argument is `Batched`."""
    level = None
    for arg in args:
        if type(arg) is Batched and (level is None or arg.level.order > level.order):
            level = arg.level
    args = [a.read() if isinstance(a, CoreVariable) else a for a in args]
    batched = [type(a) is Batched and a.level is level for a in args]
    xs = [a.value if b else a for a, b in zip(args, batched)]
    if thread.stack is not level.outside:
        inside = [r for r in thread.stack if r not in level.outside]
        if inside:
            return _notified(inside, op, args, attrs, xs, batched, level)
    # If no recorder is open, NumPy arrays are enough, and faster than tensors.
    if not thread.stack:
        xs = [x.array if type(x) is Tensor else x for x in xs]
    return _boxed(rule_of(op)(op, xs, batched, attrs), level)


def _boxed(found, level):
    if type(found) is tuple:
        return tuple([Batched(each, level) for each in found])
    return Batched(found, level)


def _notified(inside, op, args, attrs, xs, batched, level):
    """Call the op on all rows. To recorders opened `inside` the map, report a call on one row."""
    if op.composite is not None and op.saves:
        return op.composite(*args, **attrs)
    open_ = thread.stack
    thread.stack = tuple([r for r in open_ if r not in inside])
    saved = None
    try:
        if op.saves:
            found, saved = _with_saved(op, xs, batched, attrs)
        else:
            found = rule_of(op)(op, xs, batched, attrs)
    finally:
        thread.stack = open_
    output = _boxed(found, level)
    outputs = output if type(output) is tuple else (output,)
    for recorder in inside:
        told = getattr(recorder, "op_on_rows", recorder.op)
        told(op, args, attrs, outputs, saved and _boxed(saved, level))
    return output


def _with_saved(op, xs, batched, attrs):
    """Call the op once per row and stack its results and saved values."""
    catcher = _Catcher(op)
    recorders.push(catcher)
    try:
        found = row_by_row(op, xs, batched, attrs)
    finally:
        recorders.remove(catcher)
    return found, tuple([stack(*column, axis=0) for column in zip(*catcher.saved)])


class _Catcher(Recorder):
    """Recorder that keeps the arrays that an op saves for its derivative."""

    def __init__(self, op):
        self._op, self.saved = op, []

    def op(self, op, args, attrs, outputs, saved):
        if op is self._op:
            self.saved.append(saved)
