"""keras.saving: saving models and weights to files, and registering classes for them."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
