"""Merges several traces of a call into one graph; sizes that differ between them are unknown."""

import types
from functools import partial

import numpy as np

from framework.compiler.ir import DrawNode, GraphRecorder, GuardNode, Value, user_position
from framework.compiler.tracing import traced
from framework.core import nest
from framework.core.errors import ExportError, InvalidArgumentError
from framework.core.numpy_warnings import no_warnings
from framework.core.op import table
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.saving.onnx.sizes import Size, at, size_from


class Varying:
    """A constant that differs between the traces: one array per trace."""

    __slots__ = ("arrays",)

    def __init__(self, arrays):
        self.arrays = tuple(arrays)


class Array:
    """An array of a `GeneralGraph`.

    Args:
        values: the `Value` of each trace.

    Attributes:
        shape: ints, and a Size where traces differ.
        dtype: a NumPy dtype.
        variable: the variable that holds it, or None.
        constant: its array in each trace if it is a constant, else None.
    """

    __slots__ = ("constant", "dtype", "shape", "variable")

    def __init__(self, values):
        first = values[0]
        self.shape = tuple(size_from(sizes) for sizes in zip(*(v.shape for v in values)))
        self.dtype, self.variable = first.dtype, first.variable
        self.constant = None
        if first.constant is not None:
            self.constant = tuple(v.constant for v in values)


class Call:
    """A node of a `GeneralGraph`: `op(*args, **attrs)`, or a random draw if `op` is None.

    Args:
        op: the Op.
        args: `Array` objects, numbers and None.
        attrs: a dict; a number that differs between traces is a `Size`, such an array a `Varying`.
        outputs: the `Array` objects that it computes.
        node: the node of the first trace.
    """

    __slots__ = ("args", "attrs", "node", "op", "outputs")

    def __init__(self, op, args, attrs, outputs, node):
        self.op, self.args, self.attrs, self.outputs, self.node = op, args, attrs, outputs, node


class _ExportRecorder(GraphRecorder):
    """Records an exported call; printing a tensor is allowed, and happens only in the trace."""

    def value_read(self, tensor, how):
        if how != "print":
            super().value_read(tensor, how)


class GeneralGraph:
    """The ops of a traced function, as a graph that is valid for all sizes of its arguments.

    Args:
        arguments: the Arrays of its arguments.
        calls: Calls, in order.
        results: the Arrays it returns.
        traces: the number of traces.
        assigned: (variable, Array) of each variable that it assigns.
    """

    def __init__(self, arguments, calls, results, traces, assigned=()):
        self.arguments, self.calls, self.results = arguments, calls, results
        self.traces, self.assigned = traces, assigned


def where(node):
    """Return " in layer PATH, at FILE:LINE" of a node; parts that are unknown are left out."""
    layer, line = getattr(node, "layer", None), getattr(node, "line", None)
    path = layer.path if layer is not None else None
    text = f" in layer {path!r}" if path else ""
    return text + (f", at {line[0]}:{line[1]}" if line else "")


def path_of(variable):
    """Return the path of a Keras variable, otherwise the name."""
    return getattr(variable, "path", None) or variable.name.partition(":")[0]


def _packed(result):
    """Return a call's result as (tensors, None), or (None, None) if it is not a nest of tensors."""
    leaves = [leaf.read() if isinstance(leaf, CoreVariable) else leaf
              for leaf in nest.flatten(result)]  # fmt: skip
    return (leaves if all(type(leaf) is Tensor for leaf in leaves) else None), None


def _traced_graph(function, arguments, assigns):
    """Trace `function(*tensors)` once and return (Graph, result)."""
    call = _recorded(function, arguments)
    if call.recording.created_variables:
        call = _recorded(function, arguments)
    call.recording.undo()
    outside = user_position()
    for node in call.recording.nodes:
        # the line of the call of `export` says nothing about the function
        if node.line == outside:
            node.line = None
    _check(call.recording, call, assigns)
    return call.graph(), call.result


def _recorded(function, arguments):
    tensors = [Tensor(a) for a in arguments]
    return traced(
        _ExportRecorder(tensors, undoable=True), lambda: function(*tensors), _packed,
        types.FunctionType, watches=False, keeps_lines=True,
    )  # fmt: skip


