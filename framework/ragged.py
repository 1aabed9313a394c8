"""tf.ragged: rows of different lengths."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
