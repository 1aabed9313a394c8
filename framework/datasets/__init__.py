"""Example data sets: `digits` is part of the package, `mnist` is read from a local file."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
