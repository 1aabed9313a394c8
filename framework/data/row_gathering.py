"""Rows: arrays of equal length with the row order of one iteration, and their batches.

This is the fast path of datasets and of `fit` for arrays in memory: `take`, `skip`, `shard` and
`shuffle` only change an order of row indices, `batches` takes one slice or one `np.take` of each
array per batch, and a mapped function is called once for the rows of a batch if this is possible.
"""

from itertools import chain, islice

import numpy as np

from framework.core import nest
from framework.core.buffers import exclusive
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.random import buffer_slots, permutation
from framework.data.sparse_rows import SparseRows
from framework.data.structure import boxed, packer


class Rows:
    """Rows of arrays: the arrays, the row order of each (a range or indices), and a structure.

    The orders have equal lengths. Each array has its own order, because zipped datasets may differ.
    `maps` are functions to apply to each element (`row_functions.py`); their entries in `orders`
    follow those of the arrays and hold the numbers of the elements, for error messages.
    """

    __slots__ = ("arrays", "maps", "orders", "structure")

    def __init__(self, structure, arrays, orders, maps=()):
        self.structure, self.arrays, self.orders, self.maps = structure, arrays, orders, maps

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
        orders = [picked[id(order)] for order in self.orders]
        return Rows(self.structure, self.arrays, orders, self.maps)

    def through(self, function, start=0):
        """Return the rows mapped by a RowFunction; the number of the first element is `start`."""
        first = self.orders[0]
        same = isinstance(first, range) and first == range(start, start + len(first))
        numbers = first if same else range(start, start + len(first))
        return Rows(self.structure, self.arrays, [*self.orders, numbers], (*self.maps, function))

    def __add__(self, other):
        """Return these rows followed by those of another iteration, which may have other arrays."""
        if not all(a is b for a, b in zip(self.arrays, other.arrays)):
            return self._beside(other)
        orders = [np.concatenate([_numbers(a), _numbers(b)])
                  for a, b in zip(self.orders, other.orders)]  # fmt: skip
        return Rows(self.structure, self.arrays, orders, self.maps)

    def _beside(self, other):
        """Return these rows followed by those of `other`, copied to new arrays."""
        arrays = []
        for a, x, b, y in zip(self.arrays, self.orders, other.arrays, other.orders):
            parts = [v[_as_slice(o) if isinstance(o, range) else o] for v, o in ((a, x), (b, y))]
            arrays.append(np.concatenate(parts))
        count = len(self.arrays)
        pairs = zip(self.orders[count:], other.orders[count:])
        numbers = [np.concatenate([_numbers(a), _numbers(b)]) for a, b in pairs]
        return Rows(self.structure, arrays, [range(len(arrays[0]))] * count + numbers, self.maps)

    def __iter__(self):
        """Return an iterator over one element per row, which continues after an error."""
        pack, arrays, maps = packer(self.structure), self.arrays, self.maps
        orders = [o if isinstance(o, range) else o.tolist() for o in self.orders]
        elements = (pack([boxed(a[i, ...]) for a, i in zip(arrays, row)]) for row in zip(*orders))
        for function, numbers in zip(maps, orders[len(arrays) :]):
            elements = map(function.call, elements, numbers)
        return elements


def _select(order, pick):
    if isinstance(order, range) and not isinstance(pick, slice):
        return pick if order.start == 0 and order.step == 1 else order.start + order.step * pick
    return order[pick]


def _numbers(order):
    if isinstance(order, range):
        return np.arange(order.start, order.stop, order.step, dtype=np.intp)
    return order


# ---- batches -------------------------------------------------------------------------------------


_BLOCK_ROWS = 256  # rows per call of the function when `computed` runs it on all rows
_BLOCK = 1 << 16  # one `np.take` gathers several batches, up to this number of bytes
_SMALL = 1 << 12  # batches of up to this number of bytes do not reuse a buffer


