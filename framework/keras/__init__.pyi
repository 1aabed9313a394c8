from framework.autodiff.custom_gradients import recompute_grad
from framework.core.dtype_policy import DTypePolicy as DTypePolicy
from framework.core.stateless import StatelessScope as StatelessScope
from framework.core.symbolic import KerasTensor as KerasTensor
from framework.core.variable import KerasVariable, name_scope as name_scope
from framework.initializers import Initializer as Initializer
from framework.keras import (
    activations as activations, applications as applications, backend as backend,
    callbacks as callbacks, config as config, constraints as constraints, datasets as datasets,
    distillation as distillation, dtype_policies as dtype_policies,
    initializers as initializers, layers as layers, losses as losses, metrics as metrics,
    mixed_precision as mixed_precision, models as models, ops as ops, optimizers as optimizers,
    preprocessing as preprocessing, random as random, regularizers as regularizers,
    saving as saving, tree as tree, utils as utils, visualization as visualization,
    wrappers as wrappers,
)  # fmt: skip
from framework.layers.base import Layer as Layer
from framework.layers.core import Input as Input
from framework.layers.input_spec import InputSpec as InputSpec
from framework.layers.operation import Operation as Operation
from framework.layers.rematerialization import RematScope as RematScope
from framework.losses import Loss as Loss
from framework.metrics import Metric as Metric
from framework.models.feature_space import FeatureSpace as FeatureSpace
from framework.models.model import Model as Model
from framework.models.sequential import Sequential as Sequential
from framework.optimizers import Optimizer as Optimizer
from framework.regularizers import Regularizer as Regularizer

Variable = KerasVariable
FloatDTypePolicy = DTypePolicy
remat = recompute_grad

__version__: str

def version() -> str: ...
