"""tf.errors: TensorFlow's names for the errors that this package raises."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)

INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE, DATA_LOSS = 3, 5, 11, 15
