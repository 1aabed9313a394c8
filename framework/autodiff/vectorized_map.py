"""vectorized_map: applies a function of one row to all rows in a single call."""

import warnings
from typing import Any

import numpy as np

from framework.autodiff.batch_rules import shape_of
from framework.autodiff.batching import Batched, Level, rows_of
from framework.core import nest, recorders
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import BatchedValueError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.recorders import Recorder
from framework.core.tensor import Tensor
from framework.ops.movement import getitem, stack
from framework.ops.slices import IndexedSlices


@operation
def vectorized_map(
    fn: Any, elems: TensorLike, fallback_to_while_loop: bool = True, warn: bool = True,
) -> Any:  # fmt: skip
    """Apply `fn` to each row of `elems` and stack the results; all rows are computed together.

    `fn` is called once, for all rows. If that fails (Python reads a row's value, `fn` draws random
    numbers or assigns to variables, ...), `fn` is called once per row, after a warning.

    Args:
        fn: a function of one argument, in the structure of `elems`, that returns a nest of tensors.
        elems: a tensor, or a nest of them, whose first axis counts the rows; a first axis of size 1
            is repeated for all rows.
        fallback_to_while_loop: whether to loop over the rows if they cannot be computed together.
        warn: whether to warn about the loop.

    Returns:
        The results of `fn`, each tensor with one more leading axis.

    Raises:
        ValueError: first axes differ, or rows cannot be computed together and no loop is allowed.

    Example:
        >>> import framework as tf
        >>> pairs = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> tf.vectorized_map(lambda a: tf.tensordot(a, a, 1), pairs).numpy()
        array([ 5., 25.], dtype=float32)
    """
    leaves = [tensor(leaf) for leaf in nest.flatten(elems)]
    count = _count(leaves)
    try:
        return _at_once(fn, elems, leaves, count)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        if not fallback_to_while_loop:
            raise InvalidArgumentError(
                f"vectorized_map: the rows cannot be computed together ({why}). Allow a loop with "
                "fallback_to_while_loop=True."
            ) from error
        if not count:
            raise
    # If `fn` itself is wrong, this call on one row raises the error again.
    found = _one_by_one(fn, elems, leaves, count)
    if warn:
        warnings.warn(
            f"vectorized_map calls the function for each row: a call for all rows failed ({why}).",
            stacklevel=2,
        )
    return found


def _count(leaves):
    if not leaves:
        raise InvalidArgumentError("vectorized_map: elems contains no tensor.")
    shapes = [shape_of(x) for x in leaves]
    if not all(shapes):
        raise ShapeError(
            "vectorized_map: expected tensors of at least one axis in `elems`, got a 0-d tensor."
        )
    sizes = {shape[0] for shape in shapes}
    several = sizes - {1} or {1}
    if len(several) > 1:
        raise ShapeError(
            "vectorized_map: the first axes of elems must have the same size, or size 1; got "
            f"{sorted(sizes)}."
        )
    return several.pop()


def _at_once(fn, elems, leaves, count):
    guard = _Guard()
    # The guard is pushed before the level is created, so it receives the calls on all rows.
    recorders.push(guard)
    try:
        level = Level()
        rows = [Batched(x, level) if shape_of(x)[0] == count else _row(x, 0) for x in leaves]
        result = fn(nest.pack_sequence_as(elems, rows))
        return nest.map_structure(lambda leaf: _whole(leaf, level, count), result)
    finally:
        recorders.remove(guard)


def _whole(leaf, level, count):
    """Return a result of the function for all rows; repeat it if it does not depend on the rows."""
    if leaf is None:
        return None
    if type(leaf) is IndexedSlices:
        leaf = leaf.dense()
    found = rows_of(tensor(leaf), level, count)
    return Tensor(found) if isinstance(found, np.ndarray) else found


def _one_by_one(fn, elems, leaves, count):
    results = []
    for k in range(count):
        rows = [_row(x, k if shape_of(x)[0] == count else 0) for x in leaves]
        results.append(fn(nest.pack_sequence_as(elems, rows)))
    return nest.map_structure(_stacked, *results)


def _row(x, k):
    return getitem(x, index=(k,))


def _stacked(*rows):
    return None if rows[0] is None else stack(*[tensor(row) for row in rows], axis=0)


class _Guard(Recorder):
    """Recorder that raises on events that every row needs separately: draws and assignments."""

    def random_draw(self, draw, tensor):
        raise BatchedValueError(
            "`fn` draws random numbers, and each row needs its own: draw them before the call and "
            "pass them in `elems`, or allow a loop over the rows."
        )

    def variable_assigned(self, variable, value):
        raise BatchedValueError(
            f"`fn` assigns to {variable.name}, which each row would repeat: return the value and "
            "assign it after the call, or allow a loop over the rows."
        )
