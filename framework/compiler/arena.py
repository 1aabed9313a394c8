"""Buffer assignment: a plan's values share one allocation where their lifetimes do not overlap."""

from functools import cached_property

import numpy as np

from framework.core.buffers import return_freed_memory

LARGE = 1 << 24  # bytes; before allocating this much, return freed memory to the system
_LINE = 64  # bytes of a cache line; slots are aligned to it, because unaligned loads are slower


class Arena:
    """The memory of a plan: slots, each used by one alias class at a time (see `Liveness`).

    `offsets` assigns memory to the slots once all slots have been added.

    Attributes:
        now: the position of the node whose code is being generated.
        views: {(slot, shape, dtype): the name of the array in the source}, in the order in which
            `make` returns the arrays.
    """

    def __init__(self):
        self.now = 0
        self.views = {}
        # For each slot: its size in bytes, and the positions of the first and the last node that
        # use it.
        self._sizes, self._first, self._last = [], [], []
        self._of = {}  # root of an alias class -> index of its slot

    @staticmethod
    def holds(value):
        """Return whether the arena can hold the value: a nonempty array of plain numbers."""
        return value.dtype.kind in "fiub" and value.nbytes > 0

    def take(self, root, value):
        """Add a slot for `value`, whose alias class is `root`, and return the slot's index."""
        slot = self._of[root] = len(self._sizes)
        self._sizes.append(value.nbytes)
        self._first.append(self.now)
        self._last.append(None)
        return slot

    def hand_over(self, root, value, to):
        """Move a slot from alias class `root` to class `to`; return False if the sizes differ.

        Args:
            value: the value of class `to` that will use the slot.
        """
        slot = self._of.get(root)
        if slot is None or self._sizes[slot] != value.nbytes:
            return False
        self._of[to] = self._of.pop(root)
        return True

    def release(self, root):
        """End the lifetime of a slot: the current node is the last to use the alias class."""
        slot = self._of.pop(root, None)
        if slot is not None:
            self._last[slot] = self.now

    def slot_of(self, root):
        """Return the slot of an alias class, or None."""
        return self._of.get(root)

    def name(self, slot, shape, dtype):
        """Return the name of a slot's array of the given shape and dtype."""
        key = slot, shape, dtype
        if key not in self.views:
            self.views[key] = f"b{len(self.views)}"
        return self.views[key]

    @cached_property
    def offsets(self):
        """The offset of each slot in bytes."""
        return packed(_in_lines(self._sizes), self._first, self._last_uses())

    @property
    def nbytes(self):
        ends = [at + n for at, n in zip(self.offsets, self._sizes, strict=True)]
        return max(ends, default=0)

    def make(self, lent=()):
        """Allocate the arena and return the arrays of `views`, in order.

        Args:
            lent: pairs (Value, position) of further arrays, returned after those of `views`. Each
                is in use from its position to the end of the call. It gets memory of slots that are
                free by then, or memory after all slots.
        """
        values = [value for value, _ in lent]
        offsets = [*self.offsets, *(self._beside(lent) if lent else ())]
        sizes = self._sizes + [value.nbytes for value in values]
        nbytes = max((at + n for at, n in zip(offsets, sizes, strict=True)), default=0)
        if nbytes >= LARGE:
            return_freed_memory()  # memory that earlier eager calls freed
        whole = np.empty(nbytes + _LINE, np.uint8)
        whole = whole[-whole.ctypes.data % _LINE :]
        arrays = [(offsets[slot], shape, dtype) for slot, shape, dtype in self.views]
        places = zip(offsets[len(self._sizes) :], values, strict=True)
        arrays += [(at, value.shape, value.dtype) for at, value in places]
        return [np.ndarray(shape, dtype, whole, at) for at, shape, dtype in arrays]

    def _beside(self, lent):
        """Return the offsets of the arrays `lent`, see `make`."""
        sizes = _in_lines(self._sizes + [value.nbytes for value, _ in lent])
        first = self._first + [position for _, position in lent]
        last = self._last_uses() + [self.now] * len(lent)
        return packed(sizes, first, last, self.offsets)[len(self._sizes) :]

    def _last_uses(self):
        return [self.now if at is None else at for at in self._last]


def _in_lines(sizes):
    """Round sizes up to whole cache lines."""
    return [-(-n // _LINE) * _LINE for n in sizes]


def peak(pieces):
    """Return the largest number of bytes in use at once by blocks of (bytes, first, last)."""
    changes = [(first, size) for size, first, _ in pieces]
    # A value is still live at its last position, so its memory is freed at + 0.5.
    changes += [(last + 0.5, -size) for size, _, last in pieces]
    now = found = 0
    for _, change in sorted(changes):
        now += change
        found = max(found, now)
    return found


def packed(sizes, first, last, known=()):
    """Return memory offsets of blocks that are live from position `first` to `last`.

    To save memory, place larger blocks first, each in the smallest sufficient gap between blocks
    that are live at the same time (Pisarchyk and Lee, Efficient memory management for deep neural
    net inference, 2020).

    Args:
        known: fixed offsets for the first blocks of the list.
    """
    sizes, first, last = (np.array(x, np.int64) for x in (sizes, first, last))
    offsets, ends = np.zeros_like(sizes), np.zeros_like(sizes)
    count = len(known)
    offsets[:count] = known
    ends[:count] = offsets[:count] + sizes[:count]
    order = np.argsort(-sizes[count:], kind="stable") + count
    order = np.append(np.arange(count), order)
    for number, at in enumerate(order[count:], count):
        placed = order[:number]
        beside = placed[(first[placed] <= last[at]) & (last[placed] >= first[at])]
        beside = beside[np.argsort(offsets[beside], kind="stable")]
        starts = np.append(0, np.maximum.accumulate(ends[beside]))
        gaps = offsets[beside] - starts[:-1]
        fitting = np.flatnonzero(gaps >= sizes[at])
        best = fitting[np.argmin(gaps[fitting])] if len(fitting) else -1
        offsets[at] = starts[best]
        ends[at] = offsets[at] + sizes[at]
    return offsets.tolist()
