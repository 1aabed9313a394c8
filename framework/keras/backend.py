"""keras.backend: what computes, in which default dtypes."""

from framework.core.dtypes import (
    as_dtype as _as_dtype, epsilon as epsilon, floatx as floatx, result_type as result_type,
    set_epsilon as set_epsilon, set_floatx as set_floatx,
)  # fmt: skip
from framework.core.naming import forget_names as _forget_names
from framework.core.symbolic import KerasTensor as _KerasTensor


def backend():
    """ "framework": there is one."""
    return "framework"


def image_data_format():
    """ "channels_last": colours along the last axis."""
    return "channels_last"


def standardize_dtype(dtype):
    """The dtype for a name, Python type, NumPy dtype or None (floatx).

    >>> standardize_dtype(float), standardize_dtype("int64")
    (tf.float32, tf.int64)
    """
    return floatx() if dtype is None else _as_dtype(dtype)


def is_float_dtype(dtype):
    """Whether it is a floating dtype."""
    return standardize_dtype(dtype).is_floating


def is_int_dtype(dtype):
    """Whether it is an integer dtype."""
    return standardize_dtype(dtype).is_integer


def is_keras_tensor(x):
    """Whether `x` is a KerasTensor: a shape and a dtype without values."""
    return isinstance(x, _KerasTensor)


def clear_session(free_memory=True):
    """Number unnamed layers, losses and metrics from 1 again. Nothing else is kept globally."""
    _forget_names()
