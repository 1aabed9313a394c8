"""Which values may share memory, how long each is needed, and which buffer it is written to."""

import numpy as np

from framework.compiler.fusion import Group, ufunc_of
from framework.compiler.graph import OpStep
from framework.compiler.lines import KERNELS, LATE_READERS, into, takes_out
from framework.core.buffers import exclusive

_LINE = 64


class Lives:
    """Classes of values that may be views of one another, and the last step that reads each class.

    A movement may give a view of what it moves; so may any op that gives as many bytes as it
    takes. What a ufunc, a writer or a group gives is an array of its own.
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
        self.read_last.update((id(v), len(graph.steps)) for v in graph.ends)

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
    if type(step) is not OpStep or (value is step.outputs[0] and takes_out(step)):
        return True
    if step.op.kind in ("contraction", "reduction") and step.op.plain:
        return (
            all(v.nbytes != step.outputs[0].nbytes for v in step.values) or into(step) is not None
        )
    return step.op.plain and (ufunc_of(step.op) is not None or into(step) is not None)


class Arena:
    """Blocks of memory that are used again when what they held is no longer needed."""

    def __init__(self):
        self.sizes = []  # bytes of each block
        self._free = []  # numbers of blocks
        self.views = {}  # (block, shape, dtype) -> name
        self._of = {}  # root of a class -> its block

    def take(self, root, value):
        """The name of an array of the value's shape and dtype in a block of its own."""
        fitting = [b for b in self._free if value.nbytes <= self.sizes[b]]
        if fitting:
            # of equals what was in use last, which is still in the cache
            block = min(reversed(fitting), key=self.sizes.__getitem__)
            self._free.remove(block)
        elif self._free:  # the largest grows
            block = max(self._free, key=self.sizes.__getitem__)
            self._free.remove(block)
            self.sizes[block] = value.nbytes
        else:
            block = len(self.sizes)
            self.sizes.append(value.nbytes)
        self._of[root] = block
        return self.name(block, value.shape, value.dtype)

    def block_of(self, root):
        return self._of[root]

    def holds(self, root):
        """The block in which a class lies, as a key; None if there is none."""
        block = self._of.get(root)
        return None if block is None else ("block", block)

    def name(self, block, shape, dtype):
        key = block, shape, dtype
        if key not in self.views:
            self.views[key] = f"b{len(self.views)}"
        return self.views[key]

    def release(self, root):
        """The class is no longer needed."""
        block = self._of.pop(root, None)
        if block is not None:
            self._free.append(block)

    @property
    def nbytes(self):
        return sum(self.sizes)

    def make(self):
        """New memory: the arrays of `views`, in order."""
        blocks = [_aligned(size) for size in self.sizes]
        return [
            np.ndarray(shape, dtype, blocks[block]) for block, shape, dtype in self.views
        ]  # fmt: skip


def _aligned(size):
    """Bytes that begin with a line of the cache: vectors that straddle two are slower to load."""
    whole = np.empty(size + _LINE, np.uint8)
    return whole[-whole.ctypes.data % _LINE :][:size]


# ---- what may be written over ----


def overwritable(step):
    """The inputs over which a step may write: ufuncs and groups write where they read."""
    if type(step) is Group:
        return step.values
    if takes_out(step):
        return [step.args[i] for i in KERNELS[step.op.name](step)]
    return step.values if step.op.name not in LATE_READERS else []


def alike(a, b):
    """Whether one may be written over the other."""
    return a.shape == b.shape and a.dtype == b.dtype


def own_copy(variable):
    """The same with the variable's present value in it."""
    array = variable._array
    if exclusive(array, holders=3) and array.flags.c_contiguous:
        return array
    return np.array(array, order="C")


def own(variable):
    """The variable's array if only it and the run that calls this can see it, else a new one."""
    array = variable._array
    if exclusive(array, holders=3) and array.flags.c_contiguous:  # the run has a name for it too
        return array
    return np.empty(array.shape, array.dtype)
