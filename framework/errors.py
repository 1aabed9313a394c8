"""tf.errors: TensorFlow's names for the errors that this package raises."""

from framework.core.errors import (
    FrameworkError as OpError, InvalidArgumentError as InvalidArgumentError,
    NotFoundError as NotFoundError, OutOfRangeError as OutOfRangeError,
    SymbolicValueError as OperatorNotAllowedInGraphError,
)  # fmt: skip

INVALID_ARGUMENT, NOT_FOUND, OUT_OF_RANGE = 3, 5, 11
