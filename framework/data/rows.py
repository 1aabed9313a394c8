"""Rows: arrays of one length and the order of one pass over them; batches are taken from it.

This is the fast path of datasets and of `fit`. What comes from arrays in memory is not moved row
by row: `take`, `skip`, `shard` and `shuffle` change an order of row numbers, and `batches` makes
one slice or one `np.take` of each array for each batch.
"""

from itertools import islice

import numpy as np

from framework.core import nest
from framework.core.buffers import exclusive
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.random import buffer_slots, permutation
from framework.core.tensor import Tensor
from framework.data.structure import packer


class Rows:
    """Arrays, for each the order of its rows (a range or an array of row numbers), a structure.

    The orders have one length. Each array has its own, so that zipped datasets keep theirs.
    """

    __slots__ = ("arrays", "orders", "structure")

    def __init__(self, structure, arrays, orders):
        self.structure, self.arrays, self.orders = structure, arrays, orders

    @classmethod
    def of(cls, structure, names):
        """All rows of the arrays in `structure`, in their order; ShapeError unless equally many.

        None in it stays None. `names` are those of its leaves, for messages.
        """
        leaves = zip(names, nest.flatten(structure))
        arrays = {name: array for name, array in leaves if array is not None}
        if not arrays:
            raise InvalidArgumentError(f"There is no array in {structure!r}.")
        for name, array in arrays.items():
            if not array.ndim:
                raise ShapeError(f"{name} is a single value, of shape (); it has no rows.")
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) > 1:
            told = ", ".join(f"{name} has {len(array)}" for name, array in arrays.items())
            raise ShapeError(
                f"Different numbers of rows (first dimension): {told}. Rows of equal number belong "
                "together; give arrays of one length."
            )
        return cls(structure, list(arrays.values()), [range(*lengths)] * len(arrays))

    def __len__(self):
        return len(self.orders[0])

    def select(self, pick):
        """The rows at the positions `pick`, a slice or an array of positions."""
        picked = {id(order): _select(order, pick) for order in self.orders}
        return Rows(self.structure, self.arrays, [picked[id(order)] for order in self.orders])

    def __add__(self, other):
        """These rows, then those of another pass over the same arrays."""
        orders = [np.concatenate([_numbers(a), _numbers(b)])
                  for a, b in zip(self.orders, other.orders)]  # fmt: skip
        return Rows(self.structure, self.arrays, orders)

    def __iter__(self):
        """One element for each row."""
        pack = packer(self.structure)
        orders = [o if isinstance(o, range) else o.tolist() for o in self.orders]
        for numbers in zip(*orders):
            yield pack([Tensor(a[i, ...]) for a, i in zip(self.arrays, numbers)])


def _select(order, pick):
    if isinstance(order, range) and not isinstance(pick, slice):
        return pick if order.start == 0 and order.step == 1 else order.start + order.step * pick
    return order[pick]


def _numbers(order):
    if isinstance(order, range):
        return np.arange(order.start, order.stop, order.step, dtype=np.intp)
    return order


# ---- batches -------------------------------------------------------------------------------------


_BLOCK = 1 << 16  # bytes: batches that are smaller are taken so many at once


def batches(passes, size, drop_remainder=False):
    """Elements of `size` rows each from consecutive passes over the same arrays.

    A batch runs on from one pass into the next; only the last one of all may be smaller.
    """
    gathers, pack, rest = [], tuple, None
    for rows in passes:
        if not gathers:
            gathers, pack = [_Gather(array) for array in rows.arrays], packer(rows.structure)
        if rest is not None:
            rows = rest + rows  # noqa: PLW2901 (the pass begins with what the last one left)
        whole = len(rows) // size * size
        parts = [g.parts(o[:whole], size) for g, o in zip(gathers, rows.orders)]
        for _ in range(whole // size):  # not by `zip`, which holds batches
            yield pack([Tensor(next(p)) for p in parts])
        rest = rows.select(slice(whole, None)) if whole < len(rows) else None
    if rest is not None and not drop_remainder:
        yield pack([Tensor(g(o)) for g, o in zip(gathers, rest.orders)])


class _Gather:
    """Rows of one array by number: a view where they lie in line, else one `take`.

    A loop still holds the last batch while it asks for the next one, so the buffer that may be free
    is the one before; it is written again only when nobody else sees it.
    """

    __slots__ = ("array", "before_last", "last", "take")

    def __init__(self, array):
        self.array = array
        self.last = self.before_last = None
        # `take` would first copy the whole array if its memory is not in line
        self.take = array.flags.c_contiguous and array.flags.aligned

    def parts(self, numbers, size):
        """The rows, `size` at a time; a `take` for each part that is large, or for several."""
        row = self.array.nbytes // max(1, len(self.array))
        step = size * max(1, _BLOCK // max(1, size * row))
        for start in range(0, len(numbers), step):
            rows = self(numbers[start : start + step])
            if step == size:
                yield rows
                continue
            for first in range(0, len(rows), size):
                yield rows[first : first + size]

    def __call__(self, numbers):
        if isinstance(numbers, range):
            return self.array[_as_slice(numbers)]
        if not self.take:
            return self.array[numbers]
        buffer, self.before_last = self.before_last, self.last
        if buffer is not None and len(buffer) == len(numbers) and exclusive(buffer):
            self.array.take(numbers, 0, buffer, "clip")  # "raise" would go through a second buffer
        else:
            buffer = self.array.take(numbers, 0)
        self.last = buffer
        return buffer


def _as_slice(numbers):
    """The slice that picks what the range (of row numbers >= 0, rising) lists."""
    return slice(numbers.start, numbers.stop, numbers.step)


# ---- shuffling -----------------------------------------------------------------------------------


def shuffled_order(n, buffer_size, seed, epoch):
    """The positions 0 to n - 1 as a shuffle with a buffer of `buffer_size` gives them."""
    if buffer_size >= n:
        return permutation(seed, epoch, n)
    return np.fromiter(shuffled(range(n), buffer_size, seed, epoch), np.intp, n)


def shuffled_blocks(n, size, seed, epoch):
    """The positions 0 to n - 1, blocks of `size` shuffled; a smaller last one stays last."""
    whole = n // size
    blocks = np.arange(whole * size).reshape(whole, size)[permutation(seed, epoch, whole)]
    return np.concatenate([blocks.reshape(-1), np.arange(whole * size, n)])


def shuffled(items, buffer_size, seed, epoch):
    """`items` through a buffer: each one given is drawn from it, and the next one takes its place.

    Where the buffer holds all of them, this is `permutation(seed, epoch, n)`.
    """
    items = iter(items)
    filled = list(islice(items, buffer_size))
    buffer = [filled[i] for i in permutation(seed, epoch, len(filled)).tolist()]
    for item, slot in zip(items, buffer_slots(seed, epoch, buffer_size)):
        given, buffer[slot] = buffer[slot], item
        yield given
    yield from buffer
