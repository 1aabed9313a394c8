"""Passes: constant folding, common subexpressions, algebraic simplification, dead code."""

import itertools

import numpy as np

from framework.compiler.conv_padding import without_padded_copies
from framework.compiler.epilogues import fuse_epilogues
from framework.compiler.ir import DrawNode, Graph, GuardNode, OpNode, Value
from framework.compiler.kernel_patterns import match_kernel_patterns
from framework.compiler.liveness import may_end_call
from framework.core.op import table

_FOLDED = 1 << 16  # maximum number of elements of a folded constant


def optimized(graph):
    """Return the graph after all passes that both backends use."""
    graph = without_dead(simplified(graph), stays=may_end_call)
    graph = without_dead(without_padded_copies(graph), stays=may_end_call)
    return match_kernel_patterns(without_dead(fuse_epilogues(graph), stays=may_end_call))


def for_loops(graph):
    """Return the graph after further passes that make Numba faster, but NumPy slower."""
    nodes = []
    for node in graph.nodes:
        nodes += _outer_product(node) or [_sum_without_reshape(node) or node]
    nodes = _raising_nodes_first(graph, nodes)
    graph = Graph(graph.arguments, nodes, graph.assigned, graph.results)
    return without_dead(graph, stays=may_end_call)


def _raising_nodes_first(graph, nodes):
    """Move nodes that can raise (such as for labels out of range) and their reshapes to the front.

    A parallel region cannot be interrupted by an error.
    """
    first = {}  # id of a node that moves to the front -> the node
    # id of a Value -> nodes that compute the Value from the arguments
    producers = {id(v): () for v in graph.arguments}
    for node in nodes:
        if type(node) is GuardNode:
            # A node must not raise an error if a guard before it fails.
            break
        if type(node) is DrawNode:
            continue
        read = [producers.get(id(v)) for v in node.inputs if v.constant is None]
        if None in read or not (node.op.kind == "movement" or may_end_call(node)):
            continue
        path = [*itertools.chain(*read), node]
        if may_end_call(node):
            first.update((id(s), s) for s in path)
        producers.update((id(v), path) for v in node.all_outputs)
    return [*first.values(), *(node for node in nodes if id(node) not in first)]


def _sum_without_reshape(node):
    """Return a sum or mean over all elements without the reshape before it; else None."""
    if type(node) is not OpNode or node.op.name not in ("reduce_sum", "reduce_mean"):
        return None
    ((x,), (made,)), seen = (node.inputs, node.outputs), node.inputs[0]
    while type(seen.node) is OpNode and seen.node.op is table["reshape"]:
        (seen,) = seen.node.inputs
    if seen is x or len(node.attrs["axis"]) != len(x.shape) or made.shape:
        return None
    attrs = {"axis": tuple(range(len(seen.shape))), "keepdims": False}
    made.node = OpNode(node.op, [seen], attrs, node.outputs, node.saved, node.layer)
    return made.node


def _outer_product(node):
    """Return elementwise nodes that compute an outer product bit-identically, else None.

    An outer product is a matrix product over an axis of size 1.
    """
    if type(node) is not OpNode or node.op.name != "matmul" or len(node.inputs) != 2:
        return None
    (made,), (a, b) = node.outputs, node.inputs
    if len(a.shape) != 2 or len(b.shape) != 2 or a.dtype != b.dtype or a.dtype != made.dtype:
        return None
    depth = a.shape[0] if node.attrs.get("transpose_a") else a.shape[1]
    if depth != 1 or made.dtype.kind != "f" or made.dtype.itemsize < 4 or made.size < 2:
        return None
    nodes = []
    column, row = (made.shape[0], 1), (1, made.shape[1])
    column, row = [_reshaped(v, shape, node, nodes) for v, shape in ((a, column), (b, row))]
    nodes.append(OpNode(table["multiply"], [column, row], {}, (made,), (), node.layer))
    made.node = nodes[-1]
    return nodes


def _reshaped(value, shape, node, nodes):
    if value.shape == shape:
        return value
    reshaped = Value(np.broadcast_to(np.zeros((), value.dtype), shape))
    nodes.append(OpNode(table["reshape"], [value], {"shape": shape}, (reshaped,), (), node.layer))
    reshaped.node = nodes[-1]
    return reshaped


