from framework.core.errors import (
    InvalidArgumentError as InvalidArgumentError, NotFoundError as NotFoundError,
    FrameworkError as OpError, SymbolicValueError as OperatorNotAllowedInGraphError,
    OutOfRangeError as OutOfRangeError,
)  # fmt: skip

INVALID_ARGUMENT: int
NOT_FOUND: int
OUT_OF_RANGE: int
