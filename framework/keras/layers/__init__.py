"""keras.layers: the layer classes, and `Input`."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
