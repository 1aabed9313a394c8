"""keras.utils: seeds, one-hot labels, batches, serialization and other helpers."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
