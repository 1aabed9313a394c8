"""keras.applications.imagenet_utils: scaling of input images, and names of ImageNet's classes."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
