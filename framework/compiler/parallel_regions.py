"""Parallel regions: consecutive products, loops and kernels that the thread team runs in one call.

A task has work items, mostly rows, which are divided into chunks. Barriers separate phases of one
or more tasks (see `kernels/fast/team.py`). Within a phase, a thread runs a chunk through all tasks
without waiting, so a task that reads items written by other chunks starts a new phase.
"""

import ctypes
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from framework.kernels import threads

_WHOLE = None


class MemoryAccess(NamedTuple):
    """Memory that a task reads or writes.

    key: identifies the memory; equal for accesses to the same memory.
    unit: the bytes of a work item if a chunk accesses only its own items, else None.
    columns: whether work items are columns of a matrix.
    """

    key: object
    unit: int | None
    written: bool
    columns: bool = False


class RegionTask(NamedTuple):
    """A task of a parallel region.

    task: an object with `address()`, which compiles the machine code if necessary.
    arrays: the names of its arrays. expected: (size, dtype) of each.
    ahead: a function that returns the integer arguments before the addresses of the arrays.
    numbers: the integer arguments after the addresses.
    extent: the number of work items. unit: chunks are multiples of this many items.
    accesses: a MemoryAccess for each array. work: the estimated seconds on one thread.
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
        """Return the number of work items in a chunk, given the number of chunks."""
        return -(-self.extent // (parts * self.unit)) * self.unit


def _conflict(a, b):
    """Return whether task `b` must wait for all chunks of the earlier task `a`."""
    cut, other = (a.extent, a.unit), (b.extent, b.unit)
    return any(
        x.key == y.key
        and (x.written or y.written)
        and (x.unit is _WHOLE or (x.unit, x.columns) != (y.unit, y.columns) or cut != other)
        for x in a.accesses
        for y in b.accesses
    )


def phases(tasks):
    """Return (first task, end, number of chunks) of each phase."""
    starts = [0]
    for at, task in enumerate(tasks):
        if any(_conflict(before, task) for before in tasks[starts[-1] : at]):
            starts.append(at)
    found = zip(starts, [*starts[1:], len(tasks)], strict=True)
    return [(first, last, _chunk_count(tasks[first:last])) for first, last in found]


def _chunk_count(tasks):
    number = threads.parts(sum(task.work for task in tasks))
    return max(1, min(number, max(-(-task.extent // task.unit) for task in tasks)))


class ParallelRegion:
    """Tasks that the thread team runs in one call.

    Args:
        tasks: a list of RegionTask.
        fixed: the names of the arrays allocated before a call, such as those of the arena.

    `fixed` and `given` list the names of the arrays allocated before, and passed to, a call.
    """

    def __init__(self, tasks, fixed):
        self.tasks, self.phases = tasks, phases(tasks)
        names = list(dict.fromkeys(name for task in tasks for name in task.arrays))
        self.fixed = [name for name in names if name in fixed]
        self.given = [name for name in names if name not in fixed]
        self.expected = {
            name: expected
            for task in tasks
            for name, expected in zip(task.arrays, task.expected, strict=True)
        }

    def compiled(self, do):
        """Compile the tasks; return `bind(fixed arrays...)`, which returns `run(given arrays...)`.

        Args:
            do: `team.do`.
        """
        addresses = [task.task.address() for task in self.tasks]
        return lambda *arrays: _RegionCall(self, addresses, arrays, do)

    def lists(self, addresses):
        """Return the integer arguments of all tasks, and which of them are addresses of arrays.

        Returns:
            The arguments; {name of an array: the indices of its address}; for each task (address of
            its machine code, index of its first argument).
        """
        numbers, places, tasks = [], {}, []
        for task, address in zip(self.tasks, addresses, strict=True):
            tasks.append((address, len(numbers)))
            numbers += task.ahead()
            for name in task.arrays:
                places.setdefault(name, []).append(len(numbers))
                numbers.append(0)
            numbers += task.numbers
        return numbers, places, tasks


class _RegionCall:
    """A parallel region bound to its fixed arrays; one thread calls it at a time."""

    def __init__(self, region, addresses, arrays, do):
        numbers, places, tasks = region.lists(addresses)
        self._numbers = np.array(numbers, np.int64)
        start = self._numbers.ctypes.data
        self._tasks = [(address, start + 8 * at) for address, at in tasks]
        self._region, self._do, self._fixed = region, do, arrays
        self.cut()
        for name, array in zip(region.fixed, arrays, strict=True):
            self._put(places[name], array)
        self._places = [places[name] for name in region.given]
        self._expected = [region.expected[name] for name in region.given]
        # weak references to the arrays of the last call, whose addresses `_numbers` holds
        self._known = [_nothing] * len(region.given)
        _calls.add(self)

    def cut(self):
        """Cut the tasks into chunks for the current number of threads."""
        found, numbers, tasks = [], [], self._region.tasks
        for first, last, _ in self._region.phases:
            parts = _chunk_count(tasks[first:last])
            found.append((first, last, parts))
            for task, code in zip(tasks[first:last], self._tasks[first:last], strict=True):
                numbers += *code, task.extent, task.cut(parts)
        most = max(parts for _, _, parts in found)
        # A single assignment, because another thread may call the region at the same time.
        self._lists = np.array(numbers, np.int64), np.array(found, np.int64).reshape(-1), most

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
            raise ValueError("parallel region: an array has a wrong size, dtype or layout.")
        self._put(self._places[at], array)
        # Most arrays belong to variables and are rarely replaced. A strong reference would prevent
        # in-place updates.
        self._known[at] = weakref.ref(array)

    def _put(self, places, array):
        """Write the address of an array into the task arguments; this runs for each new batch."""
        if array.flags.writeable and array.size:
            # This takes a quarter of the time of `array.ctypes.data`.
            address = ctypes.addressof(ctypes.c_char.from_buffer(array))
        else:
            address = array.ctypes.data
        for place in places:
            self._numbers[place] = address


def _nothing():
    return None


_calls = weakref.WeakSet()


def _cut_all():
    """Divide all regions into chunks again, after the number of threads has changed."""
    for call in list(_calls):
        call.cut()


threads.when_set(_cut_all)
