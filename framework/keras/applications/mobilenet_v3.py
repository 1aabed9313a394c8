"""keras.applications.mobilenet_v3: preprocess_input and decode_predictions for MobileNetV3."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
