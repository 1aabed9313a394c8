"""Names of TensorFlow's early versions that tutorials still use."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