def _check(recording, call, assigns):
    """Raise ExportError if a graph of ops cannot repeat the traced call."""
    if recording.refusal is not None:
        raise ExportError(f"{recording.refusal}. An exported graph needs an op on tensors there.")
    if call.leaves is None or not (call.leaves or assigns):
        raise ExportError(f"The call returns {type(call.result).__name__}, not a nest of tensors.")
    for node in recording.nodes:
        if type(node) is GuardNode and node.how != "shape":
            raise ExportError(
                f"Python reads the value of a tensor ({node.how}){where(node)}, so other inputs "
                "could take another branch. Use tf.where or keras.ops.where instead."
            )
    for variable, _ in () if assigns else recording.assigned.values():
        raise ExportError(
            f"The call assigns the variable {path_of(variable)!r}, but a graph has no state: pass "
            "the state as an input and return the new one."
        )


@no_warnings
def general_graph(functions, trials, assigns=False):
    """Trace each of `functions` on its arrays; return (GeneralGraph, first result).

    Args:
        functions: functions of tensors.
        trials: the arrays of each.
        assigns: whether they may assign variables, and return nothing.

    Raises:
        ExportError: a call cannot be repeated as a graph, or the traces differ in more than sizes.
    """
    traces = [
        _traced_graph(f, arrays, assigns) for f, arrays in zip(functions, trials, strict=True)
    ]
    return _Merge([graph for graph, _ in traces]).graph(), traces[0][1]


class _Merge:
    def __init__(self, graphs):
        self._graphs = graphs
        self._arrays = {}  # maps the ids of the Values of all traces to their Array

    def graph(self):
        graphs = self._graphs
        arguments = [self._array(values) for values in zip(*(g.arguments for g in graphs))]
        listed = [[n for n in g.nodes if type(n) is not GuardNode] for g in graphs]
        if len({len(nodes) for nodes in listed}) > 1:
            raise ExportError(_DIFFER.format(where(_first_difference(listed))))
        calls = [self._call(nodes) for nodes in zip(*listed)]
        results = [self._array(values) for values in zip(*(g.results for g in graphs))]
        assigned = [self._assignment(pairs) for pairs in zip(*(g.assigned for g in graphs))]
        return GeneralGraph(arguments, calls, results, len(graphs), assigned)

    def _assignment(self, pairs):
        variables = [variable for variable, _ in pairs]
        if any(variable is not variables[0] for variable in variables):
            raise ExportError(_DIFFER.format(""))
        return variables[0], self._array([value for _, value in pairs])

    def _array(self, values):
        key = tuple(id(v) for v in values)
        if key not in self._arrays:
            first = values[0]
            alike = {(len(v.shape), v.dtype, v.constant is None, v.argument) for v in values}
            if len(alike) > 1 or any(v.variable is not first.variable for v in values):
                raise ExportError(_DIFFER.format(""))
            self._arrays[key] = Array(values)
        return self._arrays[key]

    def _call(self, nodes):
        first = nodes[0]
        if len({type(n) for n in nodes}) > 1:
            raise ExportError(_DIFFER.format(where(first)))
        if len({len(n.all_outputs) for n in nodes}) > 1:
            raise ExportError(_DIFFER.format(where(first)))
        outputs = [self._array(v) for v in zip(*(n.all_outputs for n in nodes))]
        if type(first) is DrawNode:
            attrs = {name: self._merged([getattr(n.draw, name) for n in nodes], first)
                     for name in ("distribution", "shape", "dtype", "a", "b")}  # fmt: skip
            return Call(None, (), attrs, outputs, first)
        if any(n.op is not first.op or len(n.args) != len(first.args) for n in nodes):
            raise ExportError(_DIFFER.format(where(first)))
        args = [self._argument(args, first) for args in zip(*(n.args for n in nodes))]
        attrs = {name: self._attribute([n.attrs[name] for n in nodes], first)
                 for name in first.attrs}  # fmt: skip
        return Call(first.op, args, attrs, outputs, first)

    def _attribute(self, values, node):
        if table.get(node.op.name) is node.op or all(v is values[0] for v in values):
            return self._merged(values, node)
        # each trace keeps its own value, such as one that a custom gradient has saved
        return Varying(values)

    def _argument(self, args, node):
        if all(type(a) is Value for a in args):
            return self._array(args)
        return self._merged(args, node)

    def _merged(self, values, node):
        """Merge an attribute of all traces: values that differ become a Size or Varying."""
        first = values[0]
        if len({type(v) for v in values}) > 1:
            raise ExportError(_DIFFER.format(where(node)))
        if type(first) in (tuple, list):
            if len({len(v) for v in values}) > 1:
                raise ExportError(_DIFFER.format(where(node)))
            return type(first)([self._merged(v, node) for v in zip(*values)])
        if isinstance(first, slice):
            ends = zip(*((s.start, s.stop, s.step) for s in values))
            return slice(*(self._merged(v, node) for v in ends))
        if isinstance(first, np.ndarray):
            return first if _equal(values) else Varying(values)
        if isinstance(first, (bool, np.bool_)) or not isinstance(first, (int, np.integer)):
            if isinstance(first, (float, np.floating)) and not _equal(values):
                return Varying(np.asarray(v) for v in values)
            if all(v is first for v in values) or all(v == first for v in values):
                return first
            raise ExportError(_DIFFER.format(where(node)))
        return size_from(values)


