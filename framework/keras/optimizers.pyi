from framework.optimizers import (
    get as get, layerwise_decay as layerwise_decay, schedules as schedules,
)  # fmt: skip
from framework.optimizers.adaptive import *
from framework.optimizers.base import (
    Optimizer as Optimizer, deserialize as deserialize, serialize as serialize,
)  # fmt: skip
from framework.optimizers.ftrl import *
from framework.optimizers.layerwise import *
from framework.optimizers.loss_scale import LossScaleOptimizer as LossScaleOptimizer
from framework.optimizers.multi import (
    MultiOptimizer as MultiOptimizer, OptimizerMap as OptimizerMap,
)  # fmt: skip
from framework.optimizers.sgd import *
