"""Memory that a kernel works in: each thread's own, kept for its next call, aligned."""

import sys
import threading

import numpy as np

_kept = threading.local()
_LINE = 16  # float32 numbers
_LARGEST = 1 << 23  # numbers; what is larger is given back after the call


def take(name, size):
    """A flat float32 array of `size` numbers, whatever they are.

    It is the caller's until neither it nor a view of it is held any more: a finalizer that computes
    meanwhile, or a signal's handler, gets other memory.
    """
    found = _kept.__dict__.get(name)
    if found is None or found.size < size or sys.getrefcount(found.base) != _UNUSED:
        found = _new(name, size)
    return found[:size]


def for_a_call(name, size):
    """As `take`, for what one call of machine code alone has to remember: nothing else of this
    thread runs before that is done, so nobody needs to ask."""
    found = _kept.__dict__.get(name)
    if found is None or found.size < size:
        found = _new(name, size)
    return found[:size]


def aligned(size):
    """A new flat float32 array that begins at a cache line."""
    whole = np.empty(size + _LINE, np.float32)
    start = -whole.ctypes.data // 4 % _LINE
    return whole[start : start + size]


def _new(name, size):
    found = aligned(size)
    if size <= _LARGEST:
        _kept.__dict__[name] = found
    return found


# A view holds the array that it is of at first hand, whatever views it was made by.
_probe = aligned(1)
_UNUSED = sys.getrefcount(_probe.base)
