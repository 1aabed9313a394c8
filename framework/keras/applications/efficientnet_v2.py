"""keras.applications.efficientnet_v2: EfficientNetV2, with input and output functions."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
