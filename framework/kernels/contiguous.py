"""Converts arrays to the layout for which Numba kernels are compiled: contiguous and writable.

For any other array, such as a read-only one, Numba would compile the kernel again, which takes
seconds.
"""

import numpy as np

IN_ORDER = 0x1 | 0x100
"""Bits of an array's flags (`flags.num`): contiguous in C order, and aligned."""


def contiguous(a):
    """Return `a` if it is contiguous and writable, else a copy."""
    a = np.ascontiguousarray(a)
    return a if a.flags.writeable else a.copy()


def flattened(a):
    """Return `a` with one axis; a view if `a` is contiguous and writable."""
    return contiguous(a).reshape(-1)
