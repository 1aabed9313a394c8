"""Fusion of elementwise nodes of one shape into groups, each computed in one loop."""

import math

import numpy as np

from framework.compiler import loop_kernels
from framework.compiler.ir import Graph, OpNode
from framework.compiler.loop_codegen import MOST_ARRAYS


class FusionGroup:
    """Elementwise nodes of one shape, in order, with sums of their results and scalar nodes.

    `inputs` are the Values that the group reads from outside, `outputs` its own Values that are
    read outside. A group of shape () has scalar nodes only.
    """

    __slots__ = ("columns", "inputs", "late", "met", "outputs", "shape", "steps")
    saved = ()

    def __init__(self, shape):
        self.shape = shape
        self.steps, self.inputs, self.outputs = [], (), ()
        self.late = set()  # ids of sums and of scalars that depend on them: known after the loop
        self.columns = None  # elements per row, where operands or sums distinguish rows
        self.met = set()  # ids of all Values that nodes read or compute

    def has_room(self, steps):
        """Return whether the group with these nodes stays within the array limit of a loop."""
        return len(self.met.union(*map(_met, steps))) <= MOST_ARRAYS

    @property
    def values(self):
        return self.inputs

    @property
    def made(self):
        return self.outputs

    @property
    def layer(self):
        return next((s.layer for s in self.steps if s.layer is not None), None)

    def join(self, step):
        """Append a node."""
        self.steps.append(step)
        self.met |= _met(step)
        if self.shape and (columns := columns_of(step, self.shape)):
            self.columns = max(columns)

    def finish(self, uses):
        """Set `inputs` and `outputs`, given `Graph.uses()`."""
        made = [v for s in self.steps for v in s.made]
        inside = {id(v) for v in made}
        read, inputs = {}, {}
        for value in [v for s in self.steps for v in s.values]:
            read[id(value)] = read.get(id(value), 0) + 1
            if id(value) not in inside:
                inputs[id(value)] = value
        self.inputs = tuple(inputs.values())
        self.outputs = tuple([v for v in made if uses.get(id(v), 0) > read.get(id(v), 0)])


def _met(step):
    return {id(v) for v in (*step.values, *step.made)}


def grouped(graph, fits, alone, numbers=False):
    """Return the graph with elementwise nodes replaced by fusion groups; the order can change.

    Args:
        fits: `fits(step)` returns whether a group can contain the elementwise node or sum.
        alone: `alone(step)` returns whether a single node is worth a group.
        numbers: whether groups also contain sums of their results and scalar nodes.

    A group stays open until a node outside reads one of its results. Meanwhile later nodes of its
    shape join it if they read its inputs or results. No open group depends on another.
    """
    steps = _FusionPass(graph, fits, alone, numbers).steps
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


class _FusionPass:
    """One run of `grouped`; `steps` is the new list of nodes."""

    def __init__(self, graph, fits, alone, numbers):
        self.steps, self._opened, self._numbers = [], [], numbers
        self._alone = alone
        self._home = {}  # id of a Value -> the open group that computes it
        self._uses = graph.uses()
        for step in graph.steps:
            taken = False
            if type(step) is OpNode and len(step.made) == 1:
                if _is_elementwise(step):
                    taken = fits(step) and self._elementwise(step)
                elif numbers and (_is_number(step) or is_sum(step)):
                    taken = fits(step) and (self._number(step) or self._sum(step))
            if not taken:
                self._close(self._needed(step))
                self.steps.append(step)
        self._gather_numbers()
        self._close(list(self._opened))

    def _needed(self, step):
        """Return the open groups that compute an input of the node."""
        found = [self._home.get(id(v)) for v in step.values]
        return list({id(g): g for g in found if g is not None}.values())

    def _elementwise(self, step):
        needs, shape = self._needed(step), step.outputs[0].shape
        reads = {id(v) for v in step.values}
        of_numbers = [g for g in needs if not g.shape]
        joinable = [g for g in needs if g.shape == shape and not reads & g.late]
        if len(needs) == len(of_numbers):
            joinable = [g for g in self._opened if g.shape == shape and _shares(g, step)]
        joinable = [g for g in joinable if _rows_agree(g, step) and g.has_room([step])]
        target = joinable[-1] if joinable else None
        for group in joinable[:-1]:
            if group in needs:
                self._merge(target, group, step)
        self._close([g for g in needs if g is not target and g.shape and g in self._opened])
        if target is None:
            target = self._open(shape)
        for group in of_numbers:
            self._absorb(target, group, step)
        self._join(target, step)
        return True

    def _number(self, step):
        """Add a scalar node to the group whose sums it reads, or to a group of scalars."""
        if not _is_number(step):
            return False
        needs = self._needed(step)
        whole = [g for g in needs if g.shape]
        with_room = [g for g in whole or self._opened if g.has_room([step])]
        if whole:
            target = with_room[-1] if with_room else self._open(())
            self._close([g for g in whole if g is not target])
        else:
            target = next((g for g in with_room if not g.shape), None) or self._open(())
        for group in needs:
            if not group.shape and group is not target:
                self._absorb(target, group, step)
        if target.late & {id(v) for v in step.values}:
            target.late.add(id(step.outputs[0]))
        self._join(target, step)
        return True

    def _sum(self, step):
        """Add a sum to the group that computes its input; False if that is impossible."""
        if not is_sum(step):
            return False
        (x,) = step.values
        group = self._home.get(id(x))
        if group is None or group.shape != x.shape or id(x) in group.late:
            return False
        if any(is_sum(s) and s.values[0] is x for s in group.steps):
            return False  # a loop computes at most one sum of a value
        if not _rows_agree(group, step) or not group.has_room([step]):
            return False
        group.late.add(id(step.outputs[0]))
        self._join(group, step)
        return True

    def _open(self, shape):
        group = FusionGroup(shape)
        self._opened.append(group)
        return group

    def _join(self, group, step):
        group.join(step)
        self._home[id(step.outputs[0])] = group

    def _merge(self, group, other, step):
        """Merge two groups within the array limit; neither depends on the other."""
        columns = {group.columns, other.columns, *columns_of(step, group.shape)} - {None}
        if len(columns) > 1 or not group.has_room([*other.steps, step]):
            return
        group.steps[:0] = other.steps
        group.met |= other.met
        group.late |= other.late
        group.columns = max(columns, default=None)
        self._opened.remove(other)
        self._home.update((id(v), group) for s in other.steps for v in s.made)

    def _absorb(self, group, numbers, *following):
        """Prepend the nodes of a scalar group to another group, within the array limit."""
        if not group.has_room([*numbers.steps, *following]):
            self._close([numbers])
            return
        group.met |= numbers.met
        self._opened.remove(numbers)
        group.steps[:0] = numbers.steps
        self._home.update((id(v), group) for s in numbers.steps for v in s.made)

    def _gather_numbers(self):
        """Merge remaining scalar groups into another group: no open group depends on another."""
        whole = [g for g in self._opened if g.shape]
        for group in [g for g in self._opened if not g.shape]:
            if whole:
                self._absorb(whole[0], group)

    def _close(self, groups):
        for group in groups:
            self._opened.remove(group)
            group.finish(self._uses)
            several = len(group.steps) > 1 or self._alone(group.steps[0])
            self.steps.extend([group] if several else group.steps)
            for value in [v for s in group.steps for v in s.made]:
                del self._home[id(value)]


