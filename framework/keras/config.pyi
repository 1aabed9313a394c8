from framework.core.dtypes import (
    epsilon as epsilon, floatx as floatx, set_epsilon as set_epsilon, set_floatx as set_floatx,
)  # fmt: skip
from framework.core.dtype_policy import (
    dtype_policy as dtype_policy,
    set_dtype_policy as set_dtype_policy,
)
from framework.keras.functions.session import (
    backend as backend, disable_traceback_filtering as disable_traceback_filtering,
    enable_traceback_filtering as enable_traceback_filtering,
    image_data_format as image_data_format,
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)  # fmt: skip
