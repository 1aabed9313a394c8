"""keras.mixed_precision: 16-bit activations on float32 weights, and loss scaling."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.core.policy": """
        DTypePolicy Policy=DTypePolicy dtype_policy global_policy=dtype_policy set_dtype_policy
        set_global_policy=set_dtype_policy""",
    "framework.optimizers.loss_scale": "LossScaleOptimizer",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.core.policy import (
        DTypePolicy as DTypePolicy, DTypePolicy as Policy, dtype_policy as dtype_policy,
        dtype_policy as global_policy, set_dtype_policy as set_dtype_policy,
        set_dtype_policy as set_global_policy,
    )  # fmt: skip
    from framework.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
