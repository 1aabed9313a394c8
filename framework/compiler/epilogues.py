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
    """Return the graph with epilogues and prologues fused; nodes that prologues replace remain."""
    uses = graph.uses()
    return _fuse_prologues(_fuse_epilogues(graph, uses), uses)


def _fuse_epilogues(graph, uses):
    # id of a kernel's node -> (its attributes with the epilogue, the node that it absorbs)
    followed = {}
    for node in graph.nodes:
        before = _kernel_of_epilogue(node, uses)
        if before is not None:
            attrs = {**before.attrs, **EPILOGUES[before.op.name, node.op.name]}
            followed[id(before)] = attrs, node
    gone = {id(node) for _, node in followed.values()}
    nodes = []
    for node in graph.nodes:
        if id(node) in followed:
            attrs, after = followed[id(node)]
            nodes.append(_node(node, node.args, attrs, (*after.outputs, *node.outputs[1:])))
        elif id(node) not in gone:
            nodes.append(node)
    return Graph(graph.arguments, nodes, graph.assigned, graph.results)


def _kernel_of_epilogue(node, uses):
    """Return the kernel whose epilogue this node can be, or None."""
    if type(node) is not OpNode or len(node.inputs) != 1:
        return None
    (x,) = node.inputs
    before = x.node
    if uses[id(x)] != 1 or type(before) is not OpNode or before.outputs[0] is not x:
        return None
    added = EPILOGUES.get((before.op.name, node.op.name))
    if added is None or all(before.attrs.get(name) == value for name, value in added.items()):
        return None
    return before if _alike(x, node.outputs[0]) else None


def _fuse_prologues(graph, uses):
    nodes = [_with_prologue(node, uses) or node for node in graph.nodes]
    return Graph(graph.arguments, nodes, graph.assigned, graph.results)


def _with_prologue(node, uses):
    """Return the node fused with the producer of its first input; None where that is impossible."""
    if type(node) is not OpNode or not node.inputs:
        return None
    first = node.inputs[0]
    before = first.node
    if uses[id(first)] != 1 or type(before) is not OpNode or node.args[0] is not first:
        return None
    change = PROLOGUES.get((before.op.name, node.op.name))
    args = change(before, node) if change else None
    return None if args is None else _node(node, args, node.attrs, node.outputs)


def _node(node, args, attrs, outputs):
    new = OpNode(node.op, args, attrs, outputs, node.saved, node.layer)
    for value in new.all_outputs:
        value.node = new
    return new


def _alike(a, b):
    """Return whether shapes and dtypes are equal, and the dtype is one that kernels compute in."""
    same = a.shape == b.shape and a.dtype == b.dtype
    return same and a.dtype.kind == "f" and a.dtype.itemsize >= 4


def _relu_gradient_of_batch_norm(gated, node):
    """Return the arguments of `batch_norm_back` with the gradient of ReLU fused, or None."""
    h, where = gated.args
    compared = getattr(where, "node", None)
    if type(h) is not Value or not _alike(h, gated.outputs[0]) or type(compared) is not OpNode:
        return None
    if compared.op is not table["greater"] or not _is_zero(compared.args[1]):
        return None
    y = compared.args[0]
    made = getattr(y, "node", None)
    # The output of ReLU is positive where its input is, so look at the input instead.
    if type(made) is OpNode and made.op is table["relu"]:
        (y,) = made.inputs
        made = y.node
    if type(made) is not OpNode or made.op is not table["batch_norm"]:
        return None
    if made.outputs[0] is not y or made.saved[0] is not node.args[5]:
        return None
    return [h, *node.args[1:], made.args[2]]


def _is_zero(arg):
    if type(arg) is Value:
        return arg.constant is not None and arg.constant.size == 1 and not arg.constant.any()
    return arg == 0


# (op, kernel that reads its output) -> function that returns the kernel's new arguments, or None
PROLOGUES = {("gated", "batch_norm_back"): _relu_gradient_of_batch_norm}
