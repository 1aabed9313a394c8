"""Rows: arrays of equal length with the row order of one iteration, and their batches.

This is the fast path of datasets and of `fit` for arrays in memory: `take`, `skip`, `shard` and
`shuffle` only change an order of row numbers, and `batches` takes one slice or one `np.take` of
each array per batch.
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
    """Arrays, an order of rows for each (a range or an array of row numbers), and a structure.

    The orders have equal lengths. Each array has its own order, because zipped datasets may differ.
    """

    __slots__ = ("arrays", "orders", "structure")

    def __init__(self, structure, arrays, orders):
        self.structure, self.arrays, self.orders = structure, arrays, orders

    @classmethod
    def of(cls, structure, names):
        """Return all rows of the arrays in `structure`, in their order.

        Args:
            structure: a nest of arrays; None stays None.
            names: the names of the leaves, for error messages.

        Raises:
            ShapeError: the arrays have different numbers of rows.
        """
        leaves = zip(names, nest.flatten(structure))
        arrays = {name: array for name, array in leaves if array is not None}
        if not arrays:
            raise InvalidArgumentError(f"Expected at least one array, got {structure!r}.")
        for name, array in arrays.items():
            if not array.ndim:
                raise ShapeError(f"{name}: expected an array with rows, got a scalar of shape ().")
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) > 1:
            listed = ", ".join(f"{name} has {len(array)}" for name, array in arrays.items())
            raise ShapeError(
                f"Expected equal numbers of rows (first dimension), got: {listed}. Pass arrays of "
                "equal length."
            )
        return cls(structure, list(arrays.values()), [range(*lengths)] * len(arrays))

    def __len__(self):
        return len(self.orders[0])

    def select(self, pick):
        """Return the rows at the positions `pick`, a slice or an array of positions."""
        picked = {id(order): _select(order, pick) for order in self.orders}
        return Rows(self.structure, self.arrays, [picked[id(order)] for order in self.orders])

    def __add__(self, other):
        """Return these rows, then those of another iteration over the same arrays."""
        orders = [np.concatenate([_numbers(a), _numbers(b)])
                  for a, b in zip(self.orders, other.orders)]  # fmt: skip
        return Rows(self.structure, self.arrays, orders)

    def __iter__(self):
        """Yield one element per row."""
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


_BLOCK = 1 << 16  # the most bytes of several batches that one `np.take` takes together


def batches(passes, size, drop_remainder=False):
    """Yield batches of `size` rows from consecutive iterations over the same arrays.

    A batch may cross from one iteration to the next; only the very last may be smaller.
    """
    gathers, pack, rest = [], tuple, None
    for rows in passes:
        if not gathers:
            gathers, pack = [_Gather(array) for array in rows.arrays], packer(rows.structure)
        if rest is not None:
            rows = rest + rows  # noqa: PLW2901 (rows left over by the last iteration come first)
        whole = len(rows) // size * size
        parts = [g.parts(o[:whole], size) for g, o in zip(gathers, rows.orders)]
        for _ in range(whole // size):  # `zip` would keep a reference to the last batch
            yield pack([Tensor(next(p)) for p in parts])
        rest = rows.select(slice(whole, None)) if whole < len(rows) else None
    if rest is not None and not drop_remainder:
        yield pack([Tensor(g(o)) for g, o in zip(gathers, rest.orders)])


class _Gather:
    """Rows of one array by number: a view for a range of numbers, otherwise one `np.take`.

    A training loop holds the last batch while it requests the next, so the buffer before the last
    is reused, if it has no other reference.
    """

    __slots__ = ("array", "before_last", "last", "take")

    def __init__(self, array):
        self.array = array
        self.last = self.before_last = None
        # `np.take` would first copy the whole array if it is not contiguous.
        self.take = array.flags.c_contiguous and array.flags.aligned

    def parts(self, numbers, size):
        """Yield the rows, `size` at a time; small parts share one `take`."""
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
            self.array.take(numbers, 0, buffer, "clip")  # "raise" would use a second buffer
        else:
            buffer = self.array.take(numbers, 0)
        self.last = buffer
        return buffer


def _as_slice(numbers):
    """Return the slice that selects the rows of an increasing range."""
    return slice(numbers.start, numbers.stop, numbers.step)


# ---- shuffling -----------------------------------------------------------------------------------


def shuffled_order(n, buffer_size, seed, epoch):
    """Return the positions 0 to n - 1 in the order of a shuffle with this buffer size."""
    if buffer_size >= n:
        return permutation(seed, epoch, n)
    return np.fromiter(shuffled(range(n), buffer_size, seed, epoch), np.intp, n)


def shuffled_blocks(n, size, seed, epoch):
    """Return the positions 0 to n - 1 with blocks of `size` shuffled; a smaller block is last."""
    whole = n // size
    blocks = np.arange(whole * size).reshape(whole, size)[permutation(seed, epoch, whole)]
    return np.concatenate([blocks.reshape(-1), np.arange(whole * size, n)])


def shuffled(items, buffer_size, seed, epoch):
    """Yield `items` shuffled by a buffer: each output is drawn from it, the next item replaces it.

    If the buffer holds all items, the order is `permutation(seed, epoch, n)`.
    """
    items = iter(items)
    filled = list(islice(items, buffer_size))
    buffer = [filled[i] for i in permutation(seed, epoch, len(filled)).tolist()]
    for item, slot in zip(items, buffer_slots(seed, epoch, buffer_size)):
        drawn, buffer[slot] = buffer[slot], item
        yield drawn
    yield from buffer