def simplified(graph):
    """Fold constants, eliminate common subexpressions and identity operations, in one pass."""
    replacements, nodes = {}, []  # id of a Value -> the Value that replaces it
    known = {}  # key of an expression -> outputs of the node that computed it first

    def resolved(value):
        return replacements.get(id(value), value)

    # These references keep replaced Values alive, so that no later Value gets the same id.
    keep = []
    for node in graph.nodes:
        if type(node) is GuardNode:
            value = resolved(node.args[0])
            if value.constant is None:
                nodes.append(GuardNode(value, node.how, node.expected, node.layer))
            continue
        if type(node) is DrawNode:
            nodes.append(node)
            continue
        args = [resolved(a) if type(a) is Value else a for a in node.args]
        found = _identity_argument(node, args)
        if found is None:
            found = _folded(node, args)
        op, attrs = node.op, node.attrs
        if found is None and _only_drops_axes(node):
            op, attrs = table["reshape"], {"shape": node.all_outputs[0].shape}
        key = None
        if found is None:
            key = _key(op, args, attrs)
            found = known.get(key) if key is not None else None
        if found is not None:
            keep.append(node)
            replacements.update(
                (id(old), new) for old, new in zip(node.all_outputs, found, strict=True)
            )
            continue
        new = OpNode(op, args, attrs, node.outputs, node.saved, node.layer)
        for value in new.all_outputs:
            value.node = new
        nodes.append(new)
        if key is not None:
            known[key] = new.all_outputs
    assigned = [(variable, resolved(v)) for variable, v in graph.assigned]
    return Graph(graph.arguments, nodes, assigned, [resolved(v) for v in graph.results])


def _identity_argument(node, args):
    """Return (argument,) if the node returns its first argument unchanged, else None."""
    op = node.op.name
    if not args or type(args[0]) is not Value or len(node.all_outputs) != 1:
        return None
    (x, *rest), (y,) = args, node.all_outputs
    alike = x.shape == y.shape and x.dtype == y.dtype
    if not alike:
        return None
    if op in _SAME_WHERE_ALIKE or (op in _SAME_WITH_ONE and _is_one(rest[0])):
        return (x,)
    return None


# These reductions are the identity if all reduced axes have size 1.
_REDUCTIONS = frozenset(("sum_to", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min"))
_SAME_WHERE_ALIKE = _REDUCTIONS | {"identity", "stop_gradient", "cast", "reshape", "broadcast_to"}
_SAME_WITH_ONE = frozenset(("multiply", "divide"))


def _only_drops_axes(node):
    """Return whether a reduction only drops axes of size 1, as in losses of (n, 1) outputs.

    If the result is 0-d, the answer is False: a sum returns a NumPy scalar, which later ops process
    faster than a 0-d array.
    """
    if node.op.name not in _REDUCTIONS:
        return False
    (x,), (y,) = node.inputs, node.all_outputs
    return bool(y.shape) and x.size == y.size and x.size > 0 and x.dtype == y.dtype


def _is_one(arg):
    if type(arg) is Value:
        constant = arg.constant
        return constant is not None and constant.size == 1 and bool((constant == 1).all())
    return arg == 1


def _folded(node, args):
    """Return the outputs as constants if all arguments are constant, else None."""
    if any(type(a) is Value and a.constant is None for a in args):
        return None
    if sum(v.size for v in node.all_outputs) > _FOLDED or not any(type(a) is Value for a in args):
        return None
    arrays = [a.constant if type(a) is Value else a for a in args]
    with np.errstate(all="ignore"):
        found = node.op.forward(*arrays, **node.attrs)
    found, saved = found if node.op.saves else (found, ())
    found = (found,) if node.op.outputs == 1 else found
    arrays = [np.asarray(a) for a in (*found, *saved)]
    return [Value(a, constant=a) for a in arrays]


def _key(op, args, attrs):
    """Return a key that is equal for equal computations; None if an attribute is unhashable."""
    try:
        attrs = tuple([(name, _hashable(value)) for name, value in attrs.items()])
    except TypeError:
        return None
    return op.name, id(op), tuple([_identity(a) for a in args]), attrs


def _identity(arg):
    if type(arg) is Value:
        if arg.constant is not None and arg.constant.size == 1:
            return arg.dtype.str, arg.shape, arg.constant.tobytes()
        return id(arg)
    return type(arg), repr(arg)


def _hashable(value):
    if isinstance(value, (tuple, list)):
        return type(value), tuple([_hashable(v) for v in value])
    if isinstance(value, slice):
        return slice, value.start, value.stop, value.step
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    hash(value)
    return type(value), repr(value) if type(value) is float else value


def without_dead(graph, stays=lambda node: False):
    """Remove nodes whose outputs no later node reads. Keep draws, because they advance generators.

    Args:
        stays: `stays(node)` returns whether to keep an unread node, such as one that may raise.
    """
    needed = {id(v) for v in graph.ends}
    nodes = []
    for node in reversed(graph.nodes):
        unread = type(node) is OpNode and not any(id(v) in needed for v in node.all_outputs)
        if unread and not stays(node):
            continue
        needed.update(id(v) for v in node.inputs)
        nodes.append(node)
    return Graph(graph.arguments, nodes[::-1], graph.assigned, graph.results)
