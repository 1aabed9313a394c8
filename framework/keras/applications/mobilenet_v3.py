"""keras.applications.mobilenet_v3: functions for inputs and outputs of the MobileNetV3 networks."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
