"""SimpleRNN, GRU and LSTM: RNN layers that create the built-in cell from their arguments."""

from typing import Any, Literal

from framework.activations import Activation
from framework.layers.core import PositiveInt
from framework.layers.input_spec import InputSpec
from framework.layers.recurrent.cells import GRUCell, LSTMCell, SimpleRNNCell
from framework.layers.recurrent.fields import LayerFields, LSTMFields, Seeded, Steps, Unrolled
from framework.layers.recurrent.rnn import OwnCell, own_cell

__all__ = ["GRU", "LSTM", "SimpleRNN"]


class _WithCell(OwnCell):
    """The base class of SimpleRNN, GRU and LSTM, which create the cell from their arguments."""

    def __init__(self, *args: Any, implementation: Any = 2, **kwargs: Any):
        self._framework.implementation = implementation
        super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def __post_init__(self):
        self.cell = own_cell(self, implementation=self._framework.implementation)
        self.input_spec = InputSpec(ndim=3)
        super().__post_init__()


UseCudnn = Literal["auto", True, False]


class SimpleRNN(
    LayerFields, Steps, Unrolled, _WithCell,
    last=("seed",), cell_class=SimpleRNNCell, cell_name="simple_rnn_cell",
):  # fmt: skip
    """`h = activation(x @ kernel + h @ recurrent_kernel + bias)` over the steps of a sequence.

    Args:
        units: the size of the output and of the state.
        activation: a name or function.
        use_bias: whether there is a bias.
        dropout, recurrent_dropout: fractions of inputs and state set to 0 in training.
        return_sequences, return_state, go_backwards, stateful, unroll: as in `RNN`.
        seed: the seed of the dropout, an int, or None.

    Shapes: `(batch, steps, features)` gives `(batch, units)`, or `(batch, steps, units)`.

    >>> import numpy as np
    >>> SimpleRNN(4)(np.ones((2, 6, 3))).shape
    TensorShape([2, 4])
    """

    units: PositiveInt
    activation: Activation = "tanh"
    use_bias: bool = True
    seed: int | None = None


class GRU(
    LayerFields, Seeded, Steps, Unrolled, _WithCell,
    last=("reset_after", "use_cudnn"), cell_class=GRUCell, cell_name="gru_cell",
):  # fmt: skip
    """Gated recurrent units (Cho et al. 2014) over the steps of a sequence.

    Args:
        units: the size of the output and of the state.
        activation: of the candidate state, a name or function.
        recurrent_activation: of the gates, a name or function.
        use_bias: whether there is a bias.
        dropout, recurrent_dropout: fractions of inputs and state set to 0 in training.
        seed: the seed of the dropout, an int, or None.
        return_sequences, return_state, go_backwards, stateful, unroll: as in `RNN`.
        reset_after: whether to apply the reset gate after the product with the recurrent kernel.
        use_cudnn: True requires the op that runs all steps at once; False never uses that op.

    Shapes: `(batch, steps, features)` gives `(batch, units)`, or `(batch, steps, units)`.

    >>> import numpy as np
    >>> GRU(4, return_sequences=True)(np.ones((2, 6, 3))).shape
    TensorShape([2, 6, 4])
    """

    units: PositiveInt
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True
    reset_after: bool = True
    use_cudnn: UseCudnn = "auto"


class LSTM(
    LSTMFields, Unrolled, _WithCell,
    last=("use_cudnn",), cell_class=LSTMCell, cell_name="lstm_cell",
):  # fmt: skip
    """Long short-term memory (Hochreiter & Schmidhuber 1997) over the steps of a sequence.

    Args:
        units: the size of the output and of the two states.
        activation: of the candidate state, a name or function.
        recurrent_activation: of the gates, a name or function.
        use_bias: whether there is a bias.
        unit_forget_bias: whether to initialize the bias of the forget gate to 1.
        dropout, recurrent_dropout: fractions of inputs and state set to 0 in training.
        seed: the seed of the dropout, an int, or None.
        return_sequences, return_state, go_backwards, stateful, unroll: as in `RNN`.
        use_cudnn: True requires the op that runs all steps at once; False never uses that op.

    Shapes: `(batch, steps, features)` gives `(batch, units)`, or `(batch, steps, units)`.

    >>> import numpy as np
    >>> output, h, c = LSTM(4, return_sequences=True, return_state=True)(np.ones((2, 6, 3)))
    >>> output.shape, h.shape, c.shape
    (TensorShape([2, 6, 4]), TensorShape([2, 4]), TensorShape([2, 4]))
    """

    units: PositiveInt
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True
    use_cudnn: UseCudnn = "auto"
