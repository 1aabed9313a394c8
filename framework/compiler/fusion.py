"""Runs of elementwise steps of one shape, gathered into groups that are computed as one."""

import math

import numpy as np

from framework.compiler import loop_kernels
from framework.compiler.ir import Graph, OpNode
from framework.compiler.loop_codegen import MOST_ARRAYS


class FusionGroup:
    """Elementwise steps of one shape, in order; sums of what they make; and steps on numbers.

    `inputs` are the Values from outside, all there before the group; `outputs` those of its own
    that are needed outside. A group of shape () has numbers only.
    """

    __slots__ = ("columns", "inputs", "late", "met", "outputs", "shape", "steps")
    saved = ()

    def __init__(self, shape):
        self.shape = shape
        self.steps, self.inputs, self.outputs = [], (), ()
        self.late = set()  # ids of the sums, and of the numbers made of sums
        self.columns = None  # elements in a row, where operands or sums see rows
        self.met = set()  # ids of all Values read or made

    def has_room(self, steps):
        """Whether a loop of this group and these steps has no more arrays than it may have."""
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
        """Take a step in behind the others."""
        self.steps.append(step)
        self.met |= _met(step)
        if self.shape and (columns := columns_of(step, self.shape)):
            self.columns = max(columns)

    def finish(self, uses):
        """Find out what comes from outside and what is needed there; `uses` counts all readers."""
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
    """The graph with groups in the place of elementwise steps, in an order that may be another.

    Args:
        fits: `fits(step)` says whether an elementwise step, or a sum, may be in a group.
        alone: `alone(step)` says whether one step is worth a group.
        numbers: whether groups have sums of what they make, and steps on numbers.

    A group stays open, to be joined by later steps of its shape that read what it makes or what it
    reads, until a step outside needs something of it. No open group depends on another.
    """
    steps = _FusionPass(graph, fits, alone, numbers).steps
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


class _FusionPass:
    def __init__(self, graph, fits, alone, numbers):
        self.steps, self._opened, self._numbers = [], [], numbers
        self._alone = alone
        self._home = {}  # id of a Value -> the open group that makes it
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
        """The open groups that make something the step reads."""
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
        """Take a step on numbers into the group whose sums it reads, or into one of numbers."""
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
        """Take a sum into the group that makes what is summed; False if that cannot be."""
        if not is_sum(step):
            return False
        (x,) = step.values
        group = self._home.get(id(x))
        if group is None or group.shape != x.shape or id(x) in group.late:
            return False
        if any(is_sum(s) and s.values[0] is x for s in group.steps):
            return False  # one sum of a value
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
        """Make two groups one, where there is room: neither depends on the other."""
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
        """Put the steps of a group of numbers in front of another's, where there is room."""
        if not group.has_room([*numbers.steps, *following]):
            self._close([numbers])
            return
        group.met |= numbers.met
        self._opened.remove(numbers)
        group.steps[:0] = numbers.steps
        self._home.update((id(v), group) for s in numbers.steps for v in s.made)

    def _gather_numbers(self):
        """What numbers are left over go with another group: no open group depends on another."""
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
    """How a Value goes with results of a shape: see `loops.layout_of`; of one element, a number."""
    if value.size == 1 and value.shape != shape:
        return loop_kernels.NUMBER
    return loop_kernels.layout_of(value.shape, shape)


def columns_of(step, shape):
    """How many elements are in a row: a set, of one number where operands or sums see rows."""
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
_LARGE = 1 << 20  # elements, from which a loop is as fast as memory


def takes_passes(step):
    """Whether a step alone is worth a group: where NumPy goes over the arrays more than once, or
    spreads a column, which takes it twice as long; and a large one that is no ufunc."""
    shape = step.outputs[0].shape
    if any(layout(v, shape) == loop_kernels.COLUMN for v in step.values):
        return True
    if ufunc_of(step.op) is not None:
        return False
    return step.op.name in _SEVERAL_PASSES or step.outputs[0].size >= _LARGE


def lone(step, uses):
    """A group of one step; None where it is neither elementwise nor a sum.

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
    """Whether a step computes a 0-d array from others."""
    if step.op.kind != "elementwise" or not step.op.plain or not step.values:
        return False
    return not step.outputs[0].shape and all(not v.shape for v in step.values)


def is_sum(step):
    """ "all", "leading" or "last": over which axes a step adds up floats; None if it does not."""
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
    """Whether both read one array of their shape."""
    read = {id(v) for s in group.steps for v in s.values if v.shape == group.shape}
    return any(id(v) in read for v in step.values)


def ufunc_of(op):
    """The ufunc that is an op's forward, else None."""
    for candidate in (op.forward, getattr(op.forward, "ufunc", None)):
        if isinstance(candidate, np.ufunc):
            return candidate
    return None
