"""Example data sets: `digits` is part of the package, the others are read from local files."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
