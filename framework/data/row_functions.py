"""RowFunction: the user's function of an element, called once for the elements of many rows.

It is used if one call for all rows has the same bits as one call per row: the function has no
effects (`purity.py`), and its ops compute each element of a row alone, or only move elements. Sums
and matrix products are left out: their rounding depends on the shape.
"""

import numpy as np

from framework.autodiff.batching import Batched, Level, rows_of
from framework.compiler.function import Function
from framework.core import nest, recorders
from framework.core.conversion import tensor
from framework.core.errors import BatchedValueError
from framework.core.recorders import Recorder, pause_all, thread
from framework.core.tensor import Tensor
from framework.data.structure import as_element, map_named

_EXACT_REDUCTIONS = frozenset((
    "reduce_max", "reduce_min", "reduce_any", "reduce_all", "argmax", "argmin",
))  # fmt: skip
# ops of kind "movement" that add elements
_SUMS = frozenset(("sum_to", "scatter_add", "overlap_add", "segment_sum"))
_EXACT_OTHERS = frozenset(("cast", "bitcast"))


class RowFunction:
    """A function of one element and its number, and the same for the elements of many rows.

    Args:
        function: the user's function.
        call: `call(element, number)` returns its result for one element, as an element.
    """

    def __init__(self, function, call):
        self._function, self.call = function, call
        self._plan = Function(self._by_rows)

    def fits(self, element):
        """Return whether all rows of `element` can be computed together, with the same bits."""
        leaves = nest.flatten(element)
        if not leaves or not all(type(leaf) is Tensor for leaf in leaves):
            return False
        try:
            together = nest.flatten(self.together(element))
            rows = [nest.flatten(self.call(row, 0)) for row in _rows(element)]
        # raised again when the elements are computed, at the element that caused it
        except Exception:
            return False
        if not all(type(leaf) is Tensor for leaf in together):
            return False
        columns = list(zip(*rows))
        return bool(rows) and len(columns) == len(together) and all(map(_equal, together, columns))

    def together(self, element):
        """Return the results for all rows of `element`, by a plan of one call of the function."""
        if thread.stack:
            with pause_all():
                return self.together(element)
        result = self._plan(*_arguments(element))
        if type(result) is tuple and all(map(_is_plain, result)):
            return result
        return map_named(_in_order, as_element(result, "map_func's result"), "")

    def _by_rows(self, *parts):
        leaves, guard = nest.flatten(parts), _ExactOps()
        # before the Batched level starts, so that the guard receives the ops on all rows
        recorders.push(guard)
        try:
            level, count = Level(), leaves[0].array.shape[0]
            result = self._function(*map_named(lambda x, _: Batched(x, level), parts, ""))
        finally:
            recorders.remove(guard)
        result = tuple(result) if isinstance(result, list) else result
        return map_named(lambda leaf, _: _whole(leaf, level, count), result, "")


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
    """Return a tensor in C order, which a view or a repeated row may not have."""
    if type(leaf) is not Tensor or leaf.array.flags.c_contiguous:
        return leaf
    return Tensor(np.ascontiguousarray(leaf.array))


class _ExactOps(Recorder):
    """Recorder that refuses ops whose rounding may depend on the number of rows, and effects."""

    def op(self, op, args, attrs, outputs, saved):
        exact = op.kind == "elementwise" or op.name in _EXACT_OTHERS
        exact = exact or (op.kind == "movement" and op.name not in _SUMS)
        if not exact and op.name not in _EXACT_REDUCTIONS:
            raise BatchedValueError(f"The rounding of {op.name} may depend on the number of rows.")

    def random_draw(self, draw, tensor):
        raise BatchedValueError("Each element draws random numbers of its own.")

    def variable_assigned(self, variable, value):
        raise BatchedValueError(f"Each element assigns to {variable.name}.")

    def value_read(self, tensor, how):
        raise BatchedValueError("Python reads a value of each element.")
