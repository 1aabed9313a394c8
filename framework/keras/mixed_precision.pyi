from framework.core.policy import (
    DTypePolicy as DTypePolicy, DTypePolicy as Policy, dtype_policy as dtype_policy,
    dtype_policy as global_policy, set_dtype_policy as set_dtype_policy,
    set_dtype_policy as set_global_policy,
)  # fmt: skip
from framework.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
