"""Products and loops of a plan that follow one another, done by the thread team in one call.

Each is a piece of some units, mostly rows. Pieces are gathered into phases (see
`kernels/fast/team.py`): within one, a part of the units goes through all pieces before another
thread has done its own. So a piece joins the phase of the one before it unless it needs more of
what others of the phase write than its own units.
"""

import ctypes
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from framework.kernels import threads

_WHOLE = None


class MemoryAccess(NamedTuple):
    """What a piece reads or writes.

    key: what stands for the memory. unit: how many bytes a unit has there, if a part touches its
    own units and no others, else None. columns: whether units are columns of a matrix there.
    """

    key: object
    unit: int | None
    written: bool
    columns: bool = False


class RegionTask(NamedTuple):
    """A task of a stretch.

    task: what gives its `address()`, compiled then if need be.
    arrays: the names of its arrays, in the order of its numbers. expected: (size, dtype) of each.
    numbers: those that follow. ahead: gives those before, when all is compiled.
    extent, unit: how many units there are, and how many of them go together.
    accesses: of all arrays. work: about how long it takes one thread, in seconds.
    """

    task: object
    arrays: tuple
    expected: tuple
    numbers: tuple
    extent: int
    unit: int
    accesses: tuple
    work: float
    ahead: Callable = tuple

    def cut(self, parts):
        """How many units a part has."""
        return -(-self.extent // (parts * self.unit)) * self.unit


def _conflict(a, b):
    """Whether a piece must wait until all parts of an earlier one are done."""
    cut, other = (a.extent, a.unit), (b.extent, b.unit)
    return any(
        x.key == y.key
        and (x.written or y.written)
        and (x.unit is _WHOLE or (x.unit, x.columns) != (y.unit, y.columns) or cut != other)
        for x in a.accesses
        for y in b.accesses
    )


def phases(pieces):
    """(first piece, the one after the last, parts) of each phase."""
    starts = [0]
    for at, piece in enumerate(pieces):
        if any(_conflict(before, piece) for before in pieces[starts[-1] : at]):
            starts.append(at)
    found = zip(starts, [*starts[1:], len(pieces)], strict=True)
    return [(first, last, _parts(pieces[first:last])) for first, last in found]


def _parts(pieces):
    number = threads.parts(sum(piece.work for piece in pieces))
    return max(1, min(number, max(-(-piece.extent // piece.unit) for piece in pieces)))


class ParallelRegion:
    """Pieces, in order.

    Args:
        pieces: a list of Piece.
        fixed: the names of the arrays that are there before a run, in the order of `bound`.

    `given`: the names of the other arrays, in the order in which a run gives them.
    """

    def __init__(self, pieces, fixed):
        self.pieces, self.phases = pieces, phases(pieces)
        names = list(dict.fromkeys(name for piece in pieces for name in piece.arrays))
        self.fixed = [name for name in names if name in fixed]
        self.given = [name for name in names if name not in fixed]
        self.expected = {
            name: expected
            for piece in pieces
            for name, expected in zip(piece.arrays, piece.expected, strict=True)
        }

    def compiled(self, do):
        """`bound(fixed arrays...)`, which gives `run(given arrays...)`.

        Args:
            do: `team.do`.
        """
        addresses = [piece.task.address() for piece in self.pieces]
        return lambda *arrays: _RegionCall(self, addresses, arrays, do)

    def lists(self, addresses):
        """Numbers of all tasks, {name: places of its address}, (task, its numbers) of each."""
        numbers, places, tasks = [], {}, []
        for piece, address in zip(self.pieces, addresses, strict=True):
            tasks.append((address, len(numbers)))
            numbers += piece.ahead()
            for name in piece.arrays:
                places.setdefault(name, []).append(len(numbers))
                numbers.append(0)
            numbers += piece.numbers
        return numbers, places, tasks


class _RegionCall:
    """A stretch on certain memory; one thread calls it at a time."""

    def __init__(self, stretch, addresses, arrays, do):
        numbers, places, tasks = stretch.lists(addresses)
        self._numbers = np.array(numbers, np.int64)
        start = self._numbers.ctypes.data
        self._tasks = [(address, start + 8 * at) for address, at in tasks]
        self._stretch, self._do, self._fixed = stretch, do, arrays
        self.cut()
        for name, array in zip(stretch.fixed, arrays, strict=True):
            self._put(places[name], array)
        self._places = [places[name] for name in stretch.given]
        self._expected = [stretch.expected[name] for name in stretch.given]
        self._known = [_nothing] * len(stretch.given)  # the arrays whose addresses are filled in
        _runs.add(self)

    def cut(self):
        """Have as many parts as suit the number of threads."""
        found, tasks, pieces = [], [], self._stretch.pieces
        for first, last, _ in self._stretch.phases:
            parts = _parts(pieces[first:last])
            found.append((first, last, parts))
            for piece, task in zip(pieces[first:last], self._tasks[first:last], strict=True):
                tasks += *task, piece.extent, piece.cut(parts)
        most = max(parts for _, _, parts in found)
        # in one step: a thread may be about to call it
        self._lists = np.array(tasks, np.int64), np.array(found, np.int64).reshape(-1), most

    def __call__(self, *arrays):
        known = self._known
        for at, array in enumerate(arrays):
            if known[at]() is not array:
                self._find(at, array)
        self._do(*self._lists)

    def _find(self, at, array):
        flags = array.flags
        plain = flags.c_contiguous and flags.aligned
        if not plain or (array.size, array.dtype) != self._expected[at]:
            raise ValueError("the sizes of the arrays do not fit together")
        self._put(self._places[at], array)
        # Mostly these are variables' own arrays, which stay. They must not be held here: a variable
        # is written in place only if nobody else has its array.
        self._known[at] = weakref.ref(array)

    def _put(self, places, array):
        """Fill in where an array lies. This is done for each new batch, so it has to be brief."""
        if array.flags.writeable and array.size:
            address = ctypes.addressof(ctypes.c_char.from_buffer(array))  # a quarter of the time
        else:
            address = array.ctypes.data
        for place in places:
            self._numbers[place] = address


def _nothing():
    return None


_runs = weakref.WeakSet()


def _cut_anew():
    """For another number of threads."""
    for run in list(_runs):
        run.cut()


threads.when_set(_cut_anew)
