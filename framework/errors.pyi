from framework.core.errors import (
    DataLossError as DataLossError, FrameworkError, InvalidArgumentError as InvalidArgumentError,
    NotFoundError as NotFoundError, OutOfRangeError as OutOfRangeError, SymbolicValueError,
)  # fmt: skip

OpError = FrameworkError
OperatorNotAllowedInGraphError = SymbolicValueError

DATA_LOSS: int
INVALID_ARGUMENT: int
NOT_FOUND: int
OUT_OF_RANGE: int
