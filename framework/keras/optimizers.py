"""keras.optimizers: the optimizer classes, and functions that look them up."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
