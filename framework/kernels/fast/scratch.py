"""Scratch memory for kernels: per thread, aligned, and reused by the thread's next call."""

import sys
import threading

import numpy as np

_kept = threading.local()
_LINE = 16  # float32 elements per cache line
_LARGEST = 1 << 23  # Arrays of up to this many elements are kept for later calls.


def take(name, size):
    """Return a flat float32 array of `size` uninitialized elements.

    The caller owns it as long as it holds the array or a view: a finalizer or signal handler that
    runs a kernel meanwhile gets other memory.
    """
    array = _kept.__dict__.get(name)
    if array is None or array.size < size or sys.getrefcount(array.base) != _UNUSED:
        array = _new(name, size)
    return array[:size]


def for_a_call(name, size):
    """Return scratch memory like `take`, but do not check that it is unused.

    Use it for one call of machine code, during which nothing else runs on this thread.
    """
    array = _kept.__dict__.get(name)
    if array is None or array.size < size:
        array = _new(name, size)
    return array[:size]


def aligned(size):
    """Return a new flat float32 array that begins at a cache line."""
    whole = np.empty(size + _LINE, np.float32)
    start = -whole.ctypes.data // 4 % _LINE
    return whole[start : start + size]


def _new(name, size):
    array = aligned(size)
    if size <= _LARGEST:
        _kept.__dict__[name] = array
    return array


# Every view, even a view of a view, has the original array as its base, so that array's reference
# count shows whether views are in use.
_probe = aligned(1)
_UNUSED = sys.getrefcount(_probe.base)
