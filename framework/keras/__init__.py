"""Keras's names: `from framework import keras`."""

from typing import Any

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)

__version__ = "3.15.1"  # the version of Keras whose names this namespace has


def version() -> Any:
    """Return the version of Keras whose names this namespace has."""
    return __version__
