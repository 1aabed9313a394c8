"""Deferred: a Numba kernel for data pipelines, used only after NumPy has computed enough elements.

The import of Numba takes half a second, which does not pay off for a short iteration.
"""

import sys

from framework.kernels import tier


class Deferred:
    """A kernel module of `tier.library` that waits until NumPy has computed `work` elements.

    It does not wait if Numba is already imported.
    """

    def __init__(self, name, work):
        self._name, self._left = name, work

    def library(self, count):
        """Return the module to compute `count` more elements; None if NumPy should compute them."""
        if self._left > 0 and "numba" not in sys.modules:
            self._left -= count
            return None
        return tier.library(self._name)
