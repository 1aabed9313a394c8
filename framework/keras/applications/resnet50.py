"""keras.applications.resnet50: ResNet50, preprocess_input, decode_predictions."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
