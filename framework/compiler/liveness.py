"""Aliasing and liveness: which values may share memory, their last use, in-place writes."""

import numpy as np

from framework.compiler.fusion import FusionGroup, ufunc_of
from framework.compiler.ir import DrawNode, GuardNode, OpNode
from framework.compiler.lowering import KERNELS, LATE_READERS, into, takes_out
from framework.compiler.region_kernels import KERNEL_CALLS
from framework.core.buffers import exclusive


class Liveness:
    """Alias classes (values that may be views of one another) and the last use of each class.

    A movement op may return a view of its input, and so may any op whose output has as many bytes
    as an input. Ufuncs, ops in `lowering.INTO`, fusion groups and ops declared `fresh` return new
    arrays.
    """

    def __init__(self, graph):
        self._root = {}
        self.members = {}  # root of an alias class -> its values
        self.last = {}  # root of an alias class -> position of the last node that uses it
        self.read_last = {}  # id of a Value -> position of the last node that reads it
        for value in graph.arguments:
            self._add(value)
        for position, node in enumerate(graph.nodes):
            for value in node.inputs:
                self._add(value)
                self.read_last[id(value)] = position
            for value in node.all_outputs:
                self._add(value)
                if not returns_new_array(node, value):
                    self._join(value, node)
        for value in graph.ends:
            self._add(value)
        for position, node in enumerate(graph.nodes):
            for value in (*node.inputs, *node.all_outputs):
                self.last[self.root(value)] = position
        self.escaped = {self.root(v) for v in graph.ends}
        # indices of the arguments that may share memory with results and assigned values
        self.shared = [n for n, v in enumerate(graph.arguments) if self.root(v) in self.escaped]
        self.read_last.update((id(v), len(graph.nodes)) for v in graph.ends)
        stops = [position for position, node in enumerate(graph.nodes) if may_end_call(node)]
        # position of the last node that can end a call early, such as a guard
        self.last_stop = max(stops, default=-1)

    def root(self, value):
        """Return the id that represents the alias class of the value."""
        key = id(value)
        while self._root[key] != key:
            key = self._root[key]
        return key

    def values(self):
        """Return all Values of the graph."""
        return [v for members in self.members.values() for v in members]

    def _add(self, value):
        if id(value) not in self._root:
            self._root[id(value)] = id(value)
            self.members[id(value)] = [value]

    def _join(self, value, node):
        for other in node.inputs:
            if node.op.kind == "movement" or other.nbytes == value.nbytes:
                a, b = self.root(value), self.root(other)
                if a != b:
                    self._root[a] = b
                    self.members[b] += self.members.pop(a)


def returns_new_array(node, value):
    """Return whether an output of the node is certainly a new array."""
    if type(node) is not OpNode or node.op.fresh:
        return True
    if value is node.outputs[0] and takes_out(node):
        return True
    if node.op.kind in ("contraction", "reduction") and node.op.plain:
        return (
            all(v.nbytes != node.outputs[0].nbytes for v in node.inputs) or into(node) is not None
        )
    return node.op.plain and (ufunc_of(node.op) is not None or into(node) is not None)


def may_end_call(node):
    """Return whether a node can end a call early; variables must not change before it."""
    if type(node) is OpNode:
        raises = node.op.raises
        return raises(node.all_outputs[0].dtype) if callable(raises) else raises
    return type(node) is GuardNode or (type(node) is DrawNode and callable(node.draw.source))


# ---- in-place writes ----


def overwritable(node):
    """Return the inputs that the output of a node may overwrite, such as those of ufuncs."""
    if type(node) is FusionGroup:
        return node.inputs
    if takes_out(node):
        return [node.args[i] for i in KERNELS[node.op.name](node)]
    late = node.op.name in LATE_READERS or node.op.name in KERNEL_CALLS
    return [] if late else node.inputs


def alike(a, b):
    """Return whether values have equal shapes and dtypes, so that one can overwrite the other."""
    return a.shape == b.shape and a.dtype == b.dtype


def own(variable):
    """Return the variable's array if nothing else refers to it, else a new array.

    Three references are expected: the variable's, the calling plan's and the local name. The
    generated code calls this function on a line of its own: within the arguments of another call,
    Python's stack would hold further references.
    """
    array = variable._array
    if exclusive(array, holders=3, contiguous=True):
        return array
    return np.empty(array.shape, array.dtype)


def own_copy(variable):
    """Return the variable's array if nothing else refers to it, else a copy."""
    array = variable._array
    if exclusive(array, holders=3, contiguous=True):
        return array
    return np.array(array, order="C")
