"""Fusion of elementwise nodes of one shape into groups, each computed in one loop."""

import math

import numpy as np

from framework.compiler import loop_kernels
from framework.compiler.ir import Graph, OpNode
from framework.compiler.loop_codegen import MOST_ARRAYS


class FusionGroup:
    """Elementwise nodes of one shape, sums of their results, and scalar nodes, in order.

    `inputs` are Values from outside that the group reads, `outputs` Values of the group that other
    nodes read. A group of shape () has scalar nodes only.
    """

    __slots__ = ("columns", "inputs", "late", "met", "nodes", "outputs", "shape")
    saved = ()

    def __init__(self, shape):
        self.shape = shape
        self.nodes, self.inputs, self.outputs = [], (), ()
        # ids of sums and of scalars computed from sums, whose values are known only after the loop
        self.late = set()
        # the row length if the group has operands or sums with one element per row or column, else
        # None
        self.columns = None
        self.met = set()  # ids of all inputs and outputs of the group's nodes

    def has_room(self, nodes):
        """Return whether the group, extended by `nodes`, stays within a loop's limit of arrays."""
        return len(self.met.union(*map(_met, nodes))) <= MOST_ARRAYS

    @property
    def all_outputs(self):
        return self.outputs

    @property
    def layer(self):
        return next((s.layer for s in self.nodes if s.layer is not None), None)

    def join(self, node):
        """Append a node to the group."""
        self.nodes.append(node)
        self.met |= _met(node)
        if self.shape and (columns := row_lengths_of(node, self.shape)):
            self.columns = max(columns)

    def finish(self, uses):
        """Set `inputs` and `outputs`, given `Graph.uses()`."""
        made = [v for s in self.nodes for v in s.all_outputs]
        inside = {id(v) for v in made}
        read, inputs = {}, {}
        for value in [v for s in self.nodes for v in s.inputs]:
            read[id(value)] = read.get(id(value), 0) + 1
            if id(value) not in inside:
                inputs[id(value)] = value
        self.inputs = tuple(inputs.values())
        self.outputs = tuple([v for v in made if uses.get(id(v), 0) > read.get(id(v), 0)])


def _met(node):
    return {id(v) for v in (*node.inputs, *node.all_outputs)}


def grouped(graph, fits, alone, numbers=False):
    """Return the graph with elementwise nodes replaced by fusion groups; the order can change.

    Args:
        fits: `fits(node)` returns whether a group can contain the elementwise node or sum.
        alone: `alone(node)` returns whether a single node is worth a group.
        numbers: whether groups also contain sums of their results and scalar nodes.

    A group is open until a node outside it reads one of its results. While it is open, later nodes
    of its shape join if they read its inputs or results. No open group depends on another.
    """
    nodes = _FusionPass(graph, fits, alone, numbers).nodes
    return Graph(graph.arguments, nodes, graph.assigned, graph.results)


