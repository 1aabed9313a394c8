"""RowFunction: the user's function of an element, called once for the elements of many rows.

It is used if one call for all rows gives the same bits as one call per row: the function has no
side effects (`purity.py`), and its ops are elementwise or move elements. Sums and matrix products
are excluded, because their rounding depends on the shape.
"""

from collections.abc import Mapping

import numpy as np

from framework.autodiff.batching import Batched, Level, rows_of
from framework.compiler.function import Function
from framework.compiler.ir import Value
from framework.core import nest, recorders
from framework.core.conversion import tensor
from framework.core.errors import BatchedValueError
from framework.core.recorders import Recorder, pause_all, thread
from framework.core.tensor import Tensor
from framework.data.structure import as_element, map_named
from framework.kernels import row_chains
from framework.kernels.row_chains import RowChain

_EXACT_REDUCTIONS = frozenset((
    "reduce_max", "reduce_min", "reduce_any", "reduce_all", "argmax", "argmin",
))  # fmt: skip
# ops that have the kind "movement" in the op table but add elements
_SUMS = frozenset(("sum_to", "scatter_add", "overlap_add", "segment_sum"))
_EXACT_OTHERS = frozenset(("cast", "bitcast"))


class RowFunction:
    """A function of one element and its number, which can also be called once for many rows.

    Args:
        function: the user's function.
        call: `call(element, number)` returns its result for one element, as tensors.
    """

    def __init__(self, function, call):
        self._function, self.call = function, call
        self._plan, self._chains = Function(self._by_rows), None

    def fits(self, element):
        """Return whether all rows of `element` can be computed together, with the same bits."""
        leaves = nest.flatten(element)
        if not leaves or not all(type(leaf) is Tensor for leaf in leaves):
            return False
        try:
            together = nest.flatten(self.together(element))
            rows = [nest.flatten(self.call(row, 0)) for row in _rows(element)]
        # not raised here: later calls, row by row, raise the error at the row that causes it
        except Exception:
            return False
        if not all(type(leaf) is Tensor for leaf in together):
            return False
        columns = list(zip(*rows))
        return bool(rows) and len(columns) == len(together) and all(map(_equal, together, columns))

    def together(self, element):
        """Return the results for all rows of `element`, by one call of the compiled function."""
        if thread.stack:
            with pause_all():
                return self.together(element)
        result = self._plan(*_arguments(element))
        if type(result) is tuple and all(map(_is_plain, result)):
            return result
        return map_named(_in_order, as_element(result, "map_func's result"), "")

    def reader(self, gathers, pack):
        """Return a function of row indices that reads rows and computes their results in one pass.

        Args:
            gathers: for each array, a function that returns its rows at given indices.
            pack: a function from a list with one value per array to an element.

        Returns:
            The function, which returns None for rows that it cannot compute. False if the user's
            function does more than scale and shift; None if it has not been compiled yet.
        """
        # the compiled function takes a dict's values in their order; `nest.flatten` sorts by key
        order = list(_in_order_of_arguments(pack(list(range(len(gathers))))))
        rows = [(gathers[i].array.dtype, gathers[i].array.shape[1:]) for i in order]
        if self._chains is None or self._chains[0] != rows:
            entries = [entry for entry in self._plan.plans() if _takes(entry.graph, rows)]
            if not entries:
                return None
            self._chains = rows, entries[0], _chains(entries[0].graph)
        _, entry, chains = self._chains
        if chains is None:
            return False
        return ChainReader(entry, [(order[i], finish) for i, finish in chains], gathers)

    def _by_rows(self, *parts):
        leaves, guard = nest.flatten(parts), _ExactOps()
        # The recorder starts before the batching level, so that it receives the ops on all rows.
        recorders.push(guard)
        try:
            level, count = Level(), leaves[0].array.shape[0]
            result = self._function(*map_named(lambda x, _: Batched(x, level), parts, ""))
        finally:
            recorders.remove(guard)
        result = tuple(result) if isinstance(result, list) else result
        return map_named(lambda leaf, _: _whole(leaf, level, count), result, "")


def _in_order_of_arguments(element):
    if isinstance(element, Mapping):
        element = tuple(element.values())
    if isinstance(element, tuple):
        for part in element:
            yield from _in_order_of_arguments(part)
    elif element is not None:
        yield element