def layout(value, shape):
    """Return the layout of a Value in a loop over `shape`, see `loop_ir.layout_of`."""
    if value.size == 1 and value.shape != shape:
        return loop_kernels.NUMBER
    return loop_kernels.layout_of(value.shape, shape)


def columns_of(step, shape):
    """Return the set of row sizes that operands or sums of a node require; empty without rows."""
    size = math.prod(shape)
    over = is_sum(step)
    if over:
        (made,) = step.outputs
        return {"leading": {made.size}, "last": {size // made.size}}.get(over, set())
    found = set()
    for value in step.values:
        kind = layout(value, shape)
        if kind == loop_kernels.ROW:
            found.add(value.size)
        elif kind == loop_kernels.COLUMN:
            found.add(size // value.size)
    return found


def _rows_agree(group, step):
    columns = columns_of(step, group.shape)
    return not columns or group.columns is None or columns == {group.columns}


_SEVERAL_PASSES = frozenset(("tanh_back", "sigmoid", "softplus", "gelu", "gelu_back", "gelu_slope"))
_LARGE = 1 << 20  # elements from which a loop runs at memory bandwidth


def takes_passes(step):
    """Return whether a single node is faster as a loop: NumPy takes several passes or broadcasts a
    column at half speed, or the arrays are large and the op is not a ufunc."""
    shape = step.outputs[0].shape
    if any(layout(v, shape) == loop_kernels.COLUMN for v in step.values):
        return True
    if ufunc_of(step.op) is not None:
        return False
    return step.op.name in _SEVERAL_PASSES or step.outputs[0].size >= _LARGE


def lone(step, uses):
    """Return a group of one node; None if it is neither elementwise nor a sum.

    Args:
        uses: `Graph.uses()`.
    """
    if len(step.made) != 1 or not (_is_elementwise(step) or is_sum(step)):
        return None
    group = FusionGroup(step.values[0].shape if is_sum(step) else step.outputs[0].shape)
    group.join(step)
    if is_sum(step):
        group.late.add(id(step.outputs[0]))
    group.finish(uses)
    return group


def _is_elementwise(step):
    if step.op.kind != "elementwise" or not step.op.plain or not step.values:
        return False
    (made,) = step.outputs
    return (
        made.shape != ()
        and made.size > 0
        and made.dtype.kind in "fb"
        and made.dtype.itemsize in (1, 4, 8)
    )


def _is_number(step):
    """Return whether the node computes a 0-d array from 0-d arrays."""
    if step.op.kind != "elementwise" or not step.op.plain or not step.values:
        return False
    return not step.outputs[0].shape and all(not v.shape for v in step.values)


def is_sum(step):
    """Return "all", "leading" or "last", the axes over which a node sums floats, or None."""
    if step.op.name not in ("sum_to", "reduce_sum", "reduce_mean") or len(step.values) != 1:
        return None
    (x,), (y,) = step.values, step.outputs
    if x.dtype.kind != "f" or x.dtype.itemsize < 4 or x.dtype != y.dtype or x.size < 2:
        return None
    if step.op.name == "sum_to":
        if y.shape == ():
            return "all"
        lead = len(x.shape) - len(y.shape)
        return "leading" if lead and x.shape[lead:] == y.shape else None
    axis, keepdims = step.attrs["axis"], step.attrs["keepdims"]
    axes = len(x.shape)
    if len(axis) == axes:
        return "all" if not keepdims else None
    if axis == tuple(range(len(axis))):
        return "leading" if len(axis) else None
    return "last" if axis == tuple(range(axes - len(axis), axes)) and len(axis) else None


def _shares(group, step):
    """Return whether the node reads an array of full shape that the group reads, too."""
    read = {id(v) for s in group.steps for v in s.values if v.shape == group.shape}
    return any(id(v) in read for v in step.values)


def ufunc_of(op):
    """Return the ufunc that is the forward function of an op, or None."""
    for candidate in (op.forward, getattr(op.forward, "ufunc", None)):
        if isinstance(candidate, np.ufunc):
            return candidate
    return None
