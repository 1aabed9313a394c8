"""Large products of which one loop alone reads the result: it gets them some rows at a time.

The gradient of a layer's weights is such a product, the optimizer's update its only reader. Done
one after the other, as many bytes as the weights have go to memory and come back from there, which
takes about as long as the update itself, and have to have a place. Done row by row they stay in the
cache. The product is done where the loop stands, which may be later than where it stood.
"""

from typing import NamedTuple

import numpy as np

from framework.compiler import loop_kernels
from framework.compiler.fusion import FusionGroup, is_sum, layout
from framework.compiler.ir import Graph, OpNode
from framework.compiler.loop_ir import SIZES
from framework.kernels import products

_LEAST = 1 << 20  # bytes of a result, less of which stay in the cache by themselves


class TiledProduct:
    """A product of matrices and the group that reads it, as one step.

    `values` are what both read but for the product itself, which nobody else sees.
    """

    saved = ()

    def __init__(self, step, group):
        self.step, self.group = step, group
        self.product = step.outputs[0]
        self.values = (*step.values, *(v for v in group.inputs if v is not self.product))
        self.outputs = self.made = group.outputs
        self.layer = group.layer


def with_streamed(graph):
    """The graph with such pairs as one step, where the group stood."""
    uses, makers = graph.uses(), {}
    for step in graph.steps:
        if type(step) is OpNode and step.op.name == "matmul":
            makers[id(step.outputs[0])] = step
    pairs = {}  # id of a group -> its product's step
    for group in graph.steps:
        if type(group) is FusionGroup:
            made = [makers[id(v)] for v in group.inputs if id(v) in makers]
            found = [s for s in made if uses[id(s.outputs[0])] == 1 and _suits(s, group)]
            pairs.update({id(group): s for s in found[:1]})
    if not pairs:
        return graph
    taken = {id(step) for step in pairs.values()}
    steps = [
        TiledProduct(pairs[id(s)], s) if id(s) in pairs else s
        for s in graph.steps
        if id(s) not in taken
    ]
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


def _suits(step, group):
    """Whether a group can take the result of a product in rows, and that pays."""
    (made,) = step.outputs
    if made.shape != group.shape or made.nbytes < _LEAST or any(is_sum(s) for s in group.steps):
        return False
    product = product_of(step)
    kinds = {layout(v, group.shape) for v in group.inputs}
    return (
        product is not None
        and product.streams
        and kinds <= {loop_kernels.FULL, loop_kernels.NUMBER}
    )


def product_of(step):
    """The product of matrices that a step is, if it is one for a stretch; else None."""
    if step.op.name != "matmul" or len(step.values) != 2:
        return None
    (made,) = step.outputs
    values = (*step.values, made)
    if any(len(v.shape) != 2 or v.dtype != np.float32 or not v.size for v in values):
        return None
    a = step.values[0]
    turned = bool(step.attrs.get("transpose_a")), bool(step.attrs.get("transpose_b"))
    depth = a.shape[0] if turned[0] else a.shape[1]
    return products.prepared(*made.shape, depth, *turned)


class TiledProductTask(NamedTuple):
    """The task of a product whose rows a loop takes.

    loop: the loop's task. place: of the product among its arrays. arrays: how many these are.
    beside: the places of those that are read or written number by number with it.
    product: a `ProductTask`.
    """

    loop: object
    place: int
    arrays: int
    beside: list
    product: object

    def address(self):
        """Where the machine code is; the loop's is to be there too."""
        return self.product.address_of_rows()

    def ahead(self):
        """The numbers before those of the arrays: see `kernels.fast.products.rows_for`."""
        columns, *strides, depth, _, _, _ = self.product.numbers
        own = self.place, self.arrays + len(SIZES), sum(1 << at for at in self.beside)
        return (self.loop.address(), *own, columns, strides[1], strides[2], depth)
