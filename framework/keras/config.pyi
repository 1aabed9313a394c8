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
    is_traceback_filtering_enabled as is_traceback_filtering_enabled,
)  # fmt: skip
from framework.core.program_settings import (
    disable_flash_attention as disable_flash_attention,
    disable_interactive_logging as disable_interactive_logging,
    enable_flash_attention as enable_flash_attention,
    enable_interactive_logging as enable_interactive_logging,
    enable_unsafe_deserialization as enable_unsafe_deserialization,
    image_data_format as image_data_format,
    is_flash_attention_enabled as is_flash_attention_enabled,
    is_interactive_logging_enabled as is_interactive_logging_enabled,
    max_epochs as max_epochs,
    max_steps_per_epoch as max_steps_per_epoch,
    set_image_data_format as set_image_data_format,
    set_max_epochs as set_max_epochs,
    set_max_steps_per_epoch as set_max_steps_per_epoch,
)
