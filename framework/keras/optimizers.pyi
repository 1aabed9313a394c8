from framework.optimizers import (
    get as get, layerwise_decay as layerwise_decay, schedules as schedules,
)  # fmt: skip
from framework.optimizers.adaptive import (
    Adadelta as Adadelta, Adagrad as Adagrad, Adam as Adam, AdamW as AdamW, Adamax as Adamax,
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
from framework.optimizers.sgd import Lion as Lion, SGD as SGD
