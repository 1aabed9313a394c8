"""Devices: the CPU is the only one. Calls about GPUs work and report that there are none."""

import contextlib
import functools
import logging
import re
from typing import Any, NamedTuple

from framework.core.errors import InvalidArgumentError, suggest
from framework.kernels import tier

_CPU, _GPU = "CPU", "GPU"
_KINDS = _CPU, _GPU, "TPU"
_WITHIN = re.compile(r"(?:/?(?:job:\w+|replica:\d+|task:\d+))*/?(?:device:)?(\w+?)(?::(\d+|\*))?$")


class PhysicalDevice(NamedTuple):
    """A device of this machine.

    Example:
        >>> from framework import config
        >>> config.list_physical_devices("CPU")[0].device_type
        'CPU'
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device under the name that programs pass to `tf.device`."""

    name: str
    device_type: str


def list_physical_devices(device_type: Any = None) -> Any:
    """Return the list of devices: one CPU. All its threads are one device, as in TensorFlow.

    Args:
        device_type: "CPU", "GPU" or "TPU": list only devices of this type.

    Example:
        >>> from framework import config
        >>> config.list_physical_devices("GPU")
        []
    """
    return [PhysicalDevice("/physical_device:CPU:0", _CPU)] if device_type in (None, _CPU) else []


def list_logical_devices(device_type: Any = None) -> Any:
    """Return the devices of `list_physical_devices`, with the names that `tf.device` takes."""
    return [LogicalDevice("/device:CPU:0", _CPU)] if device_type in (None, _CPU) else []


def set_visible_devices(devices: Any, device_type: Any = None) -> None:
    """Do nothing if the CPU stays visible; hiding GPUs is allowed, as there are none.

    Raises:
        ValueError: `devices` hides the CPU or names a device that does not exist.
    """
    devices = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    missing = [d for d in devices if d not in list_physical_devices()]
    if missing:
        raise InvalidArgumentError(
            f"set_visible_devices: `devices` contains {missing[0]!r}, which does not exist; use "
            f"{list_physical_devices()[0]!r}."
        )
    if device_type in (None, _CPU) and not devices:
        raise InvalidArgumentError(
            "set_visible_devices: the CPU cannot be hidden: it is the only device. To hide GPUs "
            "pass device_type='GPU'."
        )


def set_memory_growth(device, enable):
    """Do nothing: memory is always allocated on demand."""


def get_memory_growth(device):
    """Return True: memory is always allocated on demand."""
    return True


class LogicalDeviceConfiguration(NamedTuple):
    """The configuration of a logical device, which is a part of the CPU.

    Args:
        memory_limit: accepted without effect.
        experimental_priority, experimental_device_ordinal: accepted without effect.
    """

    memory_limit: Any = None
    experimental_priority: Any = None
    experimental_device_ordinal: Any = None


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Divide the CPU into logical devices in name only: `tf.device` accepts their names.

    All of them run on the same threads, and a distribution strategy still has one replica.

    Raises:
        InvalidArgumentError: there is no such device.
    """
    if device not in list_physical_devices():
        raise InvalidArgumentError(
            f"set_logical_device_configuration: `device`: expected {list_physical_devices()[0]!r}, "
            f"got {device!r}."
        )
    if len(logical_devices or ()) > 1:
        logging.getLogger("framework").warning(
            f"set_logical_device_configuration: all {len(logical_devices)} logical devices run on "
            "the same CPU threads."
        )


_placement = {"log": False, "soft": True}


def set_log_device_placement(enabled: Any) -> None:
    """Store the setting; nothing is logged, because all ops run on the CPU."""
    _placement["log"] = bool(enabled)


def get_log_device_placement() -> bool:
    """Return what `set_log_device_placement` set; False at first."""
    return _placement["log"]


def set_soft_device_placement(enabled: Any) -> None:
    """Store the setting; a missing device is always replaced by the CPU."""
    _placement["soft"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """Return what `set_soft_device_placement` set; True at first."""
    return _placement["soft"]


def device(device_name: Any) -> Any:
    """Return a context that places ops on a device; every name stands for the CPU.

    As in TensorFlow, a missing device is replaced by the CPU; the logger `framework` reports this
    once per device type.

    Args:
        device_name: such as "CPU:0", "/device:GPU:1", "/job:localhost/task:0/device:CPU:0", or
            None.

    Raises:
        ValueError: the name is not a device name.

    Example:
        >>> import framework as tf
        >>> with tf.device("/CPU:0"):
        ...     print(tf.constant(1.0).device)
        /device:CPU:0
    """
    if device_name is not None and device_name != "":
        kind = _kind(device_name)
        if kind != _CPU:
            _tell(kind)
    return contextlib.nullcontext()


def _kind(name):
    found = _WITHIN.match(name) if isinstance(name, str) else None
    kind = found and found[1].upper()
    if kind not in _KINDS:
        hint = suggest(str(kind), _KINDS) if found else ""
        raise InvalidArgumentError(
            f"device: `device_name` must be a name such as 'CPU:0', got {name!r}{hint or '.'}"
        )
    return kind


@functools.cache
def _tell(kind):
    logging.getLogger("framework").warning(
        f"This machine has no {kind} that the package can use: all ops run on the CPU."
    )


# ---- how functions run ---------------------------------------------------------------------------

_before = None  # the compilation mode that `run_functions_eagerly(False)` restores


def run_functions_eagerly(run_eagerly: Any) -> None:
    """Run every `tf.function`, and `fit`, in Python op by op, so that a debugger can step in.

    True calls `set_compile("off")`; False restores the previous mode.

    Args:
        run_eagerly: a bool.

    Example:
        >>> from framework import config
        >>> config.run_functions_eagerly(True)
        >>> config.get_compile(), config.functions_run_eagerly()
        ('off', True)
        >>> config.run_functions_eagerly(False)
    """
    global _before
    now = tier.tier()
    if run_eagerly and now != "off":
        _before = now
        tier.set_tier("off")
    elif not run_eagerly and now == "off":
        tier.set_tier(_before)
        _before = None


def functions_run_eagerly() -> bool:
    """Return whether every `tf.function` runs in Python, op by op."""
    return tier.tier() == "off"
