"""Steps that one kernel does together, in less time than one after the other.

A convolution with the pooling after it, and their way back; both derivatives of a convolution; gelu
with its slope, where its derivative is wanted. The numbers are the same, to the last bit.
"""

import itertools

from framework.compiler.ir import Graph, OpNode, Value
from framework.core.op import Op, no_derivative, table
from framework.kernels import conv_pool
from framework.kernels import gelu as gelus
from framework.kernels.scalar_code import FLOATS
from framework.ops.rows import gelu_back, gelu_slope

# Of plans alone: no tape ever sees them
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


def merged(graph):
    """The graph, with such steps as one."""
    uses = graph.uses()
    readers = _readers(graph)
    order = {id(step): place for place, step in enumerate(graph.steps)}
    standing = {}  # id of a step -> those in its place
    for step in graph.steps:
        if _is(step, "max_pool"):
            standing.update(_with_convolution(step, uses, readers))
        elif _is(step, "conv_input"):
            standing.update(_with_derivative(step, readers, order, standing))
        elif _is(step, "gelu_back"):
            standing.update(_with_slope(step, readers, order, standing))
    if not standing:
        return graph
    for step in itertools.chain(*standing.values()):
        for value in step.made:
            value.step = step
    steps = itertools.chain(*(standing.get(id(step), (step,)) for step in graph.steps))
    return Graph(graph.arguments, list(steps), graph.assigned, graph.results)


def _readers(graph):
    """The steps that read each Value, by its id."""
    found = {}
    for step in graph.steps:
        for value in step.values:
            found.setdefault(id(value), []).append(step)
    return found


def _with_convolution(pooling, uses, readers):
    """What stands in the place of a pooling, its convolution, and their way back."""
    (all_y,) = pooling.values
    convolution = all_y.step
    if (
        pooling.attrs != conv_pool.PAIRS
        or not _is(convolution, "conv_bias")
        or len(pooling.saved) != 1
        or len(convolution.values) != 3
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
        way = _way_back(x, w, chosen, uses, readers)
        if way is None:
            return {}
        putting, back = way
        args = [putting.args[0], x, w, y, chosen]
        found[id(putting)] = ()
        found[id(back)] = (OpNode(_back, args, back.attrs, back.outputs, (), back.layer),)
        reads += back.args[3] is all_y  # the slope of its ReLU
    if uses[id(all_y)] != reads:
        return {}  # somebody else wants all of the outputs
    return found


def _with_derivative(by_x, readers, order, standing):
    """What stands in the place of a convolution's derivatives by its input and by its weights."""
    g, w = by_x.args
    window = {name: value for name, value in by_x.attrs.items() if name != "sizes"}
    attrs = {**window, "size": tuple(w.shape[:-2])}
    for by_w in readers[id(g)]:
        if not _is(by_w, "conv_kernel") or by_w.args[1] is not g or by_w.attrs != attrs:
            continue
        # The sum of two convolutions hands both the same gradient: it must be that of x and w.
        x = by_w.args[0]
        if by_x.outputs[0].shape != x.shape or by_w.outputs[0].shape != w.shape:
            continue
        if id(by_w) in standing or not conv_pool.takes(x, w, **window):
            continue
        first, second = sorted((by_x, by_w), key=lambda step: order[id(step)])
        if any(order.get(id(v.step), -1) >= order[id(first)] for v in (x, w)):
            continue  # as in a transposed convolution, whose x is a gradient
        attrs = {**window, "relu": False, "needed": (True, True, False)}
        outputs, back = (*by_x.outputs, *by_w.outputs), table["conv_bias_back"]
        both = OpNode(back, [g, x, w, None], attrs, outputs, (), by_x.layer)
        return {id(first): (both,), id(second): ()}
    return {}


def _with_slope(back, readers, order, standing):
    """What stands in the place of a gelu and of its derivative: the cotangent times the slope.

    A loop that has both shares what they have in common, as NumPy's form does.
    """
    g, x = back.args
    if any(type(v) is not Value for v in (g, x)) or (g.shape, g.dtype) != (x.shape, x.dtype):
        return {}
    if x.dtype not in FLOATS:
        return {}  # those of 16 bits round once, after the product
    for forward in readers[id(x)]:
        if not _is(forward, "gelu") or forward.attrs != back.attrs:
            continue
        if order[id(forward)] > order[id(back)]:
            continue
        both = standing.get(id(forward)) or _gelu_and_slope(forward, x)
        times = OpNode(table["multiply"], [g, both[-1].made[-1]], {}, back.outputs, (), back.layer)
        return {id(forward): both, id(back): (times,)}
    return {}


def _gelu_and_slope(gelu, x):
    """Steps that make gelu of x and, the last thing that they make, its slope."""
    slope = (Value(x),)
    if gelus.shares(x):
        return (OpNode(_gelu, [x], gelu.attrs, gelu.outputs, slope, gelu.layer),)
    return gelu, OpNode(gelu_slope, [x], gelu.attrs, slope, (), gelu.layer)


def _is(step, name):
    return type(step) is OpNode and step.op.name == name


def _way_back(x, w, chosen, uses, readers):
    """The derivatives of the pooling and of the convolution; None unless these are all there is."""
    putting, *others = readers[id(chosen)]
    if others or uses[id(chosen)] != 1 or not _is(putting, "cell_put"):
        return None
    (d,) = putting.outputs
    if putting.args[1] is not chosen or uses.get(id(d)) != 1 or id(d) not in readers:
        return None
    (back,) = readers[id(d)]
    if not _is(back, "conv_bias_back") or any(a is not b for a, b in zip(back.args, (d, x, w))):
        return None
    return putting, back
