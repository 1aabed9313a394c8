"""Elementwise steps that the kernel before or behind them takes in: there they cost nothing.

An op that can do so has an entry here: in `AFTER` by what may follow its (first) output, if nothing
else reads that; in `BEFORE` by what may come before its first input, if nothing else reads that.
Neither changes the numbers, to the last bit.
"""

from framework.compiler.ir import Graph, OpNode, Value
from framework.core.op import table

# (op, the one that follows) -> the attributes with which the first does both
AFTER = {
    ("batch_norm", "relu"): {"relu": True},
    ("conv_bias", "relu"): {"relu": True},
}


def with_absorbed(graph):
    """The graph with such steps taken in; those before an op are left behind, for nobody."""
    uses = graph.uses()
    return _with_predecessors(_with_successors(graph, uses), uses)


def _with_successors(graph, uses):
    followed = {}  # id of a step -> (what its attributes are then, the step that it takes in)
    for step in graph.steps:
        before = _taking(step, uses)
        if before is not None:
            attrs = {**before.attrs, **AFTER[before.op.name, step.op.name]}
            followed[id(before)] = attrs, step
    gone = {id(step) for _, step in followed.values()}
    steps = []
    for step in graph.steps:
        if id(step) in followed:
            attrs, after = followed[id(step)]
            steps.append(_made(step, step.args, attrs, (*after.outputs, *step.outputs[1:])))
        elif id(step) not in gone:
            steps.append(step)
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


def _taking(step, uses):
    """The step that can take this one in, the only one that reads its output; None for none."""
    if type(step) is not OpNode or len(step.values) != 1:
        return None
    (x,) = step.values
    before = x.step
    if uses[id(x)] != 1 or type(before) is not OpNode or before.outputs[0] is not x:
        return None
    added = AFTER.get((before.op.name, step.op.name))
    if added is None or all(before.attrs.get(name) == value for name, value in added.items()):
        return None
    return before if _alike(x, step.outputs[0]) else None


def _with_predecessors(graph, uses):
    steps = [_after_predecessor(step, uses) or step for step in graph.steps]
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


def _after_predecessor(step, uses):
    """The step that does what the one before its first input does too; None where none does."""
    if type(step) is not OpNode or not step.values:
        return None
    first = step.values[0]
    before = first.step
    if uses[id(first)] != 1 or type(before) is not OpNode or step.args[0] is not first:
        return None
    change = BEFORE.get((before.op.name, step.op.name))
    args = change(before, step) if change else None
    return None if args is None else _made(step, args, step.attrs, step.outputs)


def _made(step, args, attrs, outputs):
    new = OpNode(step.op, args, attrs, outputs, step.saved, step.layer)
    for value in new.made:
        value.step = new
    return new


def _alike(a, b):
    """Of one shape and dtype, one in which kernels compute as it is."""
    same = a.shape == b.shape and a.dtype == b.dtype
    return same and a.dtype.kind == "f" and a.dtype.itemsize >= 4


def _gate_of_batch_norm(gated, step):
    """The arguments of a `batch_norm_back` behind ReLU's slope, where that is of its own result."""
    h, where = gated.args
    compared = getattr(where, "step", None)
    if type(h) is not Value or not _alike(h, gated.outputs[0]) or type(compared) is not OpNode:
        return None
    if compared.op is not table["greater"] or not _is_zero(compared.args[1]):
        return None
    y = compared.args[0]
    made = getattr(y, "step", None)
    if type(made) is OpNode and made.op is table["relu"]:  # positive where what it cuts is
        (y,) = made.values
        made = y.step
    if type(made) is not OpNode or made.op is not table["batch_norm"]:
        return None
    if made.outputs[0] is not y or made.saved[0] is not step.args[5]:
        return None
    return [h, *step.args[1:], made.args[2]]


def _is_zero(arg):
    if type(arg) is Value:
        return arg.constant is not None and arg.constant.size == 1 and not arg.constant.any()
    return arg == 0


# (the op before, the op that takes it in) -> what gives the second's arguments then, or None
BEFORE = {("gated", "batch_norm_back"): _gate_of_batch_norm}