class _FusionPass:
    """The implementation of `grouped`; `nodes` is the new list of nodes."""

    def __init__(self, graph, fits, alone, numbers):
        self.nodes, self._opened, self._numbers = [], [], numbers
        self._alone = alone
        self._home = {}  # id of a Value -> the open group that computes it
        self._uses = graph.uses()
        for node in graph.nodes:
            taken = False
            if type(node) is OpNode and len(node.all_outputs) == 1:
                if _is_elementwise(node):
                    taken = fits(node) and self._elementwise(node)
                elif numbers and (_is_number(node) or is_sum(node)):
                    taken = fits(node) and (self._number(node) or self._sum(node))
            if not taken:
                self._close(self._needed(node))
                self.nodes.append(node)
        self._gather_numbers()
        self._close(list(self._opened))

    def _needed(self, node):
        """Return the open groups that compute an input of the node."""
        found = [self._home.get(id(v)) for v in node.inputs]
        return list({id(g): g for g in found if g is not None}.values())

    def _elementwise(self, node):
        needs, shape = self._needed(node), node.outputs[0].shape
        reads = {id(v) for v in node.inputs}
        of_numbers = [g for g in needs if not g.shape]
        joinable = [g for g in needs if g.shape == shape and not reads & g.late]
        if len(needs) == len(of_numbers):
            joinable = [g for g in self._opened if g.shape == shape and _shares(g, node)]
        joinable = [g for g in joinable if has_row_length(g, node) and g.has_room([node])]
        target = joinable[-1] if joinable else None
        for group in joinable[:-1]:
            if group in needs:
                self._merge(target, group, node)
        self._close([g for g in needs if g is not target and g.shape and g in self._opened])
        if target is None:
            target = self._open(shape)
        for group in of_numbers:
            self._absorb(target, group, node)
        self._join(target, node)
        return True

    def _number(self, node):
        """Add a scalar node to the group whose sums it reads, or to a group of scalars."""
        if not _is_number(node):
            return False
        needs = self._needed(node)
        whole = [g for g in needs if g.shape]
        with_room = [g for g in whole or self._opened if g.has_room([node])]
        if whole:
            target = with_room[-1] if with_room else self._open(())
            self._close([g for g in whole if g is not target])
        else:
            target = next((g for g in with_room if not g.shape), None) or self._open(())
        for group in needs:
            if not group.shape and group is not target:
                self._absorb(target, group, node)
        if target.late & {id(v) for v in node.inputs}:
            target.late.add(id(node.outputs[0]))
        self._join(target, node)
        return True

    def _sum(self, node):
        """Add a sum to the group that computes its input; False if that is impossible."""
        if not is_sum(node):
            return False
        (x,) = node.inputs
        group = self._home.get(id(x))
        if group is None or group.shape != x.shape or id(x) in group.late:
            return False
        if any(is_sum(s) and s.inputs[0] is x for s in group.nodes):
            return False  # A loop computes only one sum of a value.
        if not has_row_length(group, node) or not group.has_room([node]):
            return False
        group.late.add(id(node.outputs[0]))
        self._join(group, node)
        return True

    def _open(self, shape):
        group = FusionGroup(shape)
        self._opened.append(group)
        return group

    def _join(self, group, node):
        group.join(node)
        self._home[id(node.outputs[0])] = group

    def _merge(self, group, other, node):
        """Merge two groups within the array limit; neither depends on the other."""
        columns = {group.columns, other.columns, *row_lengths_of(node, group.shape)} - {None}
        if len(columns) > 1 or not group.has_room([*other.nodes, node]):
            return
        group.nodes[:0] = other.nodes
        group.met |= other.met
        group.late |= other.late
        group.columns = max(columns, default=None)
        self._opened.remove(other)
        self._home.update((id(v), group) for s in other.nodes for v in s.all_outputs)

    def _absorb(self, group, numbers, *following):
        """Prepend the nodes of a scalar group to another group, within the array limit."""
        if not group.has_room([*numbers.nodes, *following]):
            self._close([numbers])
            return
        group.met |= numbers.met
        self._opened.remove(numbers)
        group.nodes[:0] = numbers.nodes
        self._home.update((id(v), group) for s in numbers.nodes for v in s.all_outputs)

    def _gather_numbers(self):
        """Merge the remaining scalar groups into an array group; open groups are independent."""
        whole = [g for g in self._opened if g.shape]
        for group in [g for g in self._opened if not g.shape]:
            if whole:
                self._absorb(whole[0], group)

    def _close(self, groups):
        for group in groups:
            self._opened.remove(group)
            group.finish(self._uses)
            several = len(group.nodes) > 1 or self._alone(group.nodes[0])
            self.nodes.extend([group] if several else group.nodes)
            for value in [v for s in group.nodes for v in s.all_outputs]:
                del self._home[id(value)]


def layout(value, shape):
    """Return the layout of a Value in a loop over `shape`, see `loop_ir.layout_of`."""
    if value.size == 1 and value.shape != shape:
        return loop_kernels.NUMBER
    return loop_kernels.layout_of(value.shape, shape)


