"""Settings of the whole program: compilation, threads, the form of convolutions; devices.

Example:
    >>> from framework import config
    >>> config.get_compile() in ("off", "numpy", "numba", "auto")
    True
"""

from types import SimpleNamespace

from framework.compiler.audits import get_audit, set_audit
from framework.functions.devices import (
    LogicalDevice,
    PhysicalDevice,
    functions_run_eagerly,
    get_memory_growth,
    list_logical_devices,
    list_physical_devices,
    run_functions_eagerly,
    set_memory_growth,
    set_visible_devices,
)
from framework.functions.devices import list_physical_devices as get_visible_devices
from framework.kernels.conv import set_conv_algorithm
from framework.kernels.report import show_config as show
from framework.kernels.threads import count as get_threads
from framework.kernels.threads import set_count as set_threads
from framework.kernels.tier import set_tier as _set_tier
from framework.kernels.tier import tier as get_compile

__all__ = [
    "LogicalDevice", "PhysicalDevice", "experimental", "functions_run_eagerly", "get_audit",
    "get_compile", "get_threads", "get_visible_devices", "list_logical_devices",
    "list_physical_devices", "run_functions_eagerly", "set_audit", "set_compile",
    "set_conv_algorithm", "set_threads", "set_visible_devices", "show", "threading",
]  # fmt: skip

# TensorFlow's places for them
experimental = SimpleNamespace(
    get_memory_growth=get_memory_growth,
    get_visible_devices=get_visible_devices,
    list_logical_devices=list_logical_devices,
    list_physical_devices=list_physical_devices,
    set_memory_growth=set_memory_growth,
    set_visible_devices=set_visible_devices,
)
threading = SimpleNamespace(
    get_inter_op_parallelism_threads=lambda: 1,
    get_intra_op_parallelism_threads=get_threads,
    set_inter_op_parallelism_threads=lambda num_threads: None,
    set_intra_op_parallelism_threads=lambda num_threads: set_threads(num_threads or None),
)


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
