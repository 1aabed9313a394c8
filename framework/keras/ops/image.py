"""keras.ops.image: functions for images: colors, sizes, transforms, filters, patches."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
