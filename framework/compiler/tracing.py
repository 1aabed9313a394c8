"""Tracing: run the Python body of a function once and record its graph and its Python state."""

import contextlib

from framework.compiler import ir as graph_module
from framework.compiler.call_arguments import mask_of
from framework.compiler.ir import are_current, generators
from framework.compiler.python_state import Watch
from framework.core import nest
from framework.core.tensor import Tensor


class Trace:
    """A graph and the Python state that it depends on.

    Args:
        graph: the `Graph`.
        state: the `PythonState`, or None if user code was not watched.
        asks_for_types: whether the code called `type` on a number.
        is_first: whether a later trace may differ: this was the first call, it created variables,
            or user code was not watched.
    """

    __slots__ = ("_generators", "asks_for_types", "graph", "is_first", "state")

    def __init__(self, graph, state, asks_for_types=False, is_first=False):
        self.asks_for_types, self.is_first = asks_for_types, is_first
        self.graph, self.state, self._generators = graph, state, generators(graph)

    def holds(self):
        """Return whether the Python state and the random generators are those of the trace."""
        if not are_current(self._generators):
            return False
        return self.state is None or self.state.changed() is None

    def differs_from(self, other):
        """Return a Python expression, as text, whose value differs in the other trace, or None."""
        if self.state is None or other.state is None:
            return None
        return self.state.differs_from(other.state)


class TracedCall:
    """A traced call: its result, and whether and how a plan can repeat it.

    Args:
        recording: the `GraphRecorder` of the call.
        watch: the `Watch` of the call.
        result: the result of the body.
        packing: (tensors, builder) as of `result_packer`.
    """

    def __init__(self, recording, watch, result, packing):
        self.recording, self.watch, self.result = recording, watch, result
        self.leaves, self.pack = packing
        self.structure = None if self.leaves is None else structure_of(result)
        # A call that creates variables, or only looks for user code, counts as a first call.
        builds = recording.created_variables or recording.finds_user_code
        self.is_first = builds or self.state is None

    @property
    def state(self):
        """The `PythonState` that the call read; None if user code was not watched."""
        known = self.watch.is_over or not self.recording.runs_user_code
        return self.watch.state if known else None

    @property
    def changed(self):
        """A Python expression, as text, whose value the call itself changed, or None."""
        return self.watch.changed

    def trouble(self):
        """Return the reason why a plan cannot repeat the call, or None."""
        if self.recording.refusal is not None:
            return str(self.recording.refusal)
        if self.leaves is None:
            return (
                f"the function returns {type(self.result).__name__}, which is not a nest of tensors"
            )
        return self.watch.trouble

    def graph(self):
        """Return the graph of the call."""
        return self.recording.graph(self.leaves, self.structure)

    def trace(self, graph=None):
        """Return the `Trace` of the call, with `graph` instead of its own graph if given."""
        graph = self.graph() if graph is None else graph
        return Trace(graph, self.state, self.watch.asks_for_types, self.is_first)


def traced(
    recording, body, packing, function=None, watches=True, looks=False, keeps_lines=False
):  # fmt: skip
    """Call `body()` with `recording` open and return a `TracedCall`.

    Args:
        recording: a new `GraphRecorder`.
        body: a function without arguments.
        packing: `packing(result)` returns (tensors, builder), see `result_packer`.
        function: the Python function that the body calls, if known.
        watches: whether user code is watched for Python state, which doubles the time.
        looks: whether to note that user code runs, if it is not watched.
        keeps_lines: whether nodes keep lines of user code even if it is not watched.
    """
    watch = Watch(function)
    recording.runs_user_code = function is not None
    recording.keeps_lines, recording.finds_user_code = watches or keeps_lines, looks
    with recording, watch if watches else contextlib.nullcontext():
        result = body()
        packed = packing(result)
    return TracedCall(recording, watch, result, packed)


graph_module.ENTRY = traced.__code__


def structure_of(result):
    """Return the structure of a result: containers, keys, strings, tensors and None."""
    if isinstance(result, dict) or (isinstance(result, (list, tuple)) and result):
        children = result.values() if isinstance(result, dict) else result
        keys = tuple(result) if isinstance(result, dict) else len(result)
        return type(result), keys, tuple([structure_of(child) for child in children])
    if type(result) is Tensor:
        return "tensor" if mask_of(result) is None else "tensor with a mask"
    if result is None or isinstance(result, (str, bytes)):
        return result
    return type(result), len(nest.flatten(result))
