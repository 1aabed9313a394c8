"""Weights of layers: fields that describe them, and `weight`, which creates them."""

from framework.constraints import ConstraintField
from framework.core.configurable import Configurable
from framework.initializers import InitializerField
from framework.regularizers import RegularizerField


def weight(layer, name, shape, prefix=None, initializer=None, autocast=True):
    """Return a new weight of a layer, described by the layer's fields.

    Args:
        name: the name of the weight.
        shape: a tuple.
        prefix: the start of the fields' names, as in `{prefix}_initializer`; `name` if
            None.
        initializer: used instead of the field.
        autocast: whether the weight is cast to the compute dtype.
    """
    prefix = prefix or name
    return layer.add_weight(
        shape, initializer or getattr(layer, f"{prefix}_initializer"), name=name, autocast=autocast,
        regularizer=getattr(layer, f"{prefix}_regularizer"),
        constraint=getattr(layer, f"{prefix}_constraint"),
    )  # fmt: skip


class ActivityRegularizer(Configurable, kw_only=True, group=True):
    activity_regularizer: RegularizerField = None


# ---- kernel and bias -----------------------------------------------------------------------------


class KernelInitializers(Configurable, kw_only=True, group=True):
    kernel_initializer: InitializerField = "glorot_uniform"
    bias_initializer: InitializerField = "zeros"


class KernelRegularizers(Configurable, kw_only=True, group=True):
    kernel_regularizer: RegularizerField = None
    bias_regularizer: RegularizerField = None


class KernelConstraints(Configurable, kw_only=True, group=True):
    kernel_constraint: ConstraintField = None
    bias_constraint: ConstraintField = None


class KernelAndBias(
    KernelInitializers, KernelRegularizers, ActivityRegularizer, KernelConstraints,
    kw_only=True, group=True,
):  # fmt: skip
    """The fields of a layer with a kernel and a bias."""


# ---- scale and center of normalization -----------------------------------------------------------


class ScaleInitializers(Configurable, kw_only=True, group=True):
    beta_initializer: InitializerField = "zeros"
    gamma_initializer: InitializerField = "ones"


class ScalePenalties(Configurable, kw_only=True, group=True):
    beta_regularizer: RegularizerField = None
    gamma_regularizer: RegularizerField = None
    beta_constraint: ConstraintField = None
    gamma_constraint: ConstraintField = None
