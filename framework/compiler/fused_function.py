"""Fused elementwise functions, such as optimizer updates: one pass over the arrays, in place.

The function is traced twice, with two array shapes. If both graphs are equal, the first is compiled
for arrays of any size. Functions that read sizes or take a mean are not compiled.
"""

import numpy as np

from framework.compiler.compiler_log import brief, tell
from framework.compiler.fused_backends import NumbaLoops, NumpyBlocks
from framework.compiler.fusion import is_sum
from framework.compiler.graph_comparison import difference
from framework.compiler.ir import GraphRecorder, OpNode
from framework.compiler.loop_lowering import BYTE, CALL
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.kernels import tier

_told = set()  # steps, such as "compiling", whose failure has been logged


class FusedFunction:
    """A compiled elementwise function of arrays of one shape and of scalars.

    Args:
        function: receives a tensor for each array and each scalar, by keyword; returns a dict of
            tensors, each named after the array that it replaces.
        arrays, numbers: the names of the array and scalar parameters.
        dtype: NumPy dtype of all arguments.
        ndim: the number of dimensions of the arrays while tracing.

    `form` is the backend: `NumpyBlocks`, or `NumbaLoops` once these are compiled. It is None if the
    caller must call the function directly: the function sums over all elements (only loops support
    this), is not elementwise, reads sizes or values in Python, or uses state. `possible` is false
    if no backend can compute the function.
    """

    def __init__(self, function, arrays, numbers, dtype, ndim=1):
        shape, other = (2,) * ndim, (257, *range(3, ndim + 2))[:ndim]
        graph, results = _recorded(function, arrays, numbers, dtype, shape)
        self.outputs = tuple(results)
        self._places = [arrays.index(name) for name in results]
        self._graph, self._shape = graph, shape
        # the NumbaLoops, created at the first use; False if a loop cannot compute a node
        self._loops = None
        nodes = graph.nodes if graph is not None else []
        pure = all(map(self._is_fitting, nodes)) and any(s.all_outputs[0].shape for s in nodes)
        pure = pure and self._is_distinct()
        if pure and ndim:
            again, _ = _recorded(function, arrays, numbers, dtype, other)
            pure = again is not None and difference(graph, _reshaped(again, other, shape)) is None
        sums = any(map(is_sum, nodes)) if pure else False
        self.form = NumpyBlocks(graph, self._places) if pure and not sums else None
        self.possible = self.form is not None or sums
        # the nodes whose results are arrays, not scalars
        self._whole = [s for s in nodes if s.all_outputs[0].shape] if pure else []

    def _is_distinct(self):
        """Return whether results may be written in place: none is constant or another argument."""
        results, arguments = self._graph.results, self._graph.arguments
        if any(v.shape != self._shape or v.constant is not None for v in results):
            return False
        own = {id(arguments[place]): id(v) for v, place in zip(results, self._places)}
        others = {id(v) for v in arguments if own.get(id(v)) != id(v)}
        ids = [id(v) for v in results]
        return len(set(ids)) == len(ids) and not others & set(ids)

    def _is_fitting(self, node):
        if type(node) is not OpNode or not node.op.plain:
            return False
        if any(v.shape not in (self._shape, ()) for v in (*node.inputs, *node.all_outputs)):
            return False
        if any(v.constant is not None and v.shape for v in node.inputs):
            return False
        if node.op.name == "reduce_mean":
            # A mean divides by the size, which may differ between calls, so it cannot be compiled.
            return False
        return is_sum(node) == "all" or (node.op.kind == "elementwise" and not node.attrs)

    def work(self, size):
        """Estimate the seconds that NumPy takes on arrays of `size` elements."""
        moved = [v for s in self._whole for v in (*s.inputs, *s.all_outputs) if v.shape]
        return CALL * len(self._whole) + BYTE * size * sum(v.dtype.itemsize for v in moved)

    def nbytes(self, size):
        """Return the number of bytes that all nodes write for arrays of `size` elements."""
        return size * sum(s.all_outputs[0].dtype.itemsize for s in self._whole)

    @property
    def loops(self):
        """The Numba backend, which may be uncompiled; None if it does not support the function."""
        if self._loops is None:
            try:
                self._loops = NumbaLoops(self._graph, self._places)
            except InvalidArgumentError:
                self._loops = False
            except Exception as error:
                self._stay("generating", error)
        return self._loops or None

    def _stay(self, doing, error):
        """Log a failure of the compiler once; training continues with the NumPy backend."""
        self._loops = False
        if doing not in _told:
            _told.add(doing)
            told = f"{doing} the loops failed ({brief(error)})"
            tell(f"The optimizer's update stays with NumPy calls: {told}.", error)

    def use_loops(self):
        """Switch to Numba loops if Numba is installed and they can compute the function.

        The first compilation on a machine takes about a second.
        """
        try:
            if tier.library("elementwise") is not None and self.loops is not None:
                self.loops.compile()
                self.form = self.loops
        except Exception as error:
            self._stay("compiling", error)


def _recorded(function, arrays, numbers, dtype, shape):
    """Return (graph, results by name) of a trace; graph is None if it has side effects."""
    probes = {name: Tensor(np.ones(shape, dtype)) for name in arrays}
    probes.update({name: Tensor(np.ones((), dtype)) for name in numbers})
    recording = GraphRecorder(probes.values())
    with recording:
        results = function(**probes)
    graph = recording.graph(results.values())
    return None if recording.refusal is not None or graph.assigned else graph, results


def _reshaped(graph, old, new):
    """Replace one shape by another in all Values of the graph, and return the graph."""
    for value in (*graph.arguments, *(v for s in graph.nodes for v in (*s.inputs, *s.all_outputs))):
        value.shape = new if value.shape == old else value.shape
    return graph
