"""Arrays as Numba's kernels take them: contiguous and writable.

For an array of another kind, such as one that only may be read, Numba would compile every kernel
once more, which takes seconds.
"""

import numpy as np

IN_ORDER = 0x1 | 0x100
"""Bits of an array's flags (`flags.num`): contiguous in C order, and aligned."""


def contiguous(a):
    """`a` itself where it is so, else a copy."""
    a = np.ascontiguousarray(a)
    return a if a.flags.writeable else a.copy()


def flattened(a):
    """All elements of `a` in order, as one axis; a view where `a` is so."""
    return contiguous(a).reshape(-1)