def batched(passes, size, drop_remainder=False, streams=False):
    """Return an iterator over batches of `size` rows from consecutive iterations.

    Args:
        streams: whether `passes` may have different arrays, and may go on after an error.
    """
    passes = iter(passes)
    if streams:
        return MappedBatches(passes, size, drop_remainder)
    first = next(passes, None)
    if first is None:
        return iter(())
    make = MappedBatches if first.maps else batches
    return make(chain([first], passes), size, drop_remainder)


def batches(passes, size, drop_remainder=False):
    """Yield batches of `size` rows from consecutive iterations over the same arrays.

    A batch may contain rows of two iterations; only the last batch may be smaller.
    """
    gathers, pack, rest = [], tuple, None
    for rows in passes:
        if not gathers:
            gathers, pack = [_gather(array) for array in rows.arrays], packer(rows.structure)
        if rest is not None:
            rows = rest + rows  # noqa: PLW2901 (rows left over by the last iteration come first)
        whole = len(rows) // size * size
        parts = [g.parts(o[:whole], size) for g, o in zip(gathers, rows.orders)]
        # a `zip` would keep a reference to the last batch, whose buffer could not be reused
        for _ in range(whole // size):
            yield pack([boxed(next(p)) for p in parts])
        rest = rows.select(slice(whole, None)) if whole < len(rows) else None
    if rest is not None and not drop_remainder:
        yield pack([boxed(g(o)) for g, o in zip(gathers, rest.orders)])


def _gather(array):
    return array if isinstance(array, SparseRows) else _Gather(array)


class MappedBatches:
    """Iterator over batches of rows, with the functions `maps` applied to their elements.

    Each function is called once for a batch. If that fails, the functions are called for each row:
    an error is raised at its element, and the iterator can continue with the element after it.
    """

    def __init__(self, passes, size, drop_remainder):
        self._passes, self._size, self._drop = iter(passes), size, drop_remainder
        self._rows = self._gathers = self._pack = None
        # the row orders of the arrays; only one if all arrays have the same order
        self._orders = ()
        # the function that reads and computes rows in one pass; None if not known yet; False if
        # there is none
        self._reader = None
        # _count is the number of rows in `_rows`, _at the index of the next batch's first row.
        self._count = self._at = 0

    def __iter__(self):
        return self

    def __next__(self):
        at, count = self._at, self._size
        if at + count > self._count:
            count, at = self._available(), self._at
            if not count:
                raise StopIteration
        numbers = [order[at : at + count] for order in self._orders]
        if len(numbers) < len(self._gathers):  # all arrays have the same row order, stored once
            numbers *= len(self._gathers)
        try:
            element = self._reader(numbers) if self._reader else None
            if element is None:
                element = self._in_steps(numbers)
        except Exception:  # the row-by-row calls raise the error at the row that causes it
            return self._by_row(count)
        self._at = at + count
        return element

    def _in_steps(self, numbers):
        """Apply the functions one after the other to the rows `numbers`."""
        self._reader = self._found_reader()
        element = self._pack([boxed(g(n)) for g, n in zip(self._gathers, numbers)])
        for function in self._rows.maps:
            element = function.together(element)
        return element

    def _found_reader(self):
        """Return the one-pass reader of the only mapped function; False if there is none."""
        if self._reader is not None or len(self._rows.maps) != 1:
            return self._reader or False
        if not all(type(g) is _Gather and g.take for g in self._gathers):
            return False
        return self._rows.maps[0].reader(self._gathers, self._pack)

    def _available(self):
        """Return the number of rows for the next batch; 0 at the end."""
        for new in self._passes:
            rest = None if self._rows is None else self._rows.select(slice(self._at, None))
            rows = rest + new if rest is not None and len(rest) else new
            if self._rows is None or rows.arrays is not self._rows.arrays:
                self._gathers = [_gather(array) for array in rows.arrays]
                self._pack, self._reader = packer(rows.structure), None
            self._rows, self._at, self._count = rows, 0, len(rows)
            orders = rows.orders[: len(rows.arrays)]
            self._orders = orders[:1] if all(o is orders[0] for o in orders) else orders
            if self._count >= self._size:
                return self._size
        count = self._count - self._at
        return 0 if self._drop and count < self._size else count

    def _by_row(self, count):
        at = self._at
        elements, found = iter(self._rows.select(slice(at, at + count))), []
        for number in range(count):
            # if this element raises an error, the next batch begins after it
            self._at = at + number + 1
            found.append(next(elements))
        return nest.map_structure(lambda *parts: boxed(np.stack([p.array for p in parts])), *found)


def computed(rows):
    """Call the functions of `rows` for all rows; return `Rows` with the results."""
    arrays, at = [], 0
    for batch in MappedBatches([rows], _BLOCK_ROWS, False):
        leaves = [leaf.array for leaf in nest.flatten(batch)]
        arrays = arrays or [np.empty((len(rows), *a.shape[1:]), a.dtype) for a in leaves]
        for array, leaf in zip(arrays, leaves):
            array[at : at + len(leaf)] = leaf
        at, structure = at + len(leaves[0]), batch
    return Rows(structure, arrays, [range(at)] * len(arrays))


class _Gather:
    """Reads rows of one array by index: a view for a range of indices, otherwise one `np.take`.

    A training loop holds the last batch while it requests the next. So the buffer of the batch
    before the last is reused, if it has no other reference.
    """

    __slots__ = ("array", "before_last", "few", "last", "take")

    def __init__(self, array):
        self.array = array
        self.last = self.before_last = None
        # For an array that is not contiguous, `np.take` would first copy all of it.
        flags = getattr(array, "flags", None)  # arrays in files have no attribute `flags`
        self.take = flags is not None and flags.c_contiguous and flags.aligned
        # For `few` rows or less, indexing takes less time than checking whether a buffer is free.
        self.few = _SMALL * len(array) // max(1, array.nbytes) if self.take else 0

    def parts(self, numbers, size):
        """Yield the rows, `size` at a time; several small parts share one `np.take`."""
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
        if not self.take or len(numbers) <= self.few:
            return self.array[numbers]
        buffer, self.before_last = self.before_last, self.last
        if buffer is not None and len(buffer) == len(numbers) and exclusive(buffer):
            # mode "clip", because the indices are in range and "raise" would allocate a buffer
            self.array.take(numbers, 0, buffer, "clip")
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
    """Yield `items` from a shuffle buffer: the next item replaces a random one, which is yielded.

    If the buffer holds all items, the order is `permutation(seed, epoch, n)`.
    """
    items = iter(items)
    filled = list(islice(items, buffer_size))
    buffer = [filled[i] for i in permutation(seed, epoch, len(filled)).tolist()]
    for item, slot in zip(items, buffer_slots(seed, epoch, buffer_size)):
        drawn, buffer[slot] = buffer[slot], item
        yield drawn
    yield from buffer


def shuffled_passes(passes, buffer_size, seed, epoch):
    """Shuffle the rows of all `passes` through one buffer, in the order of `shuffled`; yield Rows.

    The rows in the buffer and those of the next `Rows` are joined, and their positions are shuffled
    as `shuffled` shuffles elements.
    """
    buffer, slots = None, buffer_slots(seed, epoch, buffer_size)
    filled = False
    for rows in passes:
        held = rows if buffer is None else buffer + rows
        count = 0 if buffer is None else len(buffer)
        if not filled:
            if len(held) < buffer_size:
                buffer = held
                continue
            filled, count = True, buffer_size
            places = permutation(seed, epoch, count).tolist()
        else:
            places = list(range(count))
        drawn = []
        for position, slot in zip(range(count, len(held)), slots):
            drawn.append(places[slot])
            places[slot] = position
        if drawn:
            yield held.select(np.array(drawn, np.intp))
        buffer = held.select(np.array(places, np.intp))
    if buffer is not None:
        yield buffer if filled else buffer.select(permutation(seed, epoch, len(buffer)))
