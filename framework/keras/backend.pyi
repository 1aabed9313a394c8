from framework.core.auto_names import get_uid as get_uid
from framework.core.dtypes import (
    epsilon as epsilon, floatx as floatx, result_type as result_type, set_epsilon as set_epsilon,
    set_floatx as set_floatx,
)  # fmt: skip
from framework.keras.functions.session import (
    backend as backend, clear_session as clear_session,
    is_float_dtype as is_float_dtype, is_int_dtype as is_int_dtype,
    is_keras_tensor as is_keras_tensor, standardize_dtype as standardize_dtype,
)  # fmt: skip
from framework.core.program_settings import (
    image_data_format as image_data_format, set_image_data_format as set_image_data_format,
)  # fmt: skip
