"""Groups of fields that recurrent cells and layers share, in the order of Keras's arguments."""

from framework.constraints import ConstraintField
from framework.core.configurable import Configurable
from framework.initializers import InitializerField
from framework.layers.recurrent.dropping import Fraction
from framework.layers.weights import ActivityRegularizer
from framework.regularizers import RegularizerField


class RecurrentInitializers(Configurable, kw_only=True, group=True):
    kernel_initializer: InitializerField = "glorot_uniform"
    recurrent_initializer: InitializerField = "orthogonal"
    bias_initializer: InitializerField = "zeros"


class RecurrentRegularizers(Configurable, kw_only=True, group=True):
    kernel_regularizer: RegularizerField = None
    recurrent_regularizer: RegularizerField = None
    bias_regularizer: RegularizerField = None


class RecurrentConstraints(Configurable, kw_only=True, group=True):
    kernel_constraint: ConstraintField = None
    recurrent_constraint: ConstraintField = None
    bias_constraint: ConstraintField = None


class ForgetBias(Configurable, kw_only=True, group=True):
    unit_forget_bias: bool = True


class Dropouts(Configurable, kw_only=True, group=True):
    dropout: Fraction = 0.0
    recurrent_dropout: Fraction = 0.0


class Seeded(Configurable, kw_only=True, group=True):
    seed: int | None = None


class Steps(Configurable, kw_only=True, group=True):
    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False


class Unrolled(Configurable, kw_only=True, group=True):
    unroll: bool = False


# ---- all groups of a class -----------------------------------------------------------------------


class CellFields(
    RecurrentInitializers, RecurrentRegularizers, RecurrentConstraints, Dropouts,
    kw_only=True, group=True,
):  # fmt: skip
    """The fields that SimpleRNNCell and GRUCell share."""


class LayerFields(
    RecurrentInitializers, RecurrentRegularizers, ActivityRegularizer, RecurrentConstraints,
    Dropouts, kw_only=True, group=True,
):  # fmt: skip
    """The fields that SimpleRNN and GRU share, except those of `Steps`."""


class LSTMCellFields(
    RecurrentInitializers, ForgetBias, RecurrentRegularizers, RecurrentConstraints, Dropouts,
    Seeded, kw_only=True, group=True,
):  # fmt: skip
    """The fields that LSTMCell and ConvLSTMCell share."""


class LSTMFields(
    RecurrentInitializers, ForgetBias, RecurrentRegularizers, ActivityRegularizer,
    RecurrentConstraints, Dropouts, Seeded, Steps, kw_only=True, group=True,
):  # fmt: skip
    """The fields that LSTM and ConvLSTM share."""
