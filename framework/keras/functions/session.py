"""Functions of keras.backend and keras.config that Keras applies to the whole program."""

from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.auto_names import forget_names
from framework.core.dtypes import DType, as_dtype, floatx
from framework.core.symbolic import KerasTensor


def backend() -> str:
    """ "framework": there is one."""
    return "framework"


def image_data_format() -> str:
    """ "channels_last": colours along the last axis."""
    return "channels_last"


def standardize_dtype(dtype: DTypeLike) -> DType:
    """The dtype for a name, Python type, NumPy dtype or None (floatx).

    >>> standardize_dtype(float), standardize_dtype("int64")
    (tf.float32, tf.int64)
    """
    return floatx() if dtype is None else as_dtype(dtype)


def is_float_dtype(dtype: DTypeLike) -> bool:
    """Whether it is a floating dtype."""
    return standardize_dtype(dtype).is_floating


def is_int_dtype(dtype: DTypeLike) -> bool:
    """Whether it is an integer dtype."""
    return standardize_dtype(dtype).is_integer


def is_keras_tensor(x: TensorLike) -> bool:
    """Whether `x` is a KerasTensor: a shape and a dtype without values."""
    return isinstance(x, KerasTensor)


def clear_session(free_memory: bool = True) -> None:
    """Number unnamed layers, losses and metrics from 1 again. Nothing else is kept globally."""
    forget_names()


def enable_traceback_filtering() -> None:
    """Does nothing: no frame of a traceback is ever hidden here."""


def disable_traceback_filtering() -> None:
    """Does nothing: no frame of a traceback is ever hidden here."""


def is_traceback_filtering_enabled() -> bool:
    """False: no frame of a traceback is ever hidden here."""
    return False
