"""Functions of tf.config, including TensorFlow's aliases."""

import platform
import sys
from types import SimpleNamespace
from typing import Any

from framework.core.errors import InvalidArgumentError, suggest
from framework.functions.devices import (
    LogicalDeviceConfiguration,
    get_memory_growth,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_memory_growth,
    set_visible_devices,
)
from framework.kernels import threads
from framework.kernels.tier import set_tier

experimental = SimpleNamespace(
    VirtualDeviceConfiguration=LogicalDeviceConfiguration,
    get_memory_growth=get_memory_growth,
    get_visible_devices=list_physical_devices,
    list_logical_devices=list_logical_devices,
    list_physical_devices=list_physical_devices,
    set_memory_growth=set_memory_growth,
    set_virtual_device_configuration=set_logical_device_configuration,
    set_visible_devices=set_visible_devices,
)
threading = SimpleNamespace(
    get_inter_op_parallelism_threads=lambda: 1,
    get_intra_op_parallelism_threads=threads.count,
    set_inter_op_parallelism_threads=lambda num_threads: None,
    set_intra_op_parallelism_threads=lambda num_threads: threads.set_count(num_threads or None),
)

_options: dict[str, Any] = {}
_OPTION_NAMES = (
    "arithmetic_optimization", "auto_mixed_precision", "auto_mixed_precision_mkl",
    "auto_mixed_precision_onednn_bfloat16", "auto_parallel", "constant_folding", "debug_stripper",
    "dependency_optimization", "disable_meta_optimizer", "disable_model_pruning",
    "function_optimization", "implementation_selector", "layout_optimizer", "loop_optimization",
    "min_graph_nodes", "pin_to_host_optimization", "remapping", "scoped_allocator_optimization",
    "shape_optimization", "use_plugin_optimizers",
)  # fmt: skip


def _set_options(options: Any) -> None:
    for name in options:
        if name not in _OPTION_NAMES:
            raise InvalidArgumentError(
                f"config.optimizer: there is no option {name!r}{suggest(name, _OPTION_NAMES)}"
            )
    _options.update(options)


optimizer = SimpleNamespace(
    get_experimental_options=lambda: dict(_options),
    get_jit=lambda: "",
    set_experimental_options=_set_options,
    set_jit=lambda enabled: None,
)
"""Options of TensorFlow's graph optimizer: returned as they were set, without effect. The passes
of this compiler change no bits and are always on; `set_compile` chooses how functions run."""


class _PackageVersion:
    """tf.version: the version of this package, as `tf.__version__`."""

    COMPILER_VERSION = property(lambda self: platform.python_compiler())
    GIT_VERSION = VERSION = property(lambda self: sys.modules["framework"].__version__)


version = _PackageVersion()


def set_compile(tier: Any = None) -> None:
    """Choose how later calls are computed; overrides the environment variable FRAMEWORK_COMPILE.

    Args:
        tier: "off": op by op in NumPy; "numpy": compiled functions without Numba; "numba": compiled
            functions with Numba kernels; "auto": "numba" if Numba is installed, else "numpy". None
            restores the value of FRAMEWORK_COMPILE, by default "auto".

    Raises:
        InvalidArgumentError: there is no such tier.
        ImportError: the tier is "numba", and Numba is not installed.

    Example:
        >>> from framework import config
        >>> config.set_compile("numpy")
        >>> config.get_compile()
        'numpy'
        >>> config.set_compile()
    """
    set_tier(tier)
