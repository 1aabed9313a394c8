"""Deferred: a Numba kernel for data pipelines, used once enough has been computed without it.

The import of Numba takes half a second, which does not pay off for a short iteration.
"""

import sys

from framework.kernels import tier


class Deferred:
    """A kernel module of `tier.library` that waits until NumPy has computed `work` elements.

    It does not wait where Numba has been imported for another reason.
    """

    def __init__(self, name, work):
        self._name, self._left = name, work

    def library(self, count):
        """Return the module for `count` more elements; None if NumPy is to compute them."""
        if self._left > 0 and "numba" not in sys.modules:
            self._left -= count
            return None
        return tier.library(self._name)
