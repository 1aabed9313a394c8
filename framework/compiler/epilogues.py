"""Fusion of an elementwise node into the kernel before (epilogue) or after it (prologue).

`EPILOGUES` lists ops that a kernel can apply to its first output, `PROLOGUES` ops that a kernel can
apply to its first input. No other node may read the value between op and kernel. Fusion keeps the
results bit-identical.
"""

from framework.compiler.ir import Graph, OpNode, Value
from framework.core.op import table

# (kernel, op that reads its output) -> attributes that make the kernel apply that op as well
EPILOGUES = {
    ("batch_norm", "relu"): {"relu": True},
    ("batch_norm", "relu6"): {"relu": 6},
    ("conv_bias", "relu"): {"relu": True},
}


def fuse_epilogues(graph):
    """Return the graph with fused epilogues and prologues; dead nodes remain."""
    uses = graph.uses()
    return _fuse_prologues(_fuse_epilogues(graph, uses), uses)


def _fuse_epilogues(graph, uses):
    # id of a kernel's node -> (attributes of the fused kernel, the node that is fused into it)
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
    """Return the node of the kernel that can apply this node as an epilogue, or None."""
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
    """Return the kernel's node with the producer of its first input fused into it, or None."""
    if type(node) is not OpNode or not node.inputs:
        return None
    first = node.inputs[0]
    before = first.node
    if uses[id(first)] != 1 or type(before) is not OpNode or node.args[0] is not first:
        return None
    change = PROLOGUES.get((before.op.name, node.op.name))
    changed = change(before, node) if change else None
    return None if changed is None else _node(node, *changed, node.outputs)


def _node(node, args, attrs, outputs):
    new = OpNode(node.op, args, attrs, outputs, node.saved, node.layer)
    for value in new.all_outputs:
        value.node = new
    return new


def _alike(a, b):
    """Return whether two values have equal shapes and an equal dtype that kernels support."""
    same = a.shape == b.shape and a.dtype == b.dtype
    return same and a.dtype.kind == "f" and a.dtype.itemsize >= 4


def _relu_gradient_of_batch_norm(gated, node):
    """Return arguments and attributes with which `batch_norm_back` applies ReLU's gradient."""
    h, where = gated.args
    if type(h) is not Value or not _alike(h, gated.outputs[0]):
        return None
    y = _compared(where, "greater", 0)
    attrs = node.attrs
    if y is None and _is(where, "logical_and"):
        y, other = map(_compared, where.node.args, ("greater", "less"), (0, 6))
        y, attrs = y if y is other else None, {**attrs, "most": 6.0}
    made = getattr(y, "node", None)
    # ReLU's output is positive where its input is, so the comparison can use the input.
    if made is not None and (_is(y, "relu") or _is(y, "relu6")):
        (y,) = made.inputs
    if not _is(y, "batch_norm") or y.node.outputs[0] is not y:
        return None
    made = y.node
    return ([h, *node.args[1:], made.args[2]], attrs) if made.saved[0] is node.args[5] else None


def _is(value, name):
    """Return whether a value is computed by the op with this name."""
    node = getattr(value, "node", None)
    return type(node) is OpNode and node.op is table[name]


def _compared(where, name, number):
    """Return the value that `where` compares with `number` by the op `name`; else None."""
    if not _is(where, name):
        return None
    y, other = where.node.args
    return y if type(y) is Value and _equals(other, number) else None


def _equals(arg, number):
    if type(arg) is Value:
        constant = arg.constant
        return constant is not None and constant.size == 1 and constant.item() == number
    return arg == number


# (op, kernel that reads its output) -> function that returns the kernel's new arguments and
# attributes, or None
PROLOGUES = {("gated", "batch_norm_back"): _relu_gradient_of_batch_norm}
