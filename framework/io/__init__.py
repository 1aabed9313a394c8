"""tf.io: read, write and decode files; parse `tf.train.Example` messages."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
