"""keras.mixed_precision: 16-bit computations with float32 weights, and loss scaling."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