class ChainReader:
    """Reads rows of arrays, and computes each result in a single pass over a row (a chain of ops).

    Args:
        entry: the CachedPlan of the function; its guards on Python state hold for the chains, too.
        chains: a pair for each result: index in `gathers`; RowChain, dtype to cast to, or None.
        gathers: as for `reader`.
    """

    def __init__(self, entry, chains, gathers):
        self._pack, self._parts = entry.pack, []
        guarded = entry.state is not None and entry.state.guards
        self._state = entry.state if guarded else None
        for place, finish in chains:
            chain, gather = type(finish) is RowChain, gathers[place]
            read = finish.bound(gather.array) if chain else _reading(gather, finish)
            self._parts.append((place, read))

    def __call__(self, numbers):
        """Return the results for rows (`numbers`: indices per array); None if a guard fails."""
        if thread.stack or (self._state is not None and self._state.changed() is not None):
            return None
        found = []
        for place, read in self._parts:
            array = read(numbers[place])
            if array is None:
                return None
            found.append(array)
        return self._pack(found)


def _reading(gather, dtype):
    """Return a function of row numbers that gathers rows, and casts them unless `dtype` is None."""
    return gather if dtype is None else lambda numbers: gather(numbers).astype(dtype)


def _takes(graph, rows):
    """Return whether `rows` lists the dtypes and shapes of one row of each argument of a graph."""
    return [(v.dtype, v.shape[1:]) for v in graph.arguments] == rows


def _chains(graph):
    """Return, for each result of a graph, the chain of ops that computes it from an argument.

    Return None if one of the results is computed in another way.
    """
    if graph.guards or graph.assigned or graph.draws:
        return None
    chains = [_chain(value, graph) for value in graph.results]
    return None if None in chains else chains


def _chain(value, graph):
    """Return (argument's index; RowChain, dtype to cast to, or None), or None if not a chain."""
    steps, shape, dtype = [], value.shape[1:], value.dtype
    while value.node is not None:
        (*args,), node = value.node.args, value.node
        if node.op.name in ("identity", "reshape") and value.shape[:1] == args[0].shape[:1]:
            value = args[0]
        elif node.op.name == "cast":
            value = args[0]
            break
        elif len(args) == 2 and value.dtype == np.float32:
            first = type(args[0]) is not Value or args[0].constant is not None
            number = _number(args[0] if first else args[1])
            added = None if number is None else row_chains.steps_of(node.op.name, number, first)
            if added is None:
                return None
            steps = added + steps
            value = args[1] if first else args[0]
        else:
            return None
    places = [i for i, argument in enumerate(graph.arguments) if argument is value]
    if not places:
        return None
    if not steps and value.dtype == dtype and value.shape[1:] == shape:
        return places[0], None
    if dtype == np.float32 and value.dtype in row_chains.DTYPES:
        return places[0], RowChain(steps, shape)
    cast_only = not steps and value.shape[1:] == shape and dtype.kind in "fi"
    return (places[0], dtype) if cast_only and value.dtype.kind in "iub" else None


def _number(operand):
    """Return an operand as a Python float or a float32; None if it is not such a number."""
    if type(operand) is Value:
        operand = operand.constant
        if operand is None or operand.shape or operand.dtype != np.float32:
            return None
        return operand[()]
    return operand if type(operand) in (int, float, np.float32) else None


def _arguments(element):
    """Return the arguments of the function: the components of a tuple are separate arguments."""
    return element if type(element) is tuple else (element,)


def _rows(element):
    leaves = nest.flatten(element)
    for i in range(leaves[0].array.shape[0]):
        yield nest.pack_sequence_as(element, [Tensor(leaf.array[i, ...]) for leaf in leaves])


def _equal(together, column):
    rows = np.stack([row.array for row in column])
    array = together.array
    same = array.dtype == rows.dtype and array.shape == rows.shape
    return same and array.tobytes() == rows.tobytes()


def _whole(leaf, level, count):
    found = rows_of(tensor(leaf), level, count)
    return Tensor(found) if isinstance(found, np.ndarray) else found


def _is_plain(leaf):
    return type(leaf) is Tensor and leaf.array.flags.c_contiguous


def _in_order(leaf, _):
    """Return a tensor in C order; views and repeated rows may have another memory order."""
    if type(leaf) is not Tensor or leaf.array.flags.c_contiguous:
        return leaf
    return Tensor(np.ascontiguousarray(leaf.array))


class _ExactOps(Recorder):
    """Recorder that raises an error for side effects, and if rounding may depend on the rows."""

    def op(self, op, args, attrs, outputs, saved):
        exact = op.kind == "elementwise" or op.name in _EXACT_OTHERS
        exact = exact or (op.kind == "movement" and op.name not in _SUMS)
        if not exact and op.name not in _EXACT_REDUCTIONS:
            raise BatchedValueError(f"The rounding of {op.name} may depend on the number of rows.")

    def random_draw(self, draw, tensor):
        raise BatchedValueError(
            "The function draws random numbers, and each element needs its own."
        )

    def variable_assigned(self, variable, value):
        raise BatchedValueError(f"The function assigns to {variable.name}, once per element.")

    def value_read(self, tensor, how):
        raise BatchedValueError("The function reads an element's value in Python.")
