"""keras.applications.mobilenet_v2: MobileNetV2, preprocess_input, decode_predictions."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
