"""keras.constraints: functions applied to weights after each update."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
