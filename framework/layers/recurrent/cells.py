"""The built-in cells: one step of SimpleRNN, GRU and LSTM.

A cell takes the inputs of one step and a list of states, and returns the output and the new states.
`sequence` runs common configurations of a cell over all steps by one op.
"""

from typing import Any

import numpy as np

from framework.activations import Activation, sigmoid, tanh
from framework.core import dtypes
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.internal_state import builtin
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.initializers import Ones
from framework.layers.base import Layer
from framework.layers.core import PositiveInt
from framework.layers.recurrent.dropping import DropoutRNNCell, make_generator
from framework.layers.recurrent.fields import CellFields, LSTMCellFields
from framework.layers.weights import weight
from framework.ops import recurrent as ops
from framework.ops.contraction import matmul
from framework.ops.movement import concat, expand_axes, getitem, split

__all__ = ["GRUCell", "LSTMCell", "SimpleRNNCell"]


def zeros(batch_size, size, dtype):
    """Return a state of zeros; a KerasTensor if the batch size is unknown."""
    shape = (batch_size, *((size,) if isinstance(size, int) else size))
    if batch_size is None:
        return KerasTensor(shape, dtype)
    shape = (int(batch_size), *shape[1:])
    return Tensor(np.zeros(shape, dtypes.as_dtype(dtype).np))


def in_dtype_of(kernel, x):
    """Cast the inputs to the dtype of the weights."""
    return x if x.dtype == kernel.dtype else cast(tensor(x), dtype=kernel.dtype.np)


class Cell(DropoutRNNCell, Layer, gates=1, states=1):
    """The base class of the three cells: weights of the gates, states, dropout."""

    implementation = 2

    def __init__(self, *args: Any, implementation: Any = 2, **kwargs: Any):
        self.__dict__["implementation"] = implementation
        super().__init__(*args, **kwargs)

    __init__._from_fields = True

    def __post_init__(self):
        if self.recurrent_dropout:
            self.implementation = 1
        if self.implementation == 1 and type(self)._framework.gates > 1:
            self.dropout_mask_count = type(self)._framework.gates
        make_generator(self)
        self.state_size = (
            [self.units] * type(self)._framework.states
            if type(self)._framework.states > 1
            else self.units
        )
        self.output_size = self.units

    def build(self, input_shape: ShapeLike) -> None:
        columns = self.units * type(self)._framework.gates
        self.kernel = weight(self, "kernel", (input_shape[-1], columns))
        shape = (self.units, columns)
        self.recurrent_kernel = weight(self, "recurrent_kernel", shape, "recurrent")
        self.bias = None
        if self.use_bias:
            initializer = builtin(self)._initial_bias(self)
            self.bias = weight(
                self, "bias", builtin(self)._bias_shape(self), initializer=initializer
            )

    def _bias_shape(self):
        return (self.units * type(self)._framework.gates,)

    def _initial_bias(self):
        return self.bias_initializer

    def get_initial_state(self, batch_size: Any = None):
        """Return the initial states, a list of zeros."""
        return [
            zeros(batch_size, self.units, self.compute_dtype)
            for _ in range(type(self)._framework.states)
        ]


class SimpleRNNCell(CellFields, Cell, last=("seed",)):
    """One step of `SimpleRNN`: `activation(inputs @ kernel + state @ recurrent_kernel + bias)`.

    Args:
        units: the size of the output and of the state.
        activation: a name or function.
        use_bias: whether there is a bias.
        dropout, recurrent_dropout: fractions of inputs and state set to 0 in training.
        seed: an int, or None.

    Shapes: inputs `(batch, features)` and `[h]`, h of `(batch, units)`, give h and `[h]`.

    >>> import numpy as np
    >>> output, states = SimpleRNNCell(4)(np.ones((2, 3)), [np.zeros((2, 4))])
    >>> output.shape, len(states)
    (TensorShape([2, 4]), 1)
    """

    units: PositiveInt
    activation: Activation = "tanh"
    use_bias: bool = True
    seed: int | None = None

    def call(self, sequence: Any, states: Any, training: bool = False) -> Any:
        h = states[0] if isinstance(states, (list, tuple)) else states
        kernel, recurrent_kernel, bias = _weights_now(self)
        x = in_dtype_of(kernel, sequence)
        x = _dropped(self, x, training)
        if training and self.recurrent_dropout:
            h = h * self.get_recurrent_dropout_mask(h)
        z = matmul(x, kernel)
        if bias is not None:
            z = z + bias
        output = self.activation(z + matmul(h, recurrent_kernel))
        return output, [output] if isinstance(states, (list, tuple)) else output

    def sequence(self, sequences: Any, states: Any, mask: TensorLike, training: Any, **how: Any):
        """Run all steps by one op: return ([outputs,] state), or None if the op cannot do it."""
        if not _is_usual(self, SimpleRNNCell) or _drops(self, training):
            return None
        return ops.simple_rnn(*_inputs_of_op(self, sequences, states, mask, training), **how)


