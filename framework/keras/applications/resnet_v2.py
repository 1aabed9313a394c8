"""keras.applications.resnet_v2: the ResNetV2 networks, with input and output functions."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
