"""Functions of keras.backend and keras.config: settings and checks for the whole program."""

from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.auto_names import forget_names
from framework.core.dtypes import DType, as_dtype, floatx
from framework.core.symbolic import KerasTensor


def backend() -> str:
    """Return "framework", the name of the only backend."""
    return "framework"


def standardize_dtype(dtype: DTypeLike) -> DType:
    """Return the DType for a name, Python type or NumPy dtype; None means floatx.

    >>> standardize_dtype(float), standardize_dtype("int64")
    (tf.float32, tf.int64)
    """
    return floatx() if dtype is None else as_dtype(dtype)


def is_float_dtype(dtype: DTypeLike) -> bool:
    """Return whether `dtype` is a floating dtype."""
    return standardize_dtype(dtype).is_floating


def is_int_dtype(dtype: DTypeLike) -> bool:
    """Return whether `dtype` is an integer dtype."""
    return standardize_dtype(dtype).is_integer


def is_keras_tensor(x: TensorLike) -> bool:
    """Return whether `x` is a KerasTensor: a shape and a dtype without values."""
    return isinstance(x, KerasTensor)


def clear_session(free_memory: bool = True) -> None:
    """Reset the counters of automatic names for layers, losses and metrics."""
    forget_names()


def enable_traceback_filtering() -> None:
    """Do nothing: tracebacks always show all frames."""


def disable_traceback_filtering() -> None:
    """Do nothing: tracebacks always show all frames."""


def is_traceback_filtering_enabled() -> bool:
    """Return False: tracebacks always show all frames."""
    return False
