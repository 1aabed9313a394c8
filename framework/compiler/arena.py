"""The memory of a plan: one piece, in which values lie where no other does at the time."""

from functools import cached_property

import numpy as np

_LINE = 64  # bytes of a line of the cache: vectors that straddle two are slower to load


class Arena:
    """Slots of memory, each for a class of values (see `Lives`) as long as that is needed.

    Where a slot lies is settled when all are known, by `offsets`.

    Attributes:
        now: the position of the step that is being written.
        views: {(slot, shape, dtype): the name of that array}, in the order of `make`.
    """

    def __init__(self):
        self.now = 0
        self.views = {}
        self._sizes, self._first, self._last = [], [], []  # of each slot: bytes, positions
        self._of = {}  # root of a class -> its slot

    def take(self, root, value):
        """A slot for a class, from now on; the number of the slot."""
        slot = self._of[root] = len(self._sizes)
        self._sizes.append(value.nbytes)
        self._first.append(self.now)
        self._last.append(None)
        return slot

    def hand_over(self, root, value, to):
        """Whether the slot of a class becomes another's, whose value fills it: it is written over.

        Args:
            to: the root of the class of `value`.
        """
        slot = self._of.get(root)
        if slot is None or self._sizes[slot] != value.nbytes:
            return False
        self._of[to] = self._of.pop(root)
        return True

    def release(self, root):
        """The class is not needed after the present step."""
        slot = self._of.pop(root, None)
        if slot is not None:
            self._last[slot] = self.now

    def slot_of(self, root):
        """The slot in which a class lies; None if there is none."""
        return self._of.get(root)

    def name(self, slot, shape, dtype):
        """The name of the array of a shape and dtype that a slot is."""
        key = slot, shape, dtype
        if key not in self.views:
            self.views[key] = f"b{len(self.views)}"
        return self.views[key]

    @cached_property
    def offsets(self):
        """Where each slot begins, in bytes."""
        last = [self.now if at is None else at for at in self._last]
        return packed([-(-n // _LINE) * _LINE for n in self._sizes], self._first, last)

    @property
    def nbytes(self):
        ends = [at + n for at, n in zip(self.offsets, self._sizes, strict=True)]
        return max(ends, default=0)

    def make(self):
        """New memory: the arrays of `views`, in order."""
        whole = np.empty(self.nbytes + _LINE, np.uint8)
        whole = whole[-whole.ctypes.data % _LINE :]
        return [
            np.ndarray(shape, dtype, whole, self.offsets[slot]) for slot, shape, dtype in self.views
        ]


def most(pieces):
    """The most bytes needed at one step, of (bytes, first step, last step)."""
    changes = [(first, size) for size, first, _ in pieces]
    changes += [(last + 0.5, -size) for size, _, last in pieces]  # a step's own count together
    now = found = 0
    for _, change in sorted(changes):
        now += change
        found = max(found, now)
    return found


def packed(sizes, first, last):
    """Where to put pieces that are needed from step `first` to `last`, so that little is needed.

    The larger come first, each into the smallest gap between those that are needed at the same
    time (Pisarchyk and Lee, Efficient memory management for deep neural net inference, 2020).
    """
    sizes, first, last = (np.array(x, np.int64) for x in (sizes, first, last))
    offsets, ends = np.zeros_like(sizes), np.zeros_like(sizes)
    order = np.argsort(-sizes, kind="stable")
    for number, at in enumerate(order):
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
