"""Ownership of arrays: whether an array has no other references and can be overwritten."""

import sys

_CPYTHON = sys.implementation.name == "cpython" and hasattr(sys, "getrefcount")
# Where references cannot be counted, every array counts as shared.
_references = sys.getrefcount if _CPYTHON else lambda array: sys.maxsize


def exclusive(array, holders=1, contiguous=False):
    """Return whether `array` has no references except the `holders` that the caller knows of.

    With `contiguous`, the array must also be in C order.

    The caller counts the names, attributes and list items *of its own* that refer to the array;
    the argument of this call is not counted. Views hold their base, so an array that is viewed
    anywhere, or is a view itself, is not exclusive. The result is False if the interpreter cannot
    count references.

    Ask only about an array fetched from an attribute or a list, not about one that came as an
    argument: since Python 3.14 arguments, and names assigned from them, are borrowed references,
    which Python does not count. A caller that counted them among `holders` would overlook a real
    one.

    >>> import numpy as np
    >>> def alone(box):
    ...     array = box[0]
    ...     return exclusive(array, holders=2)  # the box and the name
    >>> box = [np.zeros(3)]
    >>> alone(box)
    True
    >>> view = box[0][1:]
    >>> alone(box)
    False
    """
    return (
        array.base is None
        and (flags := array.flags).writeable
        and flags.owndata
        and (flags.c_contiguous or not contiguous)
        and _references(array) <= holders + _OWN
    )


def _own_references():
    """Return how many references `sys.getrefcount` counts in addition to the caller's."""
    import numpy as np

    # `flags` refers to the array, as the same name in `exclusive` does, so it is counted, too.
    def count(array, holders=1):
        flags = array.flags
        return flags.owndata and sys.getrefcount(array) - holders

    probe = np.zeros(1)
    return count(probe)


_OWN = _own_references() if _CPYTHON else 0


def _keep_freed_memory():
    """Make the C library reuse freed memory for the next arrays.

    glibc maps new pages for each array above 128 kB and unmaps them when the array is freed. The
    page faults take as long as the computation. After an array of nearly 32 MB was freed once,
    glibc keeps the pages of smaller arrays. This function frees such an array; its pages are never
    touched, so it costs no memory. Other C libraries are not affected.
    """
    import numpy as np

    np.empty((1 << 25) - (1 << 16), np.uint8)


_keep_freed_memory()


def return_freed_memory():
    """Give the pages of freed arrays back to the operating system, if the C library is glibc.

    When a program that allocated many arrays goes over to one large block, it no longer uses the
    pages that glibc keeps for new arrays, but they still count as memory of the process.
    """
    import ctypes

    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc, or `CDLL(None)` is not supported
        return
    trim(0)
