"""Which values may be views of one another, how long each is needed, what may be written over."""

import numpy as np

from framework.compiler.fusion import FusionGroup, ufunc_of
from framework.compiler.ir import DrawNode, GuardNode, OpNode
from framework.compiler.lowering import KERNELS, LATE_READERS, into, takes_out
from framework.compiler.region_kernels import PARTS
from framework.core.buffers import exclusive


class Liveness:
    """Classes of values that may be views of one another, and the last step that reads each class.

    A movement may give a view of what it moves; so may any op that gives as many bytes as it
    takes. What a ufunc, a writer, a group or an op whose results are `fresh` gives is an array of
    its own.
    """

    def __init__(self, graph):
        self._root = {}
        self.members = {}  # root's id -> the class
        self.last = {}  # root's id -> position of the last step that reads it
        self.read_last = {}  # id of a Value -> the same for the Value alone
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
        # places of the arguments that a result may be a view of
        self.shared = [n for n, v in enumerate(graph.arguments) if self.root(v) in self.escaped]
        self.read_last.update((id(v), len(graph.steps)) for v in graph.ends)
        stops = [position for position, step in enumerate(graph.steps) if may_stop(step)]
        self.last_stop = max(stops, default=-1)  # position of the last step that may end a run

    def root(self, value):
        """The id that stands for the value's class."""
        key = id(value)
        while self._root[key] != key:
            key = self._root[key]
        return key

    def values(self):
        """All Values of the graph."""
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
    """Whether an output of the step is sure to be an array of its own."""
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
    """Whether a step may end a run before its last step: until then nothing may have changed."""
    if type(step) is OpNode:
        raises = step.op.raises
        return raises(step.made[0].dtype) if callable(raises) else raises
    return type(step) is GuardNode or (type(step) is DrawNode and callable(step.draw.source))


# ---- what may be written over ----


def overwritable(step):
    """The inputs over which a step may write: ufuncs and groups write where they read."""
    if type(step) is FusionGroup:
        return step.values
    if takes_out(step):
        return [step.args[i] for i in KERNELS[step.op.name](step)]
    late = step.op.name in LATE_READERS or step.op.name in PARTS
    return [] if late else step.values


def alike(a, b):
    """Whether one may be written over the other."""
    return a.shape == b.shape and a.dtype == b.dtype


def own(variable):
    """The variable's array if only it and the run that calls this can see it, else a new one.

    The run has a name for the array, which makes three holders with the variable and the name here.
    It calls this in a line of its own: among the arguments of another call those before it, which
    Python has fetched by then, would hold the array as well.
    """
    array = variable._array
    if exclusive(array, holders=3) and array.flags.c_contiguous:
        return array
    return np.empty(array.shape, array.dtype)


def own_copy(variable):
    """The same with the variable's present value in it."""
    array = variable._array
    if exclusive(array, holders=3) and array.flags.c_contiguous:
        return array
    return np.array(array, order="C")
