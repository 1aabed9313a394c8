"""Convert axes as users write them to sorted tuples of non-negative ints."""

import operator

import numpy as np

from framework.core.errors import InvalidArgumentError

_ALL = tuple(tuple(range(rank)) for rank in range(9))


def all_axes(axis, rank, what):
    """Return None (all axes), an int or a sequence of ints as a sorted tuple of axes.

    Args:
        axis: the axes; negative ones count from the end.
        rank: the rank of the tensor.
        what: the name of the function, for the error.

    Raises:
        InvalidArgumentError: an axis is out of range or given twice.

    >>> all_axes(None, 3, "f"), all_axes(-1, 3, "f"), all_axes([2, 0], 3, "f")
    ((0, 1, 2), (2,), (0, 2))
    """
    if axis is None:
        return _ALL[rank] if rank < 9 else tuple(range(rank))
    if type(axis) is int and -rank <= axis < rank:
        return (axis % rank,)
    return _several_axes(axis, rank, what)


def _several_axes(axis, rank, what):
    found = [one_axis(a, rank, what) for a in _listed(axis)]
    if len(set(found)) != len(found):
        raise InvalidArgumentError(f"{what}: axis={axis!r} names an axis twice (rank {rank}).")
    return tuple(sorted(found))


def one_axis(axis, rank, what):
    """Return one axis as a non-negative int, or raise InvalidArgumentError."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise InvalidArgumentError(f"{what}: axis must be an int, got {axis!r}.") from None
    if not -rank <= index < rank:
        raise InvalidArgumentError(
            f"{what}: axis={index} is out of range for a tensor of rank {rank}; "
            + (f"expected {-rank} to {rank - 1}." if rank else "a 0-d tensor has no axes.")
        )
    return index % rank


def _listed(axis):
    """Return the axes in a sequence, array or tensor as a list."""
    if hasattr(axis, "__array__"):
        return np.atleast_1d(np.asarray(axis)).tolist()
    return axis if isinstance(axis, (list, tuple, range)) else (axis,)
