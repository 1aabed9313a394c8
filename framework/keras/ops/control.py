"""Control flow of keras.ops: choices, loops and scans over Python functions.

>>> from framework import keras
>>> total, sums = keras.ops.scan(lambda c, x: (c + x, c + x), 0, [1, 2, 3])
>>> int(total), sums.numpy().tolist()
(6, [1, 3, 6])
"""

from typing import Any

from framework.core import nest
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.functions import control as tf
from framework.keras.ops import arrays


def cond(pred: Any, true_fn: Any, false_fn: Any) -> Any:
    """Return `true_fn()` if `pred` is true, else `false_fn()`.

    If `pred` is a KerasTensor (in a functional model), both are computed and one is selected.
    """
    return tf.cond(pred, true_fn, false_fn)


def switch(index: Any, branches: Any, *operands: Any) -> Any:
    """Return `branches[index](*operands)`.

    Args:
        index: an integer; an index below 0 means the first branch, one above the last index the
            last branch.
        branches: a list of functions.
        *operands: their arguments.
    """
    if not len(branches):
        raise InvalidArgumentError("switch: expected at least one branch, got none.")
    chosen = min(max(int(index), 0), len(branches) - 1)
    return branches[chosen](*operands)


def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any = None) -> Any:
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true; return `loop_vars`.

    Args:
        cond: a function of the loop variables that returns a boolean.
        body: a function of the loop variables that returns their next values.
        loop_vars: a tensor, or a list or tuple of tensors or nests of them.
        maximum_iterations: the largest number of iterations; None for no limit.

    Returns:
        A tuple, or one tensor if `loop_vars` is one.
    """
    several = isinstance(loop_vars, (list, tuple))
    found = tf.while_loop(
        cond, body, tuple(loop_vars) if several else (loop_vars,),
        maximum_iterations=maximum_iterations,
    )  # fmt: skip
    return tuple(found) if several else found[0]


def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any) -> Any:
    """Repeat `value = body_fun(i, value)` for i from `lower` to `upper` - 1; return the last value.

    Args:
        lower, upper: integers; if `lower >= upper` the result is `init_val`.
        body_fun: a function of the int i and the previous value.
        init_val: the first value, a tensor or a nest of them.
    """
    value = init_val
    for i in range(int(lower), int(upper)):
        value = body_fun(i, value)
    return nest.map_structure(tensor, value)


def map(f: Any, xs: Any) -> Any:
    """Apply `f` to each element along the first axis of `xs`, one after the other.

    Args:
        f: a function of an element, in the structure of `xs`, that returns a nest of tensors.
        xs: a tensor, or a nest of tensors whose first axes have equal sizes.

    Returns:
        The results, stacked along a new first axis.
    """
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def scan(
    f: Any, init: Any, xs: Any = None, length: Any = None, reverse: bool = False, unroll: Any = 1,
) -> tuple[Any, Any]:  # fmt: skip
    """Call `f(carry, x)` for each element along the first axis of `xs`.

    Args:
        f: returns the next carry, and a nest of tensors or None.
        init: the first carry, a nest of tensors or None.
        xs: a tensor, or a nest of tensors whose first axes have equal sizes; None calls
            `f(carry, None)`.
        length: the number of calls; needed only without `xs`.
        reverse: begin with the last element.
        unroll: ignored; the calls run one after the other.

    Returns:
        The last carry, and the second results, stacked along a new first axis.
    """
    if _is_numbers(xs):
        xs = tensor(xs)
    leaves = [tensor(x) for x in nest.flatten(xs)] if xs is not None else []
    sizes = {int(x.shape[0]) for x in leaves if x.ndim}
    if any(not x.ndim for x in leaves) or len(sizes) > 1:
        shapes = [tuple(x.shape) for x in leaves]
        raise InvalidArgumentError(f"scan: `xs` must have equal sizes on axis 0, got {shapes}.")
    if not sizes and length is None:
        raise InvalidArgumentError("scan: expected `xs` or `length`, got neither.")
    count = int(length) if not sizes else sizes.pop()
    if length is not None and int(length) != count:
        raise InvalidArgumentError(f"scan: `length` is {length}, but `xs` have {count} elements.")
    carry = None if init is None else nest.map_structure(tensor, init)
    results = [None] * count
    for i in reversed(range(count)) if reverse else range(count):
        element = None if xs is None else nest.pack_sequence_as(xs, [x[i] for x in leaves])
        carry, results[i] = f(carry, element)
    return carry, _stacked(results)


def _stacked(results):
    """Stack nests of tensors along a new first axis; None stays None."""
    if not results or results[0] is None:
        return None
    columns = zip(*(nest.flatten(r) for r in results))
    stacked = [arrays.stack(list(column)) for column in columns]
    return nest.pack_sequence_as(results[0], stacked)


def associative_scan(f: Any, elems: Any, reverse: bool = False, axis: Any = 0) -> Any:
    """Return, for each position, all elements up to this position combined by `f`.

    `f` is called about log2(n) times for n elements, each time with many elements.

    Args:
        f: a function of two nests like `elems`, which combines them element by element. It is
            associative: f(f(a, b), c) = f(a, f(b, c)).
        elems: a tensor, or a nest of them with equal sizes along `axis`.
        reverse: True to combine the elements from each position to the end.
        axis: an int.

    >>> from framework import keras
    >>> keras.ops.associative_scan(lambda a, b: a * b, [1, 2, 3, 4]).numpy().tolist()
    [1, 2, 6, 24]
    """
    if not callable(f):
        raise InvalidArgumentError(f"associative_scan: `f` must be callable, got {f!r}.")
    elems = nest.map_structure(tensor, elems) if not _is_numbers(elems) else tensor(elems)

    def part(x, start, stop):
        place = axis % x.ndim
        return x[(slice(None),) * place + (slice(start, stop),)]

    def each(function, *trees):
        return nest.map_structure(function, *trees)

    def flipped(tree):
        return each(lambda x: arrays.flip(x, axis), tree) if reverse else tree

    found = flipped(elems)
    sizes = {int(x.shape[axis]) for x in nest.flatten(found)}
    if len(sizes) != 1:
        raise InvalidArgumentError(
            f"associative_scan: `elems` need equal sizes along axis {axis}, got {sorted(sizes)}."
        )
    size, shift = sizes.pop(), 1
    # After each round, position i has the combination of the last 2 * shift elements up to i.
    while shift < size:
        before = each(lambda x, n=shift: part(x, None, -n), found)
        here = each(lambda x, n=shift: part(x, n, None), found)
        first = each(lambda x, n=shift: part(x, None, n), found)
        rest = f(before, here)
        found = each(lambda a, b: arrays.concatenate([a, b], axis), first, rest)
        shift *= 2
    return flipped(found)


def _is_numbers(elems):
    """Return whether a list contains numbers instead of tensors."""
    leaf = elems
    while isinstance(leaf, (list, tuple)) and leaf:
        leaf = leaf[0]
    return isinstance(elems, (list, tuple)) and isinstance(leaf, (int, float, complex, bool))
