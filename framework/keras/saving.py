"""keras.saving: files of models and weights, and names for objects in them."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
