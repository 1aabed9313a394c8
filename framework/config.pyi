from framework.compiler.audits import get_audit as get_audit, set_audit as set_audit
from framework.functions.devices import (
    LogicalDevice as LogicalDevice, LogicalDeviceConfiguration as LogicalDeviceConfiguration,
    PhysicalDevice as PhysicalDevice,
    functions_run_eagerly as functions_run_eagerly,
    get_soft_device_placement as get_soft_device_placement,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices, run_functions_eagerly as run_functions_eagerly,
    set_logical_device_configuration as set_logical_device_configuration,
    set_soft_device_placement as set_soft_device_placement,
    set_visible_devices as set_visible_devices,
)  # fmt: skip
from framework.functions.settings import (
    experimental as experimental, optimizer as optimizer, set_compile as set_compile,
    threading as threading,
)  # fmt: skip
from framework.kernels.conv import set_conv_algorithm as set_conv_algorithm
from framework.kernels.report import show_config
from framework.kernels.threads import count, set_count
from framework.kernels.tier import tier

get_compile = tier
get_threads = count
get_visible_devices = list_physical_devices
set_threads = set_count
show = show_config
