"""tf.saved_model: variables and traced functions in a folder, loaded without their Python code."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