def row_lengths_of(node, shape):
    """Return the row lengths that a node's operands or sums require; the set is usually empty."""
    size = math.prod(shape)
    over = is_sum(node)
    if over:
        (made,) = node.outputs
        return {"leading": {made.size}, "last": {size // made.size}}.get(over, set())
    found = set()
    for value in node.inputs:
        kind = layout(value, shape)
        if kind == loop_kernels.ROW:
            found.add(value.size)
        elif kind == loop_kernels.COLUMN:
            found.add(size // value.size)
    return found


def has_row_length(group, node):
    """Return whether the node's rows, if it has any, are as long as those of the group."""
    columns = row_lengths_of(node, group.shape)
    return not columns or group.columns is None or columns == {group.columns}


_SEVERAL_PASSES = frozenset(("tanh_back", "sigmoid", "softplus", "gelu", "gelu_back", "gelu_slope"))
_LARGE = 1 << 20  # From this many elements on, only memory bandwidth limits a loop.


def gains_as_loop(node):
    """Return whether a single node is faster as a loop.

    NumPy broadcasts a column at half speed, and computes some ops in several passes over memory.
    """
    shape = node.outputs[0].shape
    if any(layout(v, shape) == loop_kernels.COLUMN for v in node.inputs):
        return True
    if ufunc_of(node.op) is not None:
        return False
    return node.op.name in _SEVERAL_PASSES or node.outputs[0].size >= _LARGE


def single_node_group(node, uses):
    """Return a group of one node; None if it is neither elementwise nor a sum.

    Args:
        uses: `Graph.uses()`.
    """
    if len(node.all_outputs) != 1 or not (_is_elementwise(node) or is_sum(node)):
        return None
    group = FusionGroup(node.inputs[0].shape if is_sum(node) else node.outputs[0].shape)
    group.join(node)
    if is_sum(node):
        group.late.add(id(node.outputs[0]))
    group.finish(uses)
    return group


def _is_elementwise(node):
    if node.op.kind != "elementwise" or not node.op.plain or not node.inputs:
        return False
    (made,) = node.outputs
    return (
        made.shape != ()
        and made.size > 0
        and made.dtype.kind in "fb"
        and made.dtype.itemsize in (1, 4, 8)
    )


def _is_number(node):
    """Return whether the node computes a 0-d array from 0-d arrays."""
    if node.op.kind != "elementwise" or not node.op.plain or not node.inputs:
        return False
    return not node.outputs[0].shape and all(not v.shape for v in node.inputs)


def is_sum(node):
    """Return "all", "leading" or "last", the axes over which a node sums floats, or None."""
    if node.op.name not in ("sum_to", "reduce_sum", "reduce_mean") or len(node.inputs) != 1:
        return None
    (x,), (y,) = node.inputs, node.outputs
    if x.dtype.kind != "f" or x.dtype.itemsize < 4 or x.dtype != y.dtype or x.size < 2:
        return None
    if node.op.name == "sum_to":
        if y.shape == ():
            return "all"
        lead = len(x.shape) - len(y.shape)
        return "leading" if lead and x.shape[lead:] == y.shape else None
    axis, keepdims = node.attrs["axis"], node.attrs["keepdims"]
    axes = len(x.shape)
    if len(axis) == axes:
        return "all" if not keepdims else None
    if axis == tuple(range(len(axis))):
        return "leading" if len(axis) else None
    return "last" if axis == tuple(range(axes - len(axis), axes)) and len(axis) else None


def _shares(group, node):
    """Return whether the node and the group read a common array of full shape."""
    read = {id(v) for s in group.nodes for v in s.inputs if v.shape == group.shape}
    return any(id(v) in read for v in node.inputs)


def ufunc_of(op):
    """Return the ufunc that is the forward function of an op, or None."""
    for candidate in (op.forward, getattr(op.forward, "ufunc", None)):
        if isinstance(candidate, np.ufunc):
            return candidate
    return None
