"""Passes: constant folding, common subexpressions, algebraic simplification, dead code."""

import itertools

import numpy as np

from framework.compiler.epilogues import fuse_epilogues
from framework.compiler.ir import DrawNode, Graph, GuardNode, OpNode, Value
from framework.compiler.kernel_patterns import match_kernel_patterns
from framework.compiler.liveness import may_stop
from framework.core.op import table

_FOLDED = 1 << 16  # elements of the largest constant that is folded


def optimized(graph):
    """Return the graph after all passes that both backends use."""
    graph = without_dead(simplified(graph), stays=may_stop)
    return match_kernel_patterns(without_dead(fuse_epilogues(graph), stays=may_stop))


def for_loops(graph):
    """Return the graph after the passes for the Numba backend, which would slow NumPy down."""
    steps = []
    for step in graph.steps:
        steps += _outer_product(step) or [_sum_without_reshape(step) or step]
    steps = _raising_nodes_first(graph, steps)
    graph = Graph(graph.arguments, steps, graph.assigned, graph.results)
    return without_dead(graph, stays=may_stop)


def _raising_nodes_first(graph, steps):
    """Move nodes that can raise for bad arguments (labels out of range) to the front, with the
    reshapes that they need: a parallel region cannot be interrupted."""
    first = {}  # by id
    # id of a Value -> the nodes that compute it from the arguments
    producers = {id(v): () for v in graph.arguments}
    for step in steps:
        if type(step) is GuardNode:
            break  # if the guard fails, later nodes must not raise
        if type(step) is DrawNode:
            continue
        read = [producers.get(id(v)) for v in step.values if v.constant is None]
        if None in read or not (step.op.kind == "movement" or may_stop(step)):
            continue
        path = [*itertools.chain(*read), step]
        if may_stop(step):
            first.update((id(s), s) for s in path)
        producers.update((id(v), path) for v in step.made)
    return [*first.values(), *(step for step in steps if id(step) not in first)]


def _sum_without_reshape(step):
    """Return a full sum or mean of a reshape as one of the original array; None for others."""
    if type(step) is not OpNode or step.op.name not in ("reduce_sum", "reduce_mean"):
        return None
    ((x,), (made,)), seen = (step.values, step.outputs), step.values[0]
    while type(seen.step) is OpNode and seen.step.op is table["reshape"]:
        (seen,) = seen.step.values
    if seen is x or len(step.attrs["axis"]) != len(x.shape) or made.shape:
        return None
    attrs = {"axis": tuple(range(len(seen.shape))), "keepdims": False}
    made.step = OpNode(step.op, [seen], attrs, step.outputs, step.saved, step.layer)
    return made.step


def _outer_product(step):
    """Return elementwise nodes for an outer product (a matrix product over an axis of size 1), with
    the same bits; None for other nodes."""
    if type(step) is not OpNode or step.op.name != "matmul" or len(step.values) != 2:
        return None
    (made,), (a, b) = step.outputs, step.values
    if len(a.shape) != 2 or len(b.shape) != 2 or a.dtype != b.dtype or a.dtype != made.dtype:
        return None
    depth = a.shape[0] if step.attrs.get("transpose_a") else a.shape[1]
    if depth != 1 or made.dtype.kind != "f" or made.dtype.itemsize < 4 or made.size < 2:
        return None
    steps = []
    column, row = (made.shape[0], 1), (1, made.shape[1])
    column, row = [_reshaped(v, shape, step, steps) for v, shape in ((a, column), (b, row))]
    steps.append(OpNode(table["multiply"], [column, row], {}, (made,), (), step.layer))
    made.step = steps[-1]
    return steps


def _reshaped(value, shape, step, steps):
    if value.shape == shape:
        return value
    reshaped = Value(np.broadcast_to(np.zeros((), value.dtype), shape))
    steps.append(OpNode(table["reshape"], [value], {"shape": shape}, (reshaped,), (), step.layer))
    reshaped.step = steps[-1]
    return reshaped


