"""tf.image: functions that resize, crop, recolor, compare, augment, read and write images."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
