"""Fusion of elementwise nodes into the kernel before them (epilogue) or after them (prologue).

`EPILOGUES` lists the op that a kernel can apply to its first output, `PROLOGUES` the op that it can
apply to its first input, each where no other node reads that value. Results are equal to the last
bit.
"""

from framework.compiler.ir import Graph, OpNode, Value
from framework.core.op import table

# (kernel, op that reads its output) -> attributes with which the kernel also applies that op
EPILOGUES = {
    ("batch_norm", "relu"): {"relu": True},
    ("conv_bias", "relu"): {"relu": True},
}


def fuse_epilogues(graph):
    """Return the graph with epilogues and prologues fused; unread nodes of prologues remain."""
    uses = graph.uses()
    return _fuse_prologues(_fuse_epilogues(graph, uses), uses)


def _fuse_epilogues(graph, uses):
    followed = {}  # id of a kernel -> (its new attributes, the fused node)
    for step in graph.steps:
        before = _kernel_of_epilogue(step, uses)
        if before is not None:
            attrs = {**before.attrs, **EPILOGUES[before.op.name, step.op.name]}
            followed[id(before)] = attrs, step
    gone = {id(step) for _, step in followed.values()}
    steps = []
    for step in graph.steps:
        if id(step) in followed:
            attrs, after = followed[id(step)]
            steps.append(_node(step, step.args, attrs, (*after.outputs, *step.outputs[1:])))
        elif id(step) not in gone:
            steps.append(step)
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


def _kernel_of_epilogue(step, uses):
    """Return the kernel whose epilogue this node can be, or None."""
    if type(step) is not OpNode or len(step.values) != 1:
        return None
    (x,) = step.values
    before = x.step
    if uses[id(x)] != 1 or type(before) is not OpNode or before.outputs[0] is not x:
        return None
    added = EPILOGUES.get((before.op.name, step.op.name))
    if added is None or all(before.attrs.get(name) == value for name, value in added.items()):
        return None
    return before if _alike(x, step.outputs[0]) else None


def _fuse_prologues(graph, uses):
    steps = [_with_prologue(step, uses) or step for step in graph.steps]
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


def _with_prologue(step, uses):
    """Return the node fused with the producer of its first input; None where that is impossible."""
    if type(step) is not OpNode or not step.values:
        return None
    first = step.values[0]
    before = first.step
    if uses[id(first)] != 1 or type(before) is not OpNode or step.args[0] is not first:
        return None
    change = PROLOGUES.get((before.op.name, step.op.name))
    args = change(before, step) if change else None
    return None if args is None else _node(step, args, step.attrs, step.outputs)


def _node(step, args, attrs, outputs):
    new = OpNode(step.op, args, attrs, outputs, step.saved, step.layer)
    for value in new.made:
        value.step = new
    return new


def _alike(a, b):
    """Return whether shapes and dtypes are equal, and the dtype is one that kernels compute in."""
    same = a.shape == b.shape and a.dtype == b.dtype
    return same and a.dtype.kind == "f" and a.dtype.itemsize >= 4


def _relu_gradient_of_batch_norm(gated, step):
    """Return the arguments of `batch_norm_back` with the gradient of ReLU fused, or None."""
    h, where = gated.args
    compared = getattr(where, "step", None)
    if type(h) is not Value or not _alike(h, gated.outputs[0]) or type(compared) is not OpNode:
        return None
    if compared.op is not table["greater"] or not _is_zero(compared.args[1]):
        return None
    y = compared.args[0]
    made = getattr(y, "step", None)
    if (
        type(made) is OpNode and made.op is table["relu"]
    ):  # ReLU's output is positive where its input is
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


# (op, kernel that reads its output) -> function that returns the kernel's new arguments, or None
PROLOGUES = {("gated", "batch_norm_back"): _relu_gradient_of_batch_norm}
