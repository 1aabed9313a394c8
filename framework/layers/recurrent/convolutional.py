"""ConvLSTM: an LSTM whose products are convolutions (Shi et al. 2015, arXiv:1506.04214)."""

from typing import Any

from framework.activations import Activation
from framework.core.argument_types import ShapeLike
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.kernels.windows import output_sizes
from framework.layers.arguments import DataFormat
from framework.layers.base import Layer
from framework.layers.convolution_base import (
    Padding,
    channels,
    ints,
    last,
    restored,
    spatial,
    with_spatial,
)
from framework.layers.core import PositiveInt
from framework.layers.input_spec import InputSpec
from framework.layers.recurrent.cells import forget_ones, in_dtype_of, zeros
from framework.layers.recurrent.dropping import DropoutRNNCell, make_generator
from framework.layers.recurrent.fields import LSTMCellFields, LSTMFields
from framework.layers.recurrent.rnn import OwnCell, own_cell
from framework.layers.weights import weight
from framework.ops.conv import conv
from framework.ops.movement import concat, split

__all__ = ["ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"]


class ConvLSTMCell(LSTMCellFields, DropoutRNNCell, Layer):
    """One step of ConvLSTM: maps inputs and [h, c] to h and [h, c], with `rank` spatial axes."""

    rank: PositiveInt
    filters: PositiveInt
    kernel_size: object
    strides: object = 1
    padding: Padding = "valid"
    data_format: DataFormat = None
    dilation_rate: object = 1
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True

    dropout_mask_count = 4
    state_size = (-1, -1)  # -1, because the sizes of the states h and c depend on the inputs

    def __post_init__(self):
        for name in ("kernel_size", "strides", "dilation_rate"):
            setattr(self, name, ints(getattr(self, name), self.rank, name))
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise InvalidArgumentError(
                "Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        make_generator(self)

    def build(self, inputs_shape, states_shape=None):
        sizes, count = (f(inputs_shape, self.data_format) for f in (spatial, channels))
        if None in sizes or count is None:
            raise ShapeError(
                "ConvLSTM layers need inputs whose spatial sizes and channels are known. Received "
                f"steps of shape {tuple(inputs_shape)} (cell {self.name!r})."
            )
        columns = 4 * self.filters
        self.kernel = weight(self, "kernel", (*self.kernel_size, count, columns))
        shape = (*self.kernel_size, self.filters, columns)
        self.recurrent_kernel = weight(self, "recurrent_kernel", shape, "recurrent")
        self.bias = None
        if self.use_bias:
            initial = self.bias_initializer
            if self.unit_forget_bias:
                initial = forget_ones(initial, self.filters)
            self.bias = weight(self, "bias", (columns,), initializer=initial)
        self._state_shape = self.state_shape(inputs_shape)[1:]

    def state_shape(self, inputs_shape):
        """Return the shape of both states, for the input shape of one step."""
        sizes = output_sizes(spatial(inputs_shape, self.data_format), self.kernel_size,
                             **_window(self))  # fmt: skip
        return with_spatial(inputs_shape, sizes, self.data_format, self.filters)

    def get_initial_state(self, batch_size=None):
        """Return two states of zeros; the cell must be built."""
        return [zeros(batch_size, self._state_shape, self.compute_dtype) for _ in range(2)]

    def call(self, inputs, states, training=False):
        h, c = states
        masks = _masks(self, inputs, h, training)
        ones = (1,) * self.rank
        again = {"strides": ones, "padding": "SAME", "dilations": ones}
        kernel = self.kernel._as_operand()
        inputs = in_dtype_of(kernel, inputs)
        gates = _convolved(self, inputs, masks[0], kernel, _window(self))
        of_state = _convolved(self, h, masks[1], self.recurrent_kernel._as_operand(), again)
        z = gates + of_state
        if self.bias is not None:
            z = z + self.bias._as_operand()
        parts = split(z, sizes=(self.filters,) * 4, axis=self.rank + 1)
        i, f, candidate, o = (restored(part, self.data_format) for part in parts)
        i, f, o = (self.recurrent_activation(gate) for gate in (i, f, o))
        c = f * c + i * self.activation(candidate)
        h = o * self.activation(c)
        return h, [h, c]


class ConvLSTM(LSTMFields, OwnCell, rank=0, cell_class=ConvLSTMCell, cell_name="conv_lstm_cell"):
    """The base class of ConvLSTM1D, ConvLSTM2D and ConvLSTM3D.

    Args:
        filters: the number of channels of outputs and states.
        kernel_size: the size of the windows, an int, or one int per axis.
        strides, dilation_rate: of the input convolution; one of them must be 1.
        padding: of the input convolution, "valid" or "same".
        data_format: "channels_last" or "channels_first".
        activation, recurrent_activation, use_bias, unit_forget_bias, dropout, recurrent_dropout,
        seed: as in `LSTM`.
        return_sequences, return_state, go_backwards, stateful: as in `RNN`.
    """

    filters: PositiveInt
    kernel_size: object
    strides: object = 1
    padding: Padding = "valid"
    data_format: DataFormat = None
    dilation_rate: object = 1
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True

    def __post_init__(self):
        self.cell = own_cell(self, rank=type(self)._framework.rank)
        for name in ("kernel_size", "strides", "dilation_rate"):
            setattr(self, name, getattr(self.cell, name))
        self.input_spec = InputSpec(ndim=type(self)._framework.rank + 3)
        super().__post_init__()

    def compute_output_shape(
        self, sequences_shape: ShapeLike, initial_state_shape: ShapeLike = None,
    ) -> Any:  # fmt: skip
        batch, steps, *rest = sequences_shape
        shape = self.cell.state_shape((batch, *rest))
        output = (batch, steps, *shape[1:]) if self.return_sequences else shape
        return (output, shape, shape) if self.return_state else output


class ConvLSTM1D(ConvLSTM, rank=1):
    """ConvLSTM over one spatial axis; arguments are those of `ConvLSTM`.

    Shapes: `(batch, steps, length, channels)`.

    >>> import numpy as np
    >>> ConvLSTM1D(5, kernel_size=3)(np.ones((2, 3, 6, 2))).shape
    TensorShape([2, 4, 5])
    """


class ConvLSTM2D(ConvLSTM, rank=2):
    """ConvLSTM over two spatial axes; arguments are those of `ConvLSTM`.

    Shapes: `(batch, steps, height, width, channels)`.

    >>> import numpy as np
    >>> ConvLSTM2D(5, kernel_size=3)(np.ones((2, 3, 6, 6, 2))).shape
    TensorShape([2, 4, 4, 5])
    """


class ConvLSTM3D(ConvLSTM, rank=3):
    """ConvLSTM over three spatial axes; arguments are those of `ConvLSTM`.

    Shapes: `(batch, steps, depth, height, width, channels)`.

    >>> import numpy as np
    >>> ConvLSTM3D(5, kernel_size=3)(np.ones((1, 2, 4, 4, 4, 2))).shape
    TensorShape([1, 2, 2, 2, 5])
    """


def _masks(layer, inputs, h, training):
    """Return the dropout masks of inputs and state for the four gates; None without dropout."""
    drops = [training and 0 < rate < 1 for rate in (layer.dropout, layer.recurrent_dropout)]
    return (
        layer.get_dropout_mask(inputs) if drops[0] else None,
        layer.get_recurrent_dropout_mask(h) if drops[1] else None,
    )


def _convolved(layer, x, masks, kernel, window):
    """Return the convolutions of the four gates, channels last."""
    if masks is None:
        return conv(last(x, layer.data_format), kernel, groups=1, **window)
    kernels = split(kernel, sizes=(layer.filters,) * 4, axis=layer.rank + 1)
    masked = [last(x * mask, layer.data_format) for mask in masks]
    parts = [conv(m, k, groups=1, **window) for m, k in zip(masked, kernels, strict=True)]
    return concat(*parts, axis=layer.rank + 1)


def _window(layer):
    padding = "SAME" if layer.padding == "same" else ((0, 0),) * layer.rank
    return {"strides": layer.strides, "padding": padding, "dilations": layer.dilation_rate}
