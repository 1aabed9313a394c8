"""tf.sets: set operations on tensors, in which each row of the last axis is a set."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
