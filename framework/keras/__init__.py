"""Keras's names: `from framework import keras`."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

__version__ = "3.15.1"  # the Keras whose names and numbers these are

_NAMES = _table({
    "framework.autodiff.custom": "remat=recompute_grad",
    "framework.core.policy": "DTypePolicy",
    "framework.core.symbolic": "KerasTensor",
    "framework.core.variable": "Variable=KerasVariable name_scope",
    "framework.initializers": "Initializer",
    "framework.keras.": """
        activations backend callbacks config constraints datasets dtype_policies initializers layers
        losses metrics mixed_precision models ops optimizers random regularizers utils""",
    "framework.layers.base": "Layer",
    "framework.layers.core": "Input",
    "framework.layers.spec": "InputSpec",
    "framework.losses": "Loss",
    "framework.metrics": "Metric",
    "framework.models.model": "Model",
    "framework.models.sequential": "Sequential",
    "framework.optimizers": "Optimizer",
    "framework.regularizers": "Regularizer",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.autodiff.custom import recompute_grad as remat
    from framework.core.policy import DTypePolicy as DTypePolicy
    from framework.core.symbolic import KerasTensor as KerasTensor
    from framework.core.variable import KerasVariable as Variable, name_scope as name_scope
    from framework.initializers import Initializer as Initializer
    from framework.keras import (
        activations as activations, backend as backend, callbacks as callbacks, config as config,
        constraints as constraints, datasets as datasets, dtype_policies as dtype_policies,
        initializers as initializers, layers as layers, losses as losses, metrics as metrics,
        mixed_precision as mixed_precision, models as models, ops as ops, optimizers as optimizers,
        random as random, regularizers as regularizers, utils as utils,
    )  # fmt: skip
    from framework.layers.base import Layer as Layer
    from framework.layers.core import Input as Input
    from framework.layers.spec import InputSpec as InputSpec
    from framework.losses import Loss as Loss
    from framework.metrics import Metric as Metric
    from framework.models.model import Model as Model
    from framework.models.sequential import Sequential as Sequential
    from framework.optimizers import Optimizer as Optimizer
    from framework.regularizers import Regularizer as Regularizer


def version():
    """The version of Keras whose names and numbers these are."""
    return __version__
