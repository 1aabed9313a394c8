"""tf.io.gfile: functions on files and folders."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
