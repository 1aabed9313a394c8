"""Computes large arrays with NumPy block by block, in the cache, on all threads.

A ufunc releases the GIL while it computes. If another thread holds the GIL when the ufunc ends, the
ufunc's thread sleeps for some 50 µs. With blocks of 32,768 floats, which take 3 µs per ufunc, two
threads are therefore no faster than one. So blocks are larger if several threads share them. The
block size depends on the work alone, so that sums are bitwise equal on any number of threads.
"""

import functools

import numpy as np

from framework.kernels import threads

# If one thread computes all blocks, a block has at most this many elements, so that a few float32
# blocks fit in the L2 cache.
ALONE = 3 << 14
# Threads share the work if elements times ufuncs are at least this many (about 300 µs of work).
LEAST = 1 << 22

_SHARED = 1 << 17  # If threads share the work, a block has about this many elements.
_MOST = _SHARED * 3 // 2  # maximum number of elements of a block
_LINE = 64  # size of a cache line in bytes; block sizes are multiples of this number of elements
_free = {}  # {tuple of dtypes: lists of unused scratch arrays, one array per dtype}


def size(elements, ufuncs):
    """Return the number of elements of a block, for blocks of about equal size."""
    if elements * ufuncs >= LEAST:
        # Round to an even number of blocks, so that two threads get equal work.
        count = 2 * max(1, round(elements / (2 * _SHARED)))
    else:
        count = max(1, -(-elements // ALONE))
    return -(-elements // (count * _LINE)) * _LINE


def run(function, elements, ufuncs):
    """Call `function(start, stop)` for each block of an array, on all threads if it is large.

    Args:
        ufuncs: about how many ufuncs the function applies to each element.
    """
    if elements * ufuncs >= LEAST:
        _run_on_threads(function, elements, size(elements, ufuncs))
    elif elements <= ALONE:
        function(0, elements)
    else:
        block = size(elements, ufuncs)
        for start in range(0, elements, block):
            function(start, min(start + block, elements))


def _run_on_threads(function, elements, block):
    threads.run(lambda i: function(i, min(i + block, elements)), range(0, elements, block))


class RowBlocks:
    """A computation on the rows of arrays, done block by block; threads may share the blocks.

    Args:
        rows: the number of rows.
        step: the number of rows of a block.
        work: `work(slice)` computes a block.
        fixed: whether blocks must begin at multiples of `step`, so that sums are bitwise
            reproducible.
        finish: called after all blocks.
    """

    def __init__(self, rows, step, work, fixed=False, finish=None):
        self.rows, self.step, self.finish = rows, step, finish
        self._work, self._fixed = work, fixed

    @property
    def slices(self):
        """The slices of the blocks that cover all rows, in order."""
        return [slice(i, min(i + self.step, self.rows)) for i in range(0, self.rows, self.step)]

    def may_begin(self, start):
        """Return whether one thread may begin at row `start`, after the rows of another."""
        return not self._fixed or start % self.step == 0

    def __call__(self, at):
        """Compute a slice of the rows, block by block."""
        stop = min(at.stop, self.rows)
        for i in range(at.start, stop, self.step):
            self._work(slice(i, min(i + self.step, stop)))


def take(dtypes):
    """Return scratch arrays of these dtypes, long enough for any block; release them by `give`.

    Before `give`, no other caller gets the arrays: no other thread, and no finalizer on this
    thread.
    """
    try:
        return _free[dtypes].pop()
    except (KeyError, IndexError):
        return [_aligned(_MOST * dtype.itemsize).view(dtype) for dtype in dtypes]


def give(dtypes, arrays):
    """Make scratch arrays from `take` available to other callers again."""
    _free.setdefault(dtypes, []).append(arrays)


@functools.lru_cache(maxsize=32)
def _full(value, dtype):
    return np.full(_MOST, np.frombuffer(value, dtype)[0])


def full(number):
    """Return a cached array filled with `number`, a 0-d array; it is long enough for any block."""
    return _full(number.tobytes(), number.dtype)


def _aligned(nbytes):
    """Return bytes aligned to a cache line: vectors across two lines load slowly."""
    whole = np.empty(nbytes + _LINE, np.uint8)
    return whole[-whole.ctypes.data % _LINE :][:nbytes]
