"""Example data sets: bundled with the package, read from local files, or downloaded."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
