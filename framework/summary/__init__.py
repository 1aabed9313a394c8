"""tf.summary: write data to files that TensorBoard reads."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
