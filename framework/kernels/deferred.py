"""Deferred: a Numba kernel for data pipelines, used only after NumPy has computed enough elements.

Importing Numba takes half a second, too long for a short iteration over a dataset.
"""

import sys

from framework.kernels import tier


class Deferred:
    """A kernel module (see `tier.library`), not used until NumPy has computed `work` elements.

    If Numba is already imported, the module is used at once.
    """

    def __init__(self, name, work):
        self._name, self._left = name, work

    def library(self, count):
        """Return the module for the next `count` elements; None if NumPy should compute them."""
        if self._left > 0 and "numba" not in sys.modules:
            self._left -= count
            return None
        return tier.library(self._name)
