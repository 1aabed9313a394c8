"""keras.layers.experimental.preprocessing: preprocessing layers, as in early versions of Keras."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
