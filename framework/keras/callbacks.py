"""keras.callbacks: objects that `fit` calls at the start and end of batches and epochs."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
