"""keras.layers.experimental: the module of preprocessing layers in early versions of Keras."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
