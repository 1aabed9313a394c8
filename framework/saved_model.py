"""tf.saved_model: variables and compiled functions in a folder, loaded without their code."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