class GRUCell(CellFields, Cell, gates=3, last=("reset_after", "seed")):
    """One step of `GRU` (Cho et al. 2014).

    Args:
        units: the size of the output and of the state.
        activation: of the candidate state, a name or function.
        recurrent_activation: of the gates, a name or function.
        use_bias: whether there is a bias.
        dropout, recurrent_dropout: fractions of inputs and state set to 0 in training.
        reset_after: whether to apply the reset gate after the product with the recurrent kernel.
        seed: an int, or None.

    Shapes: inputs `(batch, features)` and `[h]`, h of `(batch, units)`, give h and `[h]`.

    >>> import numpy as np
    >>> GRUCell(4)(np.ones((2, 3)), [np.zeros((2, 4))])[0].shape
    TensorShape([2, 4])
    """

    units: PositiveInt
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True
    reset_after: bool = True
    seed: int | None = None

    def _bias_shape(self):
        size = 3 * self.units
        return (2, size) if self.reset_after else (size,)

    def call(self, inputs: TensorLike, states: Any, training: bool = False) -> Any:
        h = states[0] if isinstance(states, (list, tuple)) else states
        kernel, recurrent_kernel, bias = _weights_now(self)
        of_input, of_state = (None, None) if bias is None else (bias, None)
        if bias is not None and self.reset_after:
            of_input, of_state = getitem(bias, index=(0,)), getitem(bias, index=(1,))
        x = in_dtype_of(kernel, inputs)
        x_z, x_r, x_h = _of_inputs(self, x, kernel, of_input, training)
        masked = _masked_states(self, h, training)
        parts = split(recurrent_kernel, sizes=(self.units,) * 3, axis=1)
        biases = (None,) * 3
        if of_state is not None:
            biases = split(of_state, sizes=(self.units,) * 3, axis=0)
        z = self.recurrent_activation(x_z + _affine(masked[0], parts[0], biases[0]))
        r = self.recurrent_activation(x_r + _affine(masked[1], parts[1], biases[1]))
        if self.reset_after:
            part = r * _affine(masked[2], parts[2], biases[2])
        else:
            part = matmul(r * masked[2], parts[2])
        candidate = self.activation(x_h + part)
        h = z * h + (1 - z) * candidate
        return h, [h] if isinstance(states, (list, tuple)) else h

    def sequence(self, sequences: Any, states: Any, mask: TensorLike, training: Any, **how: Any):
        """Run all steps by one op: return ([outputs,] state), or None if the op cannot do it."""
        usual = _is_usual(self, GRUCell) and self.recurrent_activation is sigmoid
        if not usual or not self.reset_after or _drops(self, training):
            return None
        return ops.gru(*_inputs_of_op(self, sequences, states, mask, training), **how)


