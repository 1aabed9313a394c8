from framework.core.errors import (
    FrameworkError, InvalidArgumentError as InvalidArgumentError, NotFoundError as NotFoundError,
    OutOfRangeError as OutOfRangeError, SymbolicValueError,
)  # fmt: skip

OpError = FrameworkError
OperatorNotAllowedInGraphError = SymbolicValueError

INVALID_ARGUMENT: int
NOT_FOUND: int
OUT_OF_RANGE: int
