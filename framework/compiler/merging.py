"""Steps that one kernel does together, in less time than one after the other.

Here a convolution with the pooling after it, and their way back. The numbers are the same, to the
last bit.
"""

from framework.compiler.graph import Graph, OpStep
from framework.core.op import Op, no_derivative
from framework.kernels import conv_pool

# Of plans alone: no tape ever sees them
_forward = Op("conv_max_pool", conv_pool.conv_max_pool, no_derivative, saves=True, listed=False)
_back = Op(
    "conv_max_pool_back", conv_pool.conv_max_pool_back, no_derivative, outputs=None, listed=False
)


def merged(graph):
    """The graph, with such steps as one."""
    uses = graph.uses()
    readers = _readers(graph)
    standing = {}  # id of a step -> the one in its place; None for none
    for step in graph.steps:
        if type(step) is OpStep and step.op.name == "max_pool":
            standing.update(_with_convolution(step, uses, readers))
    if not standing:
        return graph
    steps = [standing.get(id(step), step) for step in graph.steps]
    return Graph(graph.arguments, [s for s in steps if s], graph.assigned, graph.results)


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
    forward = OpStep(
        _forward, [x, w, b], convolution.attrs, (y,), (chosen,), convolution.layer
    )  # fmt: skip
    found, reads = {id(convolution): None, id(pooling): forward}, 1
    if uses.get(id(chosen)):
        way = _way_back(x, w, chosen, uses, readers)
        if way is None:
            return {}
        putting, back = way
        args = [putting.args[0], x, w, y, chosen]
        found[id(putting)] = None
        found[id(back)] = OpStep(_back, args, back.attrs, back.outputs, (), back.layer)
        reads += back.args[3] is all_y  # the slope of its ReLU
    if uses[id(all_y)] != reads:
        return {}  # somebody else wants all of the outputs
    for step in found.values():
        for value in () if step is None else step.made:
            value.step = step
    return found


def _is(step, name):
    return type(step) is OpStep and step.op.name == name


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
