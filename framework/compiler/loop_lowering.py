"""Lowering of a fusion group to one loop kernel, and estimates of the time saved by loops."""

import itertools
import math
import sys
from functools import cached_property

import numpy as np

from framework.compiler import loop_kernels
from framework.compiler.fusion import is_sum, layout, row_lengths_of
from framework.compiler.ir import Value
from framework.compiler.loop_codegen import by_columns_alone
from framework.kernels import tier
from framework.kernels.products import COLUMNS


def fits_loop(node):
    """Return whether a loop can contain the node: its op, dtypes and layouts are supported."""
    if not all(v.size for v in node.inputs):
        # Loops do not support empty inputs.
        return False
    if is_sum(node):
        return True
    (output,) = node.outputs if len(node.outputs) == 1 else (None,)
    if output is None or not all(type(a) is Value or type(a) in _NUMBERS for a in node.args):
        return False
    if output.dtype not in _DTYPES or any(v.dtype not in _DTYPES for v in node.inputs):
        return False
    if any(layout(v, output.shape) is None for v in node.inputs) or not _numbers_fit(node):
        return False
    if len(row_lengths_of(node, output.shape)) > 1:
        return False
    dtypes = [a.dtype if type(a) is Value else type(a) for a in node.args]
    gives = loop_kernels.gives(node.op.name, dtypes, node.attrs)
    # The test `is None` comes first because `np.dtype("float64") == None` is True.
    if gives is None or gives != output.dtype:
        return False
    # For scalars, NumPy and the loop both call the C library, so the bits are equal.
    if node.op.name == "power":
        exponent = None if type(node.args[1]) is Value else node.args[1]
        return not output.shape or not loop_kernels.is_slow("power", exponent)
    return not loop_kernels.is_slow(node.op.name)


def _numbers_fit(node):
    """Return whether no integer of a comparison, such as `x > -1`, exceeds the dtype of `x`.

    NumPy compares the exact values. A loop would wrap the number around to the dtype.
    """
    limits = [np.iinfo(v.dtype) for v in node.inputs if v.dtype.kind in "iu"]
    numbers = [a for a in node.args if type(a) is int]
    return all(limit.min <= n <= limit.max for limit in limits for n in numbers)


_NUMBERS = (int, float, bool)
_ROWS = 8  # A chunk has at least this many rows, as in matrix products, unless the array has fewer.
CHUNK = 512  # A work item of an array with fewer rows has this many elements.
_COSTLY = {
    "tanh", "exp", "expm1", "log", "log1p", "sigmoid", "erf", "softplus", "power", "gelu",
    "gelu_back",
}  # fmt: skip
_DTYPES = frozenset(
    np.dtype(t) for t in ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
)


