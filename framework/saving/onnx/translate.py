"""Translate a graph to an ONNX graph: each call by the rule of its op."""

import numpy as np

from framework.core.errors import ExportError
from framework.core.op import table as _table
from framework.saving.onnx import constants, folding
from framework.saving.onnx.builder import RefusalError
from framework.saving.onnx.rules import rules
from framework.saving.onnx.rules.random import drawn
from framework.saving.onnx.traces import Array, Varying, expanded, path_of, where
from framework.saving.onnx.without_rule import WITHOUT_RULE, reason


def translated(b, graph, inputs):
    """Add the calls of a graph to the Builder and return the References of its results.

    Args:
        b: the Builder.
        graph: a GeneralGraph.
        inputs: the References of its arguments.

    Raises:
        ExportError: ONNX cannot express a call.
    """
    refs = {id(array): ref for array, ref in zip(graph.arguments, inputs)}
    needed = _needed(graph)
    for call in graph.calls:
        if id(call) in needed:
            _translate(b, call, refs)
    return [_ref(b, refs, array) for array in graph.results]


def _needed(graph):
    """Return the ids of the calls on which the results of the graph depend."""
    wanted, needed = {id(a) for a in graph.results}, set()
    for call in reversed(graph.calls):
        if any(id(output) in wanted for output in call.outputs):
            needed.add(id(call))
            wanted.update(id(a) for a in call.args if type(a) is Array)
    return needed


def _ref(b, refs, arg):
    """Convert an argument for a rule: arrays to References; other values are unchanged."""
    if type(arg) is Varying:
        return b.varying(arg.arrays)
    if isinstance(arg, (np.ndarray, np.generic)):
        return b.constant(arg)
    if type(arg) is not Array:
        return arg
    ref = refs.get(id(arg))
    if ref is None:
        if arg.constant is not None:
            ref = b.varying(arg.constant)
        elif arg.variable is not None:
            ref = b.constant(arg.variable.array, path=path_of(arg.variable))
        else:
            raise ExportError("export: the graph uses a value that no call has computed.")
        refs[id(arg)] = ref
    return ref


def _translate(b, call, refs):
    """Add the nodes of a call and store the References of its outputs."""
    layer = call.node.layer
    b.scope = (layer.path if layer is not None else None) or "graph"
    b.call = call
    args = [_ref(b, refs, a) for a in call.args]
    outputs = folding.folded_call(b, call, args)
    if outputs is None or not all(constants.is_known(b, ref) for ref in outputs):
        outputs = _by_rule(b, call, args, refs)
    for array, found in zip(call.outputs, outputs):
        ref = found
        if ref.name is not None and ref.dtype != array.dtype:
            ref = b.cast(found, array.dtype)
            ref.note = found.note
        if ref.name is not None:
            ref.shape = array.shape
            b.note_sizes(ref)
        refs[id(array)] = ref


def _by_rule(b, call, args, refs):
    if call.op is None:
        draw = {"b_" if name == "b" else name: value for name, value in call.attrs.items()}
        return [_refusing(call, lambda: drawn(b, **draw))]
    rule = rules().get(call.op.name) if _table.get(call.op.name) is call.op else None
    if rule is not None:
        found = _refusing(call, lambda: rule(b, *args, **call.attrs))
        return found if isinstance(found, list) else [found]
    if call.op.composite is not None and call.op.name not in WITHOUT_RULE:
        arguments, graph = expanded(call, b.traces)
        found = translated(b, graph, [_ref(b, refs, a) for a in arguments])
        b.call = call
        return found
    raise ExportError(
        f"ONNX cannot express the op {call.op.name!r}{where(call.node)}: {reason(call.op.name)}."
    )


def _refusing(call, rule):
    """Return the result of `rule()`; a refusal becomes an ExportError that names the call."""
    try:
        return rule()
    except RefusalError as refusal:
        name = "random draw" if call.op is None else f"op {call.op.name!r}"
        raise ExportError(
            f"ONNX cannot express this call of the {name}{where(call.node)}: {refusal}."
        ) from None
