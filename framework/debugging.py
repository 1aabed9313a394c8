"""tf.debugging: assertions about values, shapes and dtypes, and tools to inspect a tape."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
