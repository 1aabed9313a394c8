"""Memory that a kernel works in: each thread's own, kept for its next call, aligned."""

import threading

import numpy as np

_kept = threading.local()
_LINE = 16  # float32 numbers
_LARGEST = 1 << 23  # numbers; what is larger is given back after the call


def take(name, size):
    """A flat float32 array of `size` numbers, whatever they are; good until the name's next use."""
    found = _kept.__dict__.get(name)
    if found is None or found.size < size:
        found = aligned(size)
        if size <= _LARGEST:
            _kept.__dict__[name] = found
    return found[:size]


def aligned(size):
    """A new flat float32 array that begins at a cache line."""
    whole = np.empty(size + _LINE, np.float32)
    start = -whole.ctypes.data // 4 % _LINE
    return whole[start : start + size]
