"""Settings of the whole program: compilation, threads, devices, the algorithm of convolutions.

Example:
    >>> from framework import config
    >>> config.get_compile() in ("off", "numpy", "numba", "auto")
    True
"""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
