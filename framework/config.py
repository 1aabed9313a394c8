"""Settings of the whole program: compilation, threads, the form of convolutions.

Example:
    >>> from framework import config
    >>> config.get_compile() in ("off", "numpy", "numba", "auto")
    True
"""

from framework.kernels.conv import set_conv_algorithm
from framework.kernels.report import show_config as show
from framework.kernels.threads import count as get_threads
from framework.kernels.threads import set_count as set_threads
from framework.kernels.tier import set_tier as _set_tier
from framework.kernels.tier import tier as get_compile

__all__ = ["get_compile", "get_threads", "set_compile", "set_conv_algorithm", "set_threads", "show"]


def set_compile(tier=None):
    """Choose how what follows is computed, in place of the environment's FRAMEWORK_COMPILE.

    Args:
        tier: "off": op by op in NumPy; "numpy": compiled plans, no Numba; "numba": plans and
            Numba's kernels; "auto": Numba's kernels where it is installed. None goes back to the
            environment's, which is "auto" where it says nothing.

    Raises:
        InvalidArgumentError: there is no such tier.
        ImportError: "numba" without Numba.

    Example:
        >>> from framework import config
        >>> config.set_compile("numpy")
        >>> config.get_compile()
        'numpy'
        >>> config.set_compile()
    """
    _set_tier(tier)
