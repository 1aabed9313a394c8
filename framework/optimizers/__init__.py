"""Optimizers: each class has fields and one pure `update`; the base class does the rest."""

from framework.optimizers import adaptive, ftrl, layerwise, schedules, sgd
from framework.optimizers.adaptive import *
from framework.optimizers.base import Optimizer, deserialize, get, optimizers, serialize
from framework.optimizers.ftrl import *
from framework.optimizers.groups import layerwise_decay
from framework.optimizers.layerwise import *
from framework.optimizers.loss_scale import LossScaleOptimizer
from framework.optimizers.multi import MultiOptimizer, OptimizerMap
from framework.optimizers.sgd import *

__all__ = [
    "LossScaleOptimizer", "MultiOptimizer", "Optimizer", "OptimizerMap", "deserialize", "get",
    "layerwise_decay", "optimizers", "schedules", "serialize",
]  # fmt: skip
__all__ += adaptive.__all__
__all__ += ftrl.__all__
__all__ += layerwise.__all__
__all__ += sgd.__all__
