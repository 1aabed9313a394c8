"""Kernel patterns: one kernel computes several nodes faster than one kernel per node.

The patterns are a convolution and the pooling that reads it, with their backward passes; both
gradients of a convolution; GELU and its derivative. The results have the same bits as those of the
single nodes.
"""

import itertools

from framework.compiler.ir import Graph, OpNode, Value
from framework.core.op import Op, no_derivative, table
from framework.kernels import conv_pool
from framework.kernels import gelu as gelus
from framework.kernels.scalar_code import FLOATS
from framework.ops.rows import gelu_back, gelu_slope

# These ops occur only in compiled plans: no tape records them.
_forward = Op(
    "conv_max_pool", conv_pool.conv_max_pool, no_derivative, saves=True, listed=False, fresh=True
)
_back = Op(
    "conv_max_pool_back",
    conv_pool.conv_max_pool_back,
    no_derivative,
    outputs=None,
    listed=False,
    fresh=True,
)
_gelu = Op(
    "gelu_with_slope",
    gelus.with_slope,
    lambda g, x, approximate: gelu_back(g, x, approximate=approximate),
    saves=True,
    listed=False,
    fresh=True,
)


def match_kernel_patterns(graph):
    """Return the graph with each matched pattern replaced by the node of its kernel."""
    uses = graph.uses()
    readers = _readers(graph)
    order = {id(node): place for place, node in enumerate(graph.nodes)}
    replacements = {}  # id of a node -> nodes that replace it
    for node in graph.nodes:
        if _is(node, "max_pool"):
            replacements.update(_with_convolution(node, uses, readers))
        elif _is(node, "conv_input"):
            replacements.update(_with_derivative(node, readers, order, replacements))
        elif _is(node, "gelu_back"):
            replacements.update(_with_slope(node, readers, order, replacements))
    if not replacements:
        return graph
    for node in itertools.chain(*replacements.values()):
        for value in node.all_outputs:
            value.node = node
    nodes = itertools.chain(*(replacements.get(id(node), (node,)) for node in graph.nodes))
    return Graph(graph.arguments, list(nodes), graph.assigned, graph.results)


def _readers(graph):
    """Return {id of a Value: the nodes that read it}."""
    found = {}
    for node in graph.nodes:
        for value in node.inputs:
            found.setdefault(id(value), []).append(node)
    return found


def _with_convolution(pooling, uses, readers):
    """Return {id of a node: replacing nodes} for pooling, its convolution and their gradients.

    Return {} if the pattern is absent.
    """
    (all_y,) = pooling.inputs
    convolution = all_y.node
    if (
        pooling.attrs != conv_pool.PAIRS
        or not _is(convolution, "conv_bias")
        or len(pooling.saved) != 1
        or len(convolution.inputs) != 3
    ):
        return {}
    x, w, b = convolution.args
    window = {name: value for name, value in convolution.attrs.items() if name != "relu"}
    if not conv_pool.takes(x, w, **window):
        return {}
    (y,), (chosen,) = pooling.outputs, pooling.saved
    forward = OpNode(
        _forward, [x, w, b], convolution.attrs, (y,), (chosen,), convolution.layer
    )  # fmt: skip
    found, reads = {id(convolution): (), id(pooling): (forward,)}, 1
    if uses.get(id(chosen)):
        backward = _backward_nodes(x, w, chosen, uses, readers)
        if backward is None:
            return {}
        scatter, back = backward
        args = [scatter.args[0], x, w, y, chosen]
        found[id(scatter)] = ()
        found[id(back)] = (OpNode(_back, args, back.attrs, back.outputs, (), back.layer),)
        # The gradient of the convolution's ReLU also reads the output.
        reads += back.args[3] is all_y
    if uses[id(all_y)] != reads:
        # A node outside the pattern also needs the convolution's output.
        return {}
    return found


def _with_derivative(by_x, readers, order, replacements):
    """Return {id of a node: replacing nodes}: one node computes both gradients of a convolution.

    Return {} if the pattern is absent.
    """
    g, w = by_x.args
    window = {name: value for name, value in by_x.attrs.items() if name != "sizes"}
    attrs = {**window, "size": tuple(w.shape[:-2])}
    for by_w in readers[id(g)]:
        if not _is(by_w, "conv_kernel") or by_w.args[1] is not g or by_w.attrs != attrs:
            continue
        # Two convolutions whose outputs are added have the same cotangent g, so check that both
        # gradients belong to the same x and w.
        x = by_w.args[0]
        if by_x.outputs[0].shape != x.shape or by_w.outputs[0].shape != w.shape:
            continue
        if id(by_w) in replacements or not conv_pool.takes(x, w, **window):
            continue
        first, second = sorted((by_x, by_w), key=lambda node: order[id(node)])
        if any(order.get(id(v.node), -1) >= order[id(first)] for v in (x, w)):
            # In a transposed convolution x is a gradient. If x or w is computed between the two
            # nodes, one node cannot replace both.
            continue
        attrs = {**window, "relu": False, "needed": (True, True, False)}
        outputs, back = (*by_x.outputs, *by_w.outputs), table["conv_bias_back"]
        both = OpNode(back, [g, x, w, None], attrs, outputs, (), by_x.layer)
        return {id(first): (both,), id(second): ()}
    return {}


def _with_slope(back, readers, order, replacements):
    """Return {id of a node: replacing nodes} for GELU and its gradient; {} if not found.

    The gradient becomes cotangent * derivative. GELU and the derivative have common subexpressions,
    which one loop or NumPy kernel computes once.
    """
    g, x = back.args
    if any(type(v) is not Value for v in (g, x)) or (g.shape, g.dtype) != (x.shape, x.dtype):
        return {}
    if x.dtype not in FLOATS:
        # For 16-bit floats, the fused kernel would round the derivative before the product.
        return {}
    for forward in readers[id(x)]:
        if not _is(forward, "gelu") or forward.attrs != back.attrs:
            continue
        if order[id(forward)] > order[id(back)]:
            continue
        both = replacements.get(id(forward)) or _gelu_and_slope(forward, x)
        times = OpNode(
            table["multiply"], [g, both[-1].all_outputs[-1]], {}, back.outputs, (), back.layer
        )
        return {id(forward): both, id(back): (times,)}
    return {}


def _gelu_and_slope(gelu, x):
    """Return nodes that compute GELU of x and, as their last output, its derivative."""
    slope = (Value(x),)
    if gelus.shares(x):
        return (OpNode(_gelu, [x], gelu.attrs, gelu.outputs, slope, gelu.layer),)
    return gelu, OpNode(gelu_slope, [x], gelu.attrs, slope, (), gelu.layer)


def _is(node, name):
    return type(node) is OpNode and node.op.name == name


def _backward_nodes(x, w, chosen, uses, readers):
    """Return the backward nodes of pooling and convolution; None if other nodes read them."""
    scatter, *others = readers[id(chosen)]
    if others or uses[id(chosen)] != 1 or not _is(scatter, "cell_put"):
        return None
    (d,) = scatter.outputs
    if scatter.args[1] is not chosen or uses.get(id(d)) != 1 or id(d) not in readers:
        return None
    (back,) = readers[id(d)]
    if not _is(back, "conv_bias_back") or any(a is not b for a, b in zip(back.args, (d, x, w))):
        return None
    return scatter, back
