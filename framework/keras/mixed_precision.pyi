from framework.core.dtype_policy import (
    DTypePolicy as DTypePolicy, dtype_policy as dtype_policy, set_dtype_policy as set_dtype_policy,
)  # fmt: skip
from framework.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer

Policy = DTypePolicy
global_policy = dtype_policy
set_global_policy = set_dtype_policy
