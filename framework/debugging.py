"""tf.debugging: assertions about values, shapes and dtypes, and how to see what a tape does."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
