"""keras.models: Model, Sequential and what makes models of models."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
