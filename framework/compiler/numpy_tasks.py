"""Tasks that threads share in plans without Numba, run by `matmul.several`.

A task is a large matrix product with an elementwise epilogue, or a kernel that computes row by row.
"""

from typing import NamedTuple

import numpy as np

from framework.compiler.fusion import ufunc_of
from framework.compiler.ir import OpNode, Value
from framework.core.op import Op, no_derivative, table
from framework.kernels import gelu, matmul, rows

# Ufuncs supported in epilogues; all are commutative, so that operands can be swapped.
_UFUNCS = (np.add, np.multiply)


class RowKernel(NamedTuple):
    """A kernel whose outputs can be computed for any range of rows.

    by_rows: the function that computes a range of rows.
    arguments: the number of leading arguments that have one row per row of the outputs.
    outputs: the number of leading outputs that are computed by rows.
    shares: `shares(size)` returns whether arrays of this size are worth several threads.
    dtypes: type codes of the supported dtypes.
    """

    by_rows: object
    arguments: int
    outputs: int
    shares: object
    dtypes: str = "fd"


_KERNELS = {
    "layer_norm": RowKernel(rows.layer_norm_by_rows, 1, 1, rows.shares),
    "layer_norm_back": RowKernel(rows.layer_norm_back_by_rows, 2, 1, rows.shares),
    "gelu_with_slope": RowKernel(gelu.with_slope_by_rows, 1, 2, gelu.shared, "f"),
}


def _products(*arrays, chains, made):
    """Compute the outputs of several chains of tasks."""
    given, outs = iter(arrays), [np.empty(shape, dtype) for shape, dtype in made]
    free = iter(outs)

    def operand(place):
        return next(given) if place is None else outs[place[0]].reshape(place[1])

    def task(spec):
        operands = [operand(place) for place in spec.places]
        own = [next(free) for _ in range(spec.count)]
        if spec.kernel is not None:
            return spec.kernel(*operands, *own, **dict(spec.attrs))
        return spec.product(operands, *own)

    matmul.several([[task(spec) for spec in chain] for chain in chains])
    return tuple(outs)


class TaskSpec(NamedTuple):
    """A task, as an attribute of its node.

    Args:
        places: for each operand, None for the next argument of the node, or (index of an output of
            the node, shape to which it is reshaped).
        count: the number of outputs.
        kernel: the row kernel, None for a product. attrs: its attributes, () for a product.
        transposed: whether each factor of the product is transposed.
        epilogue: a tuple of pairs: a ufunc, and None if its operand is an array; if the operand is
            a second product, the `transposed` of that product.
    """

    places: tuple
    count: int
    kernel: object
    attrs: tuple
    transposed: tuple
    epilogue: tuple

    def product(self, operands, out):
        """Return the product as a task of `matmul.several`."""
        given = iter(operands)
        a, b = factors(given, self.transposed)
        ufuncs = [(u, next(given) if t is None else factors(given, t)) for u, t in self.epilogue]
        return a, b, out, ufuncs

    def text(self, operands, out):
        """Return the source text of the task, given that of the operands and of `out`."""
        given = iter(operands)
        pair = lambda transposed: ", ".join([next(given) + ".T" * t for t in transposed])
        factors = pair(self.transposed)
        operands = [(u, next(given) if t is None else f"({pair(t)})") for u, t in self.epilogue]
        ufuncs = "".join([f"({u.__name__}, {x}), " for u, x in operands])
        return f"({factors}, {out}, ({ufuncs}))"


def factors(given, transposed):
    """Return the next two operands as factors of a product, transposed if `transposed`."""
    a, b = (next(given).T if t else next(given) for t in transposed)
    return a, b


# This op occurs only in compiled plans: no tape records it. Its arguments are the operands of all
# tasks in order, without results of earlier tasks of the same chain.
products = Op("products", _products, no_derivative, outputs=None, listed=False, fresh=True)


class ProductTasks:
    """The tasks in a graph: large products with their epilogues, and nodes with row kernels.

    `by_end`: {id of a task's last node: the task}. `absorbed`: ids of all nodes of product tasks.
    """

    def __init__(self, graph):
        self.absorbed, self.by_end = set(), {}
        self._uses = graph.uses()
        self._maker = {id(v): node for node in graph.nodes for v in node.all_outputs}
        self._reader = {id(v): node for node in graph.nodes for v in node.inputs}
        for node in graph.nodes:
            if id(node) in self.absorbed:
                continue
            if _is_large(node):
                self._add_epilogue(NumpyProductTask(node))
            elif _is_by_rows(node):
                self.by_end[id(node)] = RowTask(node)

    def _add_epilogue(self, task):
        nodes = [task.node]
        while self._is_alone(task.output):
            epilogue_nodes = self._epilogue_nodes(task, self._reader[id(task.output)])
            if not epilogue_nodes:
                break
            nodes += epilogue_nodes
        # Reshapes that follow the last op of the task are not part of the task.
        while nodes[-1].op is table["reshape"]:
            (task.output,) = nodes.pop().inputs
        self.absorbed.update(map(id, nodes))
        self.by_end[id(nodes[-1])] = task

    def _is_alone(self, value):
        """Return whether exactly one node reads the value."""
        return self._uses.get(id(value)) == 1 and id(value) in self._reader

    def _epilogue_nodes(self, task, node):
        """Return the nodes that `node`, a reader of the task's result, adds to its epilogue."""
        if type(node) is not OpNode or id(node) in self.absorbed:
            return []
        now, made = task.output, node.outputs[0]
        if node.op is not table["reshape"]:
            if ufunc_of(node.op) not in _UFUNCS or node.attrs or made.shape != now.shape:
                return []
            other = next((a for a in node.args if a is not now), None)
            if type(other) is not Value or other.dtype != now.dtype:
                return []
            nodes = self._nodes_from_product(task, other)
            if not nodes and not task.has_row_layout(other):
                return []
            task.add(ufunc_of(node.op), other, nodes[:1])
            task.output = made
            return [*nodes, node]
        task.output = made
        return [node]

    def _nodes_from_product(self, task, value):
        """Return a second product of equal shape and the reshapes that lead from it to `value`."""
        nodes = []
        while self._is_alone(value):
            node = self._maker.get(id(value))
            if type(node) is not OpNode or id(node) in self.absorbed:
                break
            nodes.insert(0, node)
            if _is_large(node):
                return nodes if node.outputs[0].shape == task.shape else []
            if node.op is not table["reshape"]:
                break
            (value,) = node.inputs
        return []


