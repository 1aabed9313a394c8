"""keras.preprocessing.sequence: padding and windows of sequences."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
