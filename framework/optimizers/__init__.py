"""Optimizers: each class has fields and one pure `update`; the base class does the rest."""

from framework.optimizers import schedules
from framework.optimizers.adaptive import (
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Nadam,
    RMSprop,
    ScheduleFreeAdamW,
)
from framework.optimizers.base import Optimizer, deserialize, get, optimizers, serialize
from framework.optimizers.ftrl import Ftrl
from framework.optimizers.groups import layerwise_decay
from framework.optimizers.layerwise import Adafactor, Lamb, Muon
from framework.optimizers.loss_scale import LossScaleOptimizer
from framework.optimizers.multi import MultiOptimizer, OptimizerMap
from framework.optimizers.sgd import SGD, Lion

__all__ = [
    "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Ftrl", "Lamb", "Lion",
    "LossScaleOptimizer", "MultiOptimizer", "Muon", "Nadam", "Optimizer", "OptimizerMap", "RMSprop",
    "ScheduleFreeAdamW", "deserialize", "get", "layerwise_decay", "optimizers", "schedules",
    "serialize",
]  # fmt: skip
