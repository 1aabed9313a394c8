"""Functions of tf.config, including TensorFlow's aliases."""

from types import SimpleNamespace
from typing import Any

from framework.functions.devices import (
    get_memory_growth,
    list_logical_devices,
    list_physical_devices,
    set_memory_growth,
    set_visible_devices,
)
from framework.kernels import threads
from framework.kernels.tier import set_tier

experimental = SimpleNamespace(
    get_memory_growth=get_memory_growth,
    get_visible_devices=list_physical_devices,
    list_logical_devices=list_logical_devices,
    list_physical_devices=list_physical_devices,
    set_memory_growth=set_memory_growth,
    set_visible_devices=set_visible_devices,
)
threading = SimpleNamespace(
    get_inter_op_parallelism_threads=lambda: 1,
    get_intra_op_parallelism_threads=threads.count,
    set_inter_op_parallelism_threads=lambda num_threads: None,
    set_intra_op_parallelism_threads=lambda num_threads: threads.set_count(num_threads or None),
)


def set_compile(tier: Any = None) -> None:
    """Choose how later calls are computed; this overrides the variable FRAMEWORK_COMPILE.

    Args:
        tier: "off": op by op in NumPy; "numpy": compiled plans, no Numba; "numba": plans and
            Numba's kernels; "auto": Numba's kernels where it is installed. None restores the
            value of the environment variable FRAMEWORK_COMPILE, by default "auto".

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
    set_tier(tier)
