"""Computes large arrays with NumPy block by block, in the cache, on all threads.

A ufunc releases the GIL while it computes. If another thread holds the GIL at its end, the ufunc's
thread sleeps for some 50 µs: two threads with blocks of 32,768 floats, 3 µs per ufunc, are no
faster than one. So blocks are larger if several threads share them. The block size depends on the
work alone, so that sums of blocks have the same bits on any number of threads.
"""

import functools

import numpy as np

from framework.kernels import threads

# If one thread computes all blocks, a block has at most this many elements, so that a few float32
# blocks fit in the L2 cache.
ALONE = 3 << 14
# Threads share the work if elements times ufuncs are at least this many, which takes about 300 µs.
LEAST = 1 << 22

_SHARED = 1 << 17  # If threads share the work, a block has about this many elements.
_MOST = _SHARED * 3 // 2  # A block never has more elements than this.
_LINE = 64  # bytes of a cache line; block sizes are multiples of this many elements
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
    """Work on the rows of arrays, block by block, on any threads.

    Args:
        rows: the number of rows.
        step: the number of rows of a block.
        work: `work(slice)` computes a block.
        fixed: whether blocks must begin at multiples of `step`, so that sums have the same bits.
        finish: called after all blocks.
    """

    def __init__(self, rows, step, work, fixed=False, finish=None):
        self.rows, self.step, self.finish = rows, step, finish
        self._work, self._fixed = work, fixed

    @property
    def slices(self):
        """The blocks that cover all rows, in order."""
        return [slice(i, min(i + self.step, self.rows)) for i in range(0, self.rows, self.step)]

    def may_begin(self, start):
        """Return whether different threads may compute the rows before and after `start`."""
        return not self._fixed or start % self.step == 0

    def __call__(self, at):
        """Compute a slice of the rows, block by block."""
        stop = min(at.stop, self.rows)
        for i in range(at.start, stop, self.step):
            self._work(slice(i, min(i + self.step, stop)))


def take(dtypes):
    """Return scratch arrays of these dtypes, long enough for every block, until `give` is called.

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
    """Return a cached array, long enough for every block, filled with the value of a 0-d array."""
    return _full(number.tobytes(), number.dtype)


def _aligned(nbytes):
    """Return bytes aligned to a cache line: vectors across two lines load slowly."""
    whole = np.empty(nbytes + _LINE, np.uint8)
    return whole[-whole.ctypes.data % _LINE :][:nbytes]
