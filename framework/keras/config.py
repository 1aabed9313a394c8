"""keras.config: the settings of the whole program."""

from framework.core.dtypes import (
    epsilon as epsilon, floatx as floatx, set_epsilon as set_epsilon, set_floatx as set_floatx,
)  # fmt: skip
from framework.core.policy import dtype_policy as dtype_policy, set_dtype_policy as set_dtype_policy
from framework.keras.backend import backend as backend, image_data_format as image_data_format


def enable_traceback_filtering():
    """Does nothing: no frame of a traceback is ever hidden here."""


def disable_traceback_filtering():
    """Does nothing: no frame of a traceback is ever hidden here."""


def is_traceback_filtering_enabled():
    """False: no frame of a traceback is ever hidden here."""
    return False
