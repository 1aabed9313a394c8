"""keras.optimizers: optimizers."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.optimizers": "get layerwise_decay schedules",
    "framework.optimizers.adaptive":
        "Adadelta Adagrad Adam AdamW Adamax Nadam RMSprop ScheduleFreeAdamW",
    "framework.optimizers.base": "Optimizer deserialize serialize",
    "framework.optimizers.ftrl": "Ftrl",
    "framework.optimizers.layerwise": "Adafactor Lamb Muon",
    "framework.optimizers.loss_scale": "LossScaleOptimizer",
    "framework.optimizers.multi": "MultiOptimizer OptimizerMap",
    "framework.optimizers.sgd": "Lion SGD",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.optimizers import (
        get as get, layerwise_decay as layerwise_decay, schedules as schedules,
    )  # fmt: skip
    from framework.optimizers.adaptive import (
        Adadelta as Adadelta, Adagrad as Adagrad, Adam as Adam, Adamax as Adamax, AdamW as AdamW,
        Nadam as Nadam, RMSprop as RMSprop, ScheduleFreeAdamW as ScheduleFreeAdamW,
    )  # fmt: skip
    from framework.optimizers.base import (
        Optimizer as Optimizer, deserialize as deserialize, serialize as serialize,
    )  # fmt: skip
    from framework.optimizers.ftrl import Ftrl as Ftrl
    from framework.optimizers.layerwise import Adafactor as Adafactor, Lamb as Lamb, Muon as Muon
    from framework.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
    from framework.optimizers.multi import (
        MultiOptimizer as MultiOptimizer, OptimizerMap as OptimizerMap,
    )  # fmt: skip
    from framework.optimizers.sgd import SGD as SGD, Lion as Lion
