"""One traced run of a function's Python body, and what makes two runs the same."""

import contextlib

from framework.compiler.arguments import mask_of
from framework.compiler.graph import are_current, generators
from framework.compiler.python_state import Watch
from framework.core import nest
from framework.core.tensor import Tensor


class Trace:
    """What one run did: its graph and the Python state that it read.

    Args:
        graph: the `Graph`.
        state: the `PythonState`.
        asks_for_types: whether the code asked for the type of a number.
    """

    __slots__ = ("_generators", "asks_for_types", "graph", "state")

    def __init__(self, graph, state, asks_for_types=False):
        self.asks_for_types = asks_for_types
        self.graph, self.state, self._generators = graph, state, generators(graph)

    def holds(self):
        """Whether a call that begins now reads the same Python state, and draws from the same
        generators."""
        return are_current(self._generators) and self.state.changed() is None


class Run:
    """A traced run: `result` is what it returned; other attributes say whether it can be repeated.

    Args:
        recording: the `Recording` that listened.
        watch: the `Watch` beside it.
        result: what the body returned.
        packing: (its tensors, the function that puts arrays in their places); (None, None) where
            it is not made of tensors.
    """

    def __init__(self, recording, watch, result, packing):
        self.recording, self.watch, self.result = recording, watch, result
        self.leaves, self.pack = packing
        self.structure = None if self.leaves is None else structure_of(result)

    @property
    def state(self):
        return self.watch.state

    @property
    def changed(self):
        """The text of a read whose value the run itself has changed; None without one."""
        return self.watch.changed

    def trouble(self):
        """Why the run cannot be repeated by a plan; None where it can be."""
        if self.recording.refusal is not None:
            return str(self.recording.refusal)
        if self.leaves is None:
            return f"it returns {type(self.result).__name__}, which is not made of tensors"
        return self.watch.trouble

    def graph(self):
        """The graph of the run."""
        return self.recording.graph(self.leaves, self.structure)

    def trace(self, graph=None):
        """The `Trace` of the run, with another graph of it where one is given."""
        graph = self.graph() if graph is None else graph
        return Trace(graph, self.state, self.watch.asks_for_types)


def traced(recording, body, packing, function=None, audited=False):
    """`body()` with `recording` listening, as a `Run`.

    Args:
        recording: a new `Recording`.
        body: a function without arguments.
        packing: a function of the result, see `Run`.
        function: the Python function that the body calls, where it is known.
        audited: whether a plan has the run's guards already; Python code is not watched then.
    """
    watch = Watch(function)
    with recording, contextlib.nullcontext() if audited else watch:
        result = body()
        packed = packing(result)
    return Run(recording, watch, result, packed)


def structure_of(result):
    """The nest of a result: containers, keys, texts, and the places of tensors and of None."""
    if isinstance(result, dict) or (isinstance(result, (list, tuple)) and result):
        children = result.values() if isinstance(result, dict) else result
        keys = tuple(result) if isinstance(result, dict) else len(result)
        return type(result), keys, tuple([structure_of(child) for child in children])
    if type(result) is Tensor:
        return "tensor" if mask_of(result) is None else "tensor with a mask"
    if result is None or isinstance(result, (str, bytes)):
        return result
    return type(result), len(nest.flatten(result))
