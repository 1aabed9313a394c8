"""keras.applications.vgg19: VGG19, and its functions for inputs and outputs."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
