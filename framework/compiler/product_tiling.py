"""Producer-consumer tiling: a loop reads a large matrix product a few rows at a time.

A typical product is the gradient of a layer's weights, whose only reader is the optimizer's update.
Writing the whole product to memory and reading it back takes about as long as the update. A few
rows at a time stay in the cache and need no buffer. The product is computed where the loop was.
"""

from typing import NamedTuple

import numpy as np

from framework.compiler import loop_kernels
from framework.compiler.fusion import FusionGroup, is_sum, layout
from framework.compiler.ir import Graph, OpNode
from framework.compiler.loop_ir import SIZES
from framework.kernels import products

# A tiled product has at least this many bytes; smaller products stay in the cache anyway.
_LEAST = 1 << 20


class TiledProduct:
    """A node for a matrix product and the fusion group that is its only reader.

    `inputs` are the inputs of product and group, without the product itself.
    """

    saved = ()

    def __init__(self, node, group):
        self.node, self.group = node, group
        self.product = node.outputs[0]
        self.inputs = (*node.inputs, *(v for v in group.inputs if v is not self.product))
        self.outputs = self.all_outputs = group.outputs
        self.layer = group.layer


def tile_products(graph):
    """Return the graph with each product and its only reader replaced by a TiledProduct."""
    uses, makers = graph.uses(), {}
    for node in graph.nodes:
        if type(node) is OpNode and node.op.name == "matmul":
            makers[id(node.outputs[0])] = node
    pairs = {}  # id of a group -> the node of the product that it consumes
    for group in graph.nodes:
        if type(group) is FusionGroup:
            made = [makers[id(v)] for v in group.inputs if id(v) in makers]
            found = [s for s in made if uses[id(s.outputs[0])] == 1 and _can_tile(s, group)]
            pairs.update({id(group): s for s in found[:1]})
    if not pairs:
        return graph
    taken = {id(node) for node in pairs.values()}
    nodes = [
        TiledProduct(pairs[id(s)], s) if id(s) in pairs else s
        for s in graph.nodes
        if id(s) not in taken
    ]
    return Graph(graph.arguments, nodes, graph.assigned, graph.results)


def _can_tile(node, group):
    """Return whether a group can read a product row by row, and whether that saves time."""
    (made,) = node.outputs
    if made.shape != group.shape or made.nbytes < _LEAST or any(is_sum(s) for s in group.nodes):
        return False
    product = product_of(node)
    kinds = {layout(v, group.shape) for v in group.inputs}
    return (
        product is not None
        and product.streams
        and kinds <= {loop_kernels.FULL, loop_kernels.NUMBER}
    )


def product_of(node):
    """Return the task of a matrix product for a parallel region; None for other nodes."""
    if node.op.name != "matmul" or len(node.inputs) != 2:
        return None
    (made,) = node.outputs
    values = (*node.inputs, made)
    if any(len(v.shape) != 2 or v.dtype != np.float32 or not v.size for v in values):
        return None
    a = node.inputs[0]
    transposed = bool(node.attrs.get("transpose_a")), bool(node.attrs.get("transpose_b"))
    depth = a.shape[0] if transposed[0] else a.shape[1]
    return products.prepared(*made.shape, depth, *transposed)


class TiledProductTask(NamedTuple):
    """The task of a tiled product.

    loop: the task of the loop. place: the index of the product among the loop's arrays.
    arrays: the number of the loop's arrays. beside: the indices of the loop's arrays that have the
        product's shape.
    product: the product's task, see `kernels.products.prepared`.
    """

    loop: object
    place: int
    arrays: int
    beside: list
    product: object

    def address(self):
        """Return the address of the machine code, after compiling the loop as well."""
        return self.product.address_of_rows()

    def ahead(self):
        """Return the integer arguments that precede the arrays' addresses, see
        `kernels.fast.products.rows_for`."""
        columns, *strides, depth, _, _, _ = self.product.numbers
        own = self.place, self.arrays + len(SIZES), sum(1 << at for at in self.beside)
        return (self.loop.address(), *own, columns, strides[1], strides[2], depth)