class NumpyProductTask:
    """A matrix product with its epilogue; `output` is the Value of the result."""

    def __init__(self, node):
        self.node, self.args, self._epilogue = node, list(node.args), []
        (self.output,) = node.outputs
        self.shape = self.output.shape
        # indices of the arguments that a chunk reads only in its own rows
        self._partitioned = [] if node.attrs.get("transpose_a") else [0]

    def has_row_layout(self, other):
        """Return whether an epilogue operand has the result's shape or is one row."""
        shape = self.output.shape
        if other.shape == shape:
            return len(shape) > 1
        return other.shape == shape[-1:] == self.shape[-1:]

    def add(self, ufunc, other, product):
        """Add a ufunc to the epilogue.

        Args:
            other: the second operand.
            product: [the node of the product that computes `other`], or [].
        """
        for node in product:
            self.args += node.args
            self._epilogue.append((ufunc, _transposed(node)))
        if not product:
            if other.shape == self.output.shape:
                self._partitioned.append(len(self.args))
            self.args.append(other)
            self._epilogue.append((ufunc, None))

    @property
    def all_outputs(self):
        return (self.output,)

    partitioned = all_outputs  # A chunk writes only its own rows of each output.

    @property
    def is_plain(self):
        """Whether the product has no epilogue."""
        return self.output is self.node.outputs[0]

    @property
    def rows(self):
        """The number of rows of the result if chunks are ranges of rows, else None."""
        return self.shape[0] if self.shape[0] >= self.shape[1] else None

    def goes_with(self, places):
        """Return whether a chunk reads only its own rows of the arguments at these indices."""
        return set(places) <= set(self._partitioned)

    def spec(self, places):
        return TaskSpec(places, 1, None, (), _transposed(self.node), tuple(self._epilogue))


class RowTask:
    """A node with a row kernel, as a task."""

    is_plain = True

    def __init__(self, node):
        self.node, self.args, self.all_outputs = node, node.args, node.all_outputs
        self._kernel = _KERNELS[node.op.name]
        self.partitioned = self.all_outputs[: self._kernel.outputs]
        x = node.inputs[0]
        self.rows = x.size // x.shape[-1]

    def goes_with(self, places):
        return max(places) < self._kernel.arguments

    def spec(self, places):
        attrs = tuple(self.node.attrs.items())
        return TaskSpec(places, len(self.all_outputs), self._kernel.by_rows, attrs, (), ())


def _transposed(node):
    return tuple([bool(node.attrs.get(f"transpose_{x}")) for x in "ab"])


def _is_large(node):
    """Return whether a node is a matrix product large enough for several threads."""
    if type(node) is not OpNode or node.op is not table["matmul"] or len(node.inputs) != 2:
        return False
    a, b = node.inputs
    if len(a.shape) != 2 or len(b.shape) != 2 or a.dtype != b.dtype or a.dtype.char not in "fd":
        return False
    depth = a.shape[0] if node.attrs.get("transpose_a") else a.shape[1]
    return matmul.shares(node.outputs[0].size * depth)


def _is_by_rows(node):
    """Return whether a node has a row kernel and is large enough for several threads."""
    kernel = _KERNELS.get(node.op.name) if type(node) is OpNode else None
    if kernel is None or len(node.inputs) != len(node.args):
        return False
    whole, line = node.inputs[: kernel.arguments], node.inputs[kernel.arguments :]
    x = whole[0]
    dtypes = {v.dtype for v in (*node.inputs, *node.all_outputs)}
    if dtypes != {x.dtype} or x.dtype.char not in kernel.dtypes:
        return False
    if not kernel.shares(x.size) or not matmul.shares(matmul.SHARED):
        return False
    # These shapes have one element per column, or one per row.
    lines = [x.shape[-1:], (x.size // x.shape[-1],)]
    fits = all(v.shape == x.shape for v in whole) and all(v.shape in lines for v in line)
    return fits and all(node.attrs.get("needed", (True,)))
