"""keras.models: Model, Sequential, and functions that create models from other models."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
