"""Devices: there is one, the CPU. What scripts ask about others gets true answers, not errors."""

import contextlib
import functools
import logging
import re
from typing import NamedTuple

from framework.core.errors import InvalidArgumentError, suggest
from framework.kernels import tier

_CPU, _GPU = "CPU", "GPU"
_KINDS = _CPU, _GPU, "TPU"
_WITHIN = re.compile(r"(?:/?(?:job:\w+|replica:\d+|task:\d+))*/?(?:device:)?(\w+?)(?::(\d+|\*))?$")


class PhysicalDevice(NamedTuple):
    """A device that is there.

    Example:
        >>> from framework import config
        >>> config.list_physical_devices("CPU")[0].device_type
        'CPU'
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as programs see it."""

    name: str
    device_type: str


def list_physical_devices(device_type=None):
    """The devices that are there: one CPU. Its threads are one device, as in TensorFlow.

    Args:
        device_type: "CPU", "GPU" or "TPU": those of that kind only.

    Example:
        >>> from framework import config
        >>> config.list_physical_devices("GPU")
        []
    """
    return [PhysicalDevice("/physical_device:CPU:0", _CPU)] if device_type in (None, _CPU) else []


def list_logical_devices(device_type=None):
    """As `list_physical_devices`, with the names by which `device` knows them."""
    return [LogicalDevice("/device:CPU:0", _CPU)] if device_type in (None, _CPU) else []


def set_visible_devices(devices, device_type=None):
    """Accepted where the CPU stays visible, or GPUs, which are not there, do not.

    Raises:
        ValueError: the CPU is to be hidden, or a device is not there.
    """
    devices = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    missing = [d for d in devices if d not in list_physical_devices()]
    if missing:
        raise InvalidArgumentError(
            f"set_visible_devices: `devices` has {missing[0]!r}, which is not there; there is "
            f"{list_physical_devices()[0]!r}."
        )
    if device_type in (None, _CPU) and not devices:
        raise InvalidArgumentError(
            "set_visible_devices: the CPU cannot be hidden: everything is computed on it. To hide "
            "GPUs give device_type='GPU'."
        )


def set_memory_growth(device, enable):
    """Accepted: memory is always taken as it is needed."""


def get_memory_growth(device):
    """True: memory is always taken as it is needed."""
    return True


def device(device_name):
    """A context in which ops are placed on a device: on the CPU, whatever it is called.

    As in TensorFlow, where a device that is not there gives way to the CPU; a line on the log
    `framework` says so, once.

    Args:
        device_name: such as "CPU:0", "/device:GPU:1", "/job:localhost/task:0/device:CPU:0"; None
            leaves the choice.

    Raises:
        ValueError: it is no such name.

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
        f"There is no {kind} here: what is placed on one is computed on the CPU."
    )


# ---- how functions run ---------------------------------------------------------------------------

_before = None  # the tier that `run_functions_eagerly` put aside


def run_functions_eagerly(run_eagerly):
    """Let every `tf.function`, and `fit`, run in Python, op by op, so that a debugger can step in.

    This is `set_compile("off")`, and back to what it was before.

    Args:
        run_eagerly: whether they should.

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


def functions_run_eagerly():
    """Whether every `tf.function` runs in Python, op by op."""
    return tier.tier() == "off"
