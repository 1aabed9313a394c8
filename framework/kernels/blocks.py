"""Large arrays in plain NumPy: block by block through the cache, and by all threads.

A ufunc lets go of the GIL while it computes. A thread that finds it taken after that sleeps, and
wakes up some 50 µs later: two threads with blocks of 32,768 floats, 3 µs a ufunc, are no faster
than one. So the blocks of what threads share are larger than those that suit one thread's cache,
and how large depends on the work alone: sums of blocks have the same bits on any number of threads.
"""

import functools

import numpy as np

from framework.kernels import threads

ALONE = 3 << 14  # elements at most; a few blocks of float32 fit a core's L2 cache
LEAST = 1 << 22  # elements times ufuncs, about 300 µs, from which on threads share them

_SHARED = 1 << 17
_MOST = _SHARED * 3 // 2
_LINE = 64
_free = {}  # dtypes: lists of scratch that nobody uses


def size(elements, ufuncs):
    """How many elements a block of so much work has, all blocks about the same."""
    if elements * ufuncs >= LEAST:
        count = 2 * max(1, round(elements / (2 * _SHARED)))  # so that two threads have the same
    else:
        count = max(1, -(-elements // ALONE))
    return -(-elements // (count * _LINE)) * _LINE


def run(function, elements, ufuncs):
    """`function(start, stop)` for each block of an array, by all threads if there is much to do.

    Args:
        ufuncs: about how many of them each element passes.
    """
    if elements * ufuncs < LEAST:
        if elements <= ALONE:
            function(0, elements)
            return
        block = size(elements, ufuncs)
        for start in range(0, elements, block):
            function(start, min(start + block, elements))
        return
    block = size(elements, ufuncs)
    threads.run(lambda i: function(i, min(i + block, elements)), range(0, elements, block))


class RowBlocks:
    """What is to be done to the rows of arrays, some at a time, by any thread.

    Args:
        rows: how many there are.
        step: how many of them at a time.
        work: `work(slice)` for some.
        fixed: whether the slices begin at multiples of `step`: sums of others have other bits.
        finish: called when all is done.
    """

    def __init__(self, rows, step, work, fixed=False, finish=None):
        self.rows, self.step, self.finish = rows, step, finish
        self._work, self._fixed = work, fixed

    @property
    def slices(self):
        """All rows, as they are done one after the other."""
        return [slice(i, min(i + self.step, self.rows)) for i in range(0, self.rows, self.step)]

    def may_begin(self, start):
        """Whether somebody may do the rows from there on, and somebody else those before."""
        return not self._fixed or start % self.step == 0

    def __call__(self, at):
        """Do the rows of a slice."""
        stop = min(at.stop, self.rows)
        for i in range(at.start, stop, self.step):
            self._work(slice(i, min(i + self.step, stop)))


def take(dtypes):
    """Scratch: arrays of a tuple of dtypes, as long as any block; `give` them back afterwards.

    They are nobody else's meanwhile, whatever thread asks, or finalizer within a block.
    """
    try:
        return _free[dtypes].pop()
    except (KeyError, IndexError):
        return [_aligned(_MOST * dtype.itemsize).view(dtype) for dtype in dtypes]


def give(dtypes, arrays):
    """Let others have scratch from `take`."""
    _free.setdefault(dtypes, []).append(arrays)


@functools.lru_cache(maxsize=32)
def _full(value, dtype):
    return np.full(_MOST, np.frombuffer(value, dtype)[0])


def full(number):
    """An array as long as any block, that holds a 0-d array's number everywhere."""
    return _full(number.tobytes(), number.dtype)


def _aligned(nbytes):
    """Bytes that begin with a line of the cache: vectors that straddle two are slower to load."""
    whole = np.empty(nbytes + _LINE, np.uint8)
    return whole[-whole.ctypes.data % _LINE :][:nbytes]