class GroupLoop:
    """The loop kernel of a fusion group.

    Args:
        group: a FusionGroup of nodes that satisfy `fits_loop`.
        in_place: {id of an output: the input that it overwrites}.

    A call takes the arrays of the Values `inputs`, `outputs` and `sums`, in order; if `flat`,
    reshaped to one axis. `counts` is {id of a sum: the divisor that makes it a mean}, applied by
    the caller.
    """

    def __init__(self, group, in_place):
        self.shape, self.size = group.shape, math.prod(group.shape)
        self.columns = group.columns or self.size
        self._constants = _constants(group)
        self.inputs = tuple([v for v in group.inputs if id(v) not in self._constants])
        self._names = {id(v): f"a{i}" for i, v in enumerate(self.inputs)}
        self._wanted = {id(v) for v in group.outputs}
        self._steps, self._after, self._sums, self._hidden = [], [], {}, set()
        self.sums, self.counts = [], {}
        self._numbers = itertools.count()
        for node in group.nodes:
            if is_sum(node):
                self._sum(node)
            else:
                late = id(node.outputs[0]) in group.late
                self._add(self._after if late else self._steps, node)
        stored = [v for v in group.outputs if not any(v is s for s in self.sums)]
        self.outputs = [v for v in stored if id(v) not in in_place]
        names = self._names
        stores = {
            names[id(v)]: names[id(in_place[id(v)])] if id(v) in in_place else None for v in stored
        }
        self.layouts = [layout(v, group.shape) for v in self.inputs]
        rows = {loop_kernels.ROW, loop_kernels.COLUMN} & set(self.layouts)
        # If no operand or sum depends on rows, arrays of any shape are passed with one dimension.
        self.flat = not rows and all(over == "all" for over in self._sums.values())
        operands = [
            loop_kernels.LoopOperand(
                names[id(v)], v.dtype, kind, 0 if kind == loop_kernels.NUMBER else self._ndim(v)
            )
            for v, kind in zip(self.inputs, self.layouts, strict=True)
        ]
        ndim = [self._ndim(v) for v in (*self.outputs, *self.sums)]
        self.program = loop_kernels.LoopProgram(
            operands, self._steps, stores, self._sums, ndim, after=self._after,
            hidden=frozenset(self._hidden),
        )  # fmt: skip

    @cached_property
    def loop(self):
        """The loop as a function of arrays."""
        return loop_kernels.build(self.program)

    @cached_property
    def task(self):
        """The loop as a task of the thread team."""
        return loop_kernels.build(self.program._replace(task=True))

    @property
    def divisible(self):
        """Whether chunks of the task can be arbitrary ranges of elements."""
        return self.flat and not self._sums and bool(self.shape)

    @property
    def by_columns(self):
        """Whether the work items of the task are columns."""
        return by_columns_alone(self._sums)

    def units(self):
        """Return (number of work items, minimum items per chunk, size of an item).

        The size counts elements; or rows, if operands or sums distinguish rows; or columns, if
        the work items are columns.
        """
        if self.by_columns:
            return self.columns, COLUMNS, 1
        if self._sums or not self.shape:
            return 1, 1, self.size
        rows = math.prod(self.shape[:-1])
        if not self.flat:
            rows = self.size // self.columns
            return rows, min(_ROWS, -(-rows // _ROWS)), 1
        if rows >= _ROWS * _ROWS // 2:
            return rows, _ROWS, self.shape[-1]
        return -(-self.size // CHUNK), 1, CHUNK

    def bytes_of(self, value, each):
        """Return the bytes of a value per work item; None if work items share its elements."""
        kind = layout(value, self.shape)
        if self.by_columns:
            own = kind in (loop_kernels.FULL, loop_kernels.ROW)
            return value.nbytes // self.columns if own else None
        if self._sums or kind not in (loop_kernels.FULL, loop_kernels.COLUMN):
            return None
        if kind == loop_kernels.COLUMN:
            return each * value.dtype.itemsize
        return each * (1 if self.flat else self.columns) * value.dtype.itemsize

    def seconds(self):
        """Estimate the seconds that the loop takes on one thread."""
        nbytes = sum(v.nbytes for v in (*self.inputs, *self.outputs))
        costly = sum(op in _COSTLY for _, op, *_ in self._steps)
        return 6e-12 * nbytes + 9e-11 * costly * self.size

    def _add(self, steps, node):
        args = tuple([self._operand(a) for a in node.args])
        name = f"v{next(self._numbers)}"
        steps.append((name, node.op.name, args, node.attrs))
        self._names[id(node.outputs[0])] = name

    def _ndim(self, value):
        return min(1, len(value.shape)) if self.flat else len(value.shape)

    def _operand(self, arg):
        if type(arg) is not Value:
            return arg
        return self._constants.get(id(arg)) or self._names[id(arg)]

    def _sum(self, node):
        (x,), (made,) = node.inputs, node.outputs
        name, over = self._names[id(x)], is_sum(node)
        self._sums[name] = over
        count = 1
        if node.op.name == "reduce_mean":
            count = math.prod(x.shape) // max(1, math.prod(made.shape))
        if over != "all":
            self.sums.append(made)
            if count != 1:
                self.counts[id(made)] = count
            return
        self._names[id(made)] = loop_kernels.sum_of(name)
        if count == 1 and id(made) in self._wanted:
            self.sums.append(made)
            return
        self._hidden.add(name)
        if count != 1:
            mean = f"v{next(self._numbers)}"
            self._after.append((mean, "divide", (loop_kernels.sum_of(name), count)))
            self._names[id(made)] = mean


def _constants(group):
    """Return {id of an input: its `LoopConstant`} for inputs that become literals."""
    summed = {id(s.args[0]) for s in group.nodes if is_sum(s)}
    read = [v for v in group.inputs if id(v) not in summed]
    found = {id(v): c for v in read if (c := _constant(v, group.shape))}
    arrays = [v for v in (*group.inputs, *group.outputs) if id(v) not in found]
    if any(layout(v, group.shape) == loop_kernels.FULL for v in arrays):
        return found
    # Keep arrays of full shape as parameters, because the loop reads the number of elements from
    # one.
    return {key: c for key, c in found.items() if c.layout != loop_kernels.FULL}


def _constant(value, shape):
    """Return a float32 value whose elements are all equal as a `LoopConstant`, else None.

    A ROW or COLUMN stays an array, because the loop may take its row size from the array.
    """
    array, kind = value.constant, layout(value, shape)
    if array is None or array.dtype != np.float32 or not array.size or any(array.strides):
        return None
    number = float(array.flat[0])
    fits = kind in (loop_kernels.FULL, loop_kernels.NUMBER) and math.isfinite(number)
    return loop_kernels.LoopConstant(number, array.dtype, kind) if fits else None


# A NumPy call is estimated to take CALL seconds, plus BYTE seconds per byte that it reads or
# writes.
CALL, BYTE = 0.5e-6, 1e-10
# Estimated seconds for importing Numba, and for compiling one loop. A plan starts to use loops once
# its NumPy calls have taken as long as importing Numba and compiling the loops that are not cached
# on disk.
_TO_LOAD, _TO_COMPILE = 0.1, 0.7
TRIAL = 20  # After this many calls, a plan estimates the time that loops would save.
# If a call writes more bytes than this, the gain of loops is estimated before the first call.
LARGE = 1 << 25


def work(group):
    """Estimate the seconds that a group takes in NumPy, which a loop could save."""
    return sum(
        CALL + BYTE * sum(v.nbytes for v in (*node.inputs, *node.all_outputs))
        for node in group.nodes
    )


def calls_until_due(cost, missing):
    """Return after how many calls, of `cost` estimated seconds each, loops save time.

    The result depends on sizes and the cache on disk, never on a clock, so a program changes its
    backend at the same call in every run.

    Args:
        missing: the number of loops that must be compiled.
    """
    if tier.tier() == "numba":
        return 0
    due = (0.0 if "numba" in sys.modules else _TO_LOAD) + _TO_COMPILE * missing
    return math.ceil(due / cost)
