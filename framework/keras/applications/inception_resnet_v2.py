"""keras.applications.inception_resnet_v2: InceptionResNetV2, with input and output functions."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