def _equal(values):
    return all(np.array_equal(v, values[0], equal_nan=v.dtype.kind == "f") if hasattr(v, "dtype")
               else v == values[0] for v in values)  # fmt: skip


_DIFFER = (
    "Traces with different sizes call different ops{}: Python decides by a size that is unknown. "
    "Give fixed sizes in input_signature."
)


def _first_difference(listed):
    for nodes in zip(*listed):
        if len({type(n) for n in nodes}) > 1 or len({getattr(n, "op", None) for n in nodes}) > 1:
            return nodes[0]
    return max(listed, key=len)[min(map(len, listed))]


def expanded(call, count):
    """Trace the composite of a call's op for the call's sizes; return (arguments, GeneralGraph).

    Args:
        call: a Call whose op has a composite, which computes it by other ops.
        count: the number of traces.
    """
    places = [i for i, a in enumerate(call.args) if type(a) is Array]

    def composite(k):
        attrs = {name: at_trace(value, k) for name, value in call.attrs.items()}

        def run(*tensors):
            args = [at_trace(a, k) for a in call.args]
            for place, tensor in zip(places, tensors):
                args[place] = tensor
            return call.op.composite(*args, **attrs)

        return run

    arguments = [call.args[i] for i in places]
    functions = [composite(k) for k in range(count)]

    def attempt(fill):
        trials = [[filled(a.shape, a.dtype, k, fill) for a in arguments] for k in range(count)]
        return general_graph(functions, trials)[0]

    return arguments, first_that_runs([partial(attempt, fill) for fill in FILLS])


FILLS = ("varied", "zeros", "ones", "rising", "identity")
"""Contents of the arrays on which a call is traced, in the order of trials.

"varied" contents differ between traces, so that constants which Python computes from values differ.
"""


def filled(shape, dtype, trace, fill):
    """Return an array for one trace, in which each Size in the shape has a known value.

    Args:
        shape: ints and Sizes.
        dtype: a NumPy dtype.
        trace: the index of the trace.
        fill: one of FILLS.
    """
    sizes = [at(n, trace) for n in shape]
    if dtype.kind == "O":
        return np.full(sizes, b"", object)
    if fill == "varied":
        random = np.random.default_rng(trace)
        array = random.random(sizes) if dtype.kind in "fcV" else random.integers(0, 2, sizes)
        return np.asarray(array).astype(dtype)
    if fill == "rising":
        return np.arange(np.prod(sizes, dtype=int)).reshape(sizes).astype(dtype)
    if fill == "identity" and len(sizes) > 1:
        return np.array(np.broadcast_to(np.eye(*sizes[-2:], dtype=dtype), sizes))
    return np.full(sizes, int(fill != "zeros"), dtype)


def first_that_runs(attempts, errors=InvalidArgumentError):
    """Return the result of the first function that does not raise one of `errors`.

    Raises:
        FrameworkError: the error of the first function, if all functions raise one.
    """
    failure = None
    for attempt in attempts:
        result, error = _result_or_error(attempt, errors)
        if error is None:
            return result
        failure = failure or error
    raise failure


def _result_or_error(function, errors):
    try:
        return function(), None
    except errors as error:
        return None, error


def at_trace(value, k):
    """Return the value of an attribute in one trace."""
    if type(value) is Size:
        return value.values[k]
    if type(value) is Varying:
        return value.arrays[k]
    if type(value) in (tuple, list):
        return type(value)([at_trace(v, k) for v in value])
    if type(value) is slice:
        return slice(*(at_trace(v, k) for v in (value.start, value.stop, value.step)))
    return value