class LSTMCell(LSTMCellFields, Cell, gates=4, states=2):
    """One step of `LSTM` (Hochreiter & Schmidhuber 1997).

    Args:
        units: the size of the output and of the two states.
        activation: of the candidate state, a name or function.
        recurrent_activation: of the gates, a name or function.
        use_bias: whether there is a bias.
        unit_forget_bias: whether to initialize the bias of the forget gate to 1.
        dropout, recurrent_dropout: fractions of inputs and state set to 0 in training.
        seed: an int, or None.

    Shapes: inputs `(batch, features)` and `[h, c]`, each `(batch, units)`, give h and `[h, c]`.

    >>> import numpy as np
    >>> output, (h, c) = LSTMCell(4)(np.ones((2, 3)), [np.zeros((2, 4)), np.zeros((2, 4))])
    >>> output is h, c.shape
    (True, TensorShape([2, 4]))
    """

    units: PositiveInt
    activation: Activation = "tanh"
    recurrent_activation: Activation = "sigmoid"
    use_bias: bool = True

    def _initial_bias(self):
        if not self.unit_forget_bias:
            return self.bias_initializer
        return forget_ones(self.bias_initializer, self.units)

    def call(self, inputs: TensorLike, states: Any, training: bool = False) -> Any:
        h, c = states
        kernel, recurrent_kernel, bias = _weights_now(self)
        x = in_dtype_of(kernel, inputs)
        usual = self.recurrent_activation is sigmoid and self.activation is tanh
        if usual and bias is not None and not _drops(self, training) and type(x) is Tensor:
            h, c = ops.lstm_cell(_dropped(self, x, training), h, c, kernel, recurrent_kernel, bias)
            return h, [h, c]
        of_x = _of_inputs(self, x, kernel, bias, training)
        parts = split(recurrent_kernel, sizes=(self.units,) * 4, axis=1)
        masked = _masked_states(self, h, training)
        i, f, candidate, o = [a + matmul(m, w) for a, m, w in zip(of_x, masked, parts)]
        i, f, o = (self.recurrent_activation(gate) for gate in (i, f, o))
        c = f * c + i * self.activation(candidate)
        h = o * self.activation(c)
        return h, [h, c]

    def sequence(self, sequences: Any, states: Any, mask: TensorLike, training: Any, **how: Any):
        """Run all steps by one op: return ([outputs,] h, c), or None if the op cannot do it."""
        usual = _is_usual(self, LSTMCell) and self.recurrent_activation is sigmoid
        if not usual or _drops(self, training):
            return None
        return ops.lstm(*_inputs_of_op(self, sequences, states, mask, training), **how)


def forget_ones(initializer, units):
    """Return an initializer of the four gates' biases: ones for the forget gate, else as given."""

    def initial(_shape, dtype=None):
        parts = [initializer((n * units,), dtype=dtype) for n in (1, 2)]
        return concat(parts[0], Ones()((units,), dtype=dtype), parts[1], axis=0)

    return initial


def _affine(x, kernel, bias):
    z = matmul(x, kernel)
    return z if bias is None else z + bias


def _of_inputs(cell, x, kernel, bias, training):
    """Return `x @ kernel + bias` for each gate.

    With `implementation=1`, each gate has a dropout mask of its own.
    """
    sizes = (cell.units,) * type(cell)._framework.gates
    if not _drops_inputs(cell, training) or not cell.dropout_mask_count:
        return split(_affine(_dropped(cell, x, training), kernel, bias), sizes=sizes, axis=1)
    parts = split(kernel, sizes=sizes, axis=1)
    biases = (
        (None,) * type(cell)._framework.gates if bias is None else split(bias, sizes=sizes, axis=0)
    )
    masks = cell.get_dropout_mask(x)
    return [_affine(x * m, w, b) for m, w, b in zip(masks, parts, biases, strict=True)]


def _masked_states(cell, h, training):
    """Return, for each gate, the state times the gate's dropout mask."""
    if not (training and 0 < cell.recurrent_dropout < 1):
        return [h] * type(cell)._framework.gates
    return [h * mask for mask in cell.get_recurrent_dropout_mask(h)]


def _weights_now(layer):
    return (
        layer.kernel._as_operand(),
        layer.recurrent_kernel._as_operand(),
        None if layer.bias is None else layer.bias._as_operand(),
    )


def _drops(layer, training):
    """Return whether dropout needs a loop: it applies to the state, or with one mask per gate."""
    several = layer.dropout and layer.dropout_mask_count
    return bool(training and (layer.recurrent_dropout or several))


def _drops_inputs(layer, training):
    """Return whether dropout applies to inputs; as in Keras, rate 1 has no effect with gates."""
    return training and (
        0 < layer.dropout < 1 or (layer.dropout == 1 and type(layer)._framework.gates == 1)
    )


def _dropped(layer, x, training):
    return x * layer.get_dropout_mask(x) if _drops_inputs(layer, training) else x


def _is_usual(layer, cls):
    return type(layer).call is cls.call and layer.activation is tanh


def _inputs_of_op(layer, sequences, states, mask, training):
    weights = _weights_now(layer)
    sequences = in_dtype_of(weights[0], sequences)
    # all steps share a dropout mask, so one product applies it to the sequence
    if _drops_inputs(layer, training):
        first = getitem(sequences, index=(slice(None), 0))
        sequences = sequences * expand_axes(layer.get_dropout_mask(first), (1,))
    return sequences, *states, *weights, mask