def simplified(graph):
    """Fold constants, share common subexpressions and drop identity operations, in one walk."""
    replacements, steps = {}, []  # id of a Value -> the Value that replaces it
    known = {}  # key of a node -> its outputs

    def resolved(value):
        return replacements.get(id(value), value)

    keep = []  # replaced Values stay alive, so that no id is used twice
    for step in graph.steps:
        if type(step) is GuardNode:
            value = resolved(step.args[0])
            if value.constant is None:
                steps.append(GuardNode(value, step.how, step.expected, step.layer))
            continue
        if type(step) is DrawNode:
            steps.append(step)
            continue
        args = [resolved(a) if type(a) is Value else a for a in step.args]
        found = _identity_argument(step, args)
        if found is None:
            found = _folded(step, args)
        op, attrs = step.op, step.attrs
        if found is None and _only_drops_axes(step):
            op, attrs = table["reshape"], {"shape": step.made[0].shape}
        key = None
        if found is None:
            key = _key(op, args, attrs)
            found = known.get(key) if key is not None else None
        if found is not None:
            keep.append(step)
            replacements.update((id(old), new) for old, new in zip(step.made, found, strict=True))
            continue
        new = OpNode(op, args, attrs, step.outputs, step.saved, step.layer)
        for value in new.made:
            value.step = new
        steps.append(new)
        if key is not None:
            known[key] = new.made
    assigned = [(variable, resolved(v)) for variable, v in graph.assigned]
    return Graph(graph.arguments, steps, assigned, [resolved(v) for v in graph.results])


def _identity_argument(step, args):
    """Return (argument,) where the node returns its first argument unchanged, else None."""
    op = step.op.name
    if not args or type(args[0]) is not Value or len(step.made) != 1:
        return None
    (x, *rest), (y,) = args, step.made
    alike = x.shape == y.shape and x.dtype == y.dtype
    if not alike:
        return None
    if op in _SAME_WHERE_ALIKE or (op in _SAME_WITH_ONE and _is_one(rest[0])):
        return (x,)
    return None


# Over axes of size 1, these return the elements unchanged.
_REDUCTIONS = frozenset(("sum_to", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min"))
_SAME_WHERE_ALIKE = _REDUCTIONS | {"identity", "stop_gradient", "cast", "reshape", "broadcast_to"}
_SAME_WITH_ONE = frozenset(("multiply", "divide"))


def _only_drops_axes(step):
    """Return whether a reduction only drops axes of size 1, as in losses of (n, 1) outputs.

    A 0-d result stays a sum: that gives a NumPy scalar, which is faster than a 0-d array.
    """
    if step.op.name not in _REDUCTIONS:
        return False
    (x,), (y,) = step.values, step.made
    return bool(y.shape) and x.size == y.size and x.size > 0 and x.dtype == y.dtype


def _is_one(arg):
    if type(arg) is Value:
        constant = arg.constant
        return constant is not None and constant.size == 1 and bool((constant == 1).all())
    return arg == 1


def _folded(step, args):
    """Return the outputs as constants where all arguments are constant, else None."""
    if any(type(a) is Value and a.constant is None for a in args):
        return None
    if sum(v.size for v in step.made) > _FOLDED or not any(type(a) is Value for a in args):
        return None
    arrays = [a.constant if type(a) is Value else a for a in args]
    with np.errstate(all="ignore"):
        found = step.op.forward(*arrays, **step.attrs)
    found, saved = found if step.op.saves else (found, ())
    found = (found,) if step.op.outputs == 1 else found
    arrays = [np.asarray(a) for a in (*found, *saved)]
    return [Value(a, constant=a) for a in arrays]


def _key(op, args, attrs):
    """Return a key that is equal for equal computations; None where attributes are unhashable."""
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


def without_dead(graph, stays=lambda step: False):
    """Remove the steps whose outputs no later step reads. Keep draws: they advance generators.

    Args:
        stays: `stays(step)` says whether to keep an unread step, such as one that may raise.
    """
    needed = {id(v) for v in graph.ends}
    steps = []
    for step in reversed(graph.steps):
        unread = type(step) is OpNode and not any(id(v) in needed for v in step.made)
        if unread and not stays(step):
            continue
        needed.update(id(v) for v in step.values)
        steps.append(step)
    return Graph(graph.arguments, steps[::-1], graph.assigned, graph.results)
