"""tf.experimental: NumPy's functions on tensors, in `tf.experimental.numpy`."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
