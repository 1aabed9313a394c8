"""One traced run of a function's Python body, and what makes two runs the same."""

import contextlib

from framework.compiler import ir as graph_module
from framework.compiler.call_arguments import mask_of
from framework.compiler.ir import are_current, generators
from framework.compiler.python_state import Watch
from framework.core import nest
from framework.core.tensor import Tensor


class Trace:
    """What one run did: its graph and the Python state that it read.

    Args:
        graph: the `Graph`.
        state: the `PythonState`; None where it is not known.
        asks_for_types: whether the code asked for the type of a number.
        is_first: whether later runs may differ although nothing has changed: the run was the first
            or made variables, or its Python state is not known.
    """

    __slots__ = ("_generators", "asks_for_types", "graph", "is_first", "state")

    def __init__(self, graph, state, asks_for_types=False, is_first=False):
        self.asks_for_types, self.is_first = asks_for_types, is_first
        self.graph, self.state, self._generators = graph, state, generators(graph)

    def holds(self):
        """Whether a call that begins now reads the same Python state, and draws from the same
        generators."""
        if not are_current(self._generators):
            return False
        return self.state is None or self.state.changed() is None

    def differs_from(self, other):
        """The text of a read that gave another value in the other run; None without one."""
        if self.state is None or other.state is None:
            return None
        return self.state.differs_from(other.state)


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
        builds = recording.made_variables or recording.finds_user_code  # as first runs do
        self.is_first = builds or self.state is None

    @property
    def state(self):
        """The `PythonState` that the run read; None where nothing watched the user's code."""
        known = self.watch.is_over or not self.recording.runs_user_code
        return self.watch.state if known else None

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
        return Trace(graph, self.state, self.watch.asks_for_types, self.is_first)


def traced(
    recording, body, packing, function=None, watches=True, looks=False, keeps_lines=False
):  # fmt: skip
    """`body()` with `recording` listening, as a `Run`.

    Args:
        recording: a new `Recording`.
        body: a function without arguments.
        packing: a function of the result, see `Run`.
        function: the Python function that the body calls, where it is known.
        watches: whether Python code outside the package is watched, which takes as long again as
            the run.
        looks: where code is not watched, whether it is noted if there is any.
        keeps_lines: whether the graph knows the users' lines, also where code is not watched.
    """
    watch = Watch(function)
    recording.runs_user_code = function is not None
    recording.keeps_lines, recording.finds_user_code = watches or keeps_lines, looks
    with recording, watch if watches else contextlib.nullcontext():
        result = body()
        packed = packing(result)
    return Run(recording, watch, result, packed)


graph_module.ENTRY = traced.__code__


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
