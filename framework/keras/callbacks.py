"""keras.callbacks: what fit calls at the ends of batches and epochs."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
