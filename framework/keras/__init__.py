"""Keras's names: `from framework import keras`."""

from typing import Any

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)

__version__ = "3.15.1"  # the Keras whose names and numbers these are


def version() -> Any:
    """The version of Keras whose names and numbers these are."""
    return __version__
