"""Aliasing and liveness: which values may share memory, their last use, in-place writes."""

import numpy as np

from framework.compiler.fusion import FusionGroup, ufunc_of
from framework.compiler.ir import DrawNode, GuardNode, OpNode
from framework.compiler.lowering import KERNELS, LATE_READERS, into, takes_out
from framework.compiler.region_kernels import KERNEL_CALLS
from framework.core.buffers import exclusive


class Liveness:
    """Alias classes (values that may be views of one another) and the last use of each class.

    A movement op may return a view of its input; so may any op whose output has as many bytes as an
    input. Ufuncs, writers, fusion groups and ops declared `fresh` return new arrays.
    """

    def __init__(self, graph):
        self._root = {}
        self.members = {}  # root of a class -> its values
        self.last = {}  # root of a class -> position of the last node that uses it
        self.read_last = {}  # id of a Value -> position of the last node that reads it
        for value in graph.arguments:
            self._add(value)
        for position, step in enumerate(graph.steps):
            for value in step.values:
                self._add(value)
                self.read_last[id(value)] = position
            for value in step.made:
                self._add(value)
                if not makes_own(step, value):
                    self._join(value, step)
        for value in graph.ends:
            self._add(value)
        for position, step in enumerate(graph.steps):
            for value in (*step.values, *step.made):
                self.last[self.root(value)] = position
        self.escaped = {self.root(v) for v in graph.ends}
        # indices of the arguments that a result may be a view of
        self.shared = [n for n, v in enumerate(graph.arguments) if self.root(v) in self.escaped]
        self.read_last.update((id(v), len(graph.steps)) for v in graph.ends)
        stops = [position for position, step in enumerate(graph.steps) if may_stop(step)]
        self.last_stop = max(stops, default=-1)  # position of the last node that can end a call

    def root(self, value):
        """Return the id that represents the value's class."""
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

    def _join(self, value, step):
        for other in step.values:
            if step.op.kind == "movement" or other.nbytes == value.nbytes:
                a, b = self.root(value), self.root(other)
                if a != b:
                    self._root[a] = b
                    self.members[b] += self.members.pop(a)


def makes_own(step, value):
    """Return whether an output of the node is certainly a new array."""
    if type(step) is not OpNode or step.op.fresh:
        return True
    if value is step.outputs[0] and takes_out(step):
        return True
    if step.op.kind in ("contraction", "reduction") and step.op.plain:
        return (
            all(v.nbytes != step.outputs[0].nbytes for v in step.values) or into(step) is not None
        )
    return step.op.plain and (ufunc_of(step.op) is not None or into(step) is not None)


def may_stop(step):
    """Return whether a node can end a call early: no variable may have changed before it."""
    if type(step) is OpNode:
        raises = step.op.raises
        return raises(step.made[0].dtype) if callable(raises) else raises
    return type(step) is GuardNode or (type(step) is DrawNode and callable(step.draw.source))


# ---- in-place writes ----


def overwritable(step):
    """Return the inputs that the output of a node may overwrite, such as those of ufuncs."""
    if type(step) is FusionGroup:
        return step.values
    if takes_out(step):
        return [step.args[i] for i in KERNELS[step.op.name](step)]
    late = step.op.name in LATE_READERS or step.op.name in KERNEL_CALLS
    return [] if late else step.values


def alike(a, b):
    """Return whether shapes and dtypes are equal, so that one can overwrite the other."""
    return a.shape == b.shape and a.dtype == b.dtype


def own(variable):
    """Return the variable's array if nothing else refers to it, else a new array.

    Three references are expected: the variable's, the calling plan's and the name here. The plan
    calls this in a line of its own: within another call's arguments, Python's stack would hold
    further references.
    """
    array = variable._array
    if exclusive(array, holders=3) and array.flags.c_contiguous:
        return array
    return np.empty(array.shape, array.dtype)


def own_copy(variable):
    """Return the variable's array if nothing else refers to it, else a copy."""
    array = variable._array
    if exclusive(array, holders=3) and array.flags.c_contiguous:
        return array
    return np.array(array, order="C")
