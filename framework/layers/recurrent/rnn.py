"""RNN: a layer that runs a cell over sequences, and the base of SimpleRNN, GRU and LSTM."""

from typing import TYPE_CHECKING, Annotated, Any

from framework.core import nest
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved, fields_of, serialize_value
from framework.core.conversion import tensor
from framework.core.dtypes import Shape
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.variable import CoreVariable, KerasVariable
from framework.layers import nested
from framework.layers.base import Layer
from framework.layers.building import making_variables, naming
from framework.layers.recurrent import time_loop
from framework.layers.recurrent.dropping import DropoutRNNCell
from framework.layers.recurrent.stacked import (
    StackedRNNCells,
    build_cell,
    checked_cell,
    first_states,
    output_size,
    sequence_of,
    takes_training,
)
from framework.ops.elementwise import masked
from framework.ops.movement import broadcast_to, expand_axes, getitem

__all__ = ["RNN"]


def _cell(value):
    return StackedRNNCells(value) if isinstance(value, (list, tuple)) else checked_cell(value)


class RNN(Layer):
    """Run a cell over the steps of sequences.

    A cell has `call(inputs, states)`, which returns the output and the new states and may take
    `training`; and `state_size`, an int or one int per state. It may have `output_size` and
    `get_initial_state(batch_size=None)`.

    Args:
        cell: a cell, or a list of cells to stack.
        return_sequences: whether to return the outputs of all steps instead of the last output.
        return_state: whether to also return the last states.
        go_backwards: whether to process the steps in reverse; outputs are in reverse order too.
        stateful: whether a batch starts with the last states of the previous batch.
        unroll: accepted for compatibility; the steps run in a loop or as one op either way.
        zero_output_for_mask: whether outputs of masked steps are 0 instead of the previous output.

    Shapes: `(batch, steps, ...)` gives `(batch, output_size)`, or `(batch, steps, output_size)`.

    >>> import numpy as np
    >>> from framework import keras
    >>> layer = RNN(keras.layers.LSTMCell(4), return_sequences=True, return_state=True)
    >>> [y.shape.as_list() for y in layer(np.ones((2, 6, 3)))]
    [[2, 6, 4], [2, 4], [2, 4]]
    """

    cell: Annotated[Any, Resolved("a cell", _cell, serialize=serialize_value)]
    return_sequences: bool = False
    return_state: bool = False
    go_backwards: bool = False
    stateful: bool = False
    unroll: bool = False
    zero_output_for_mask: bool = False

    supports_masking = True
    states = None
    use_cudnn = "auto"

    def __post_init__(self):
        self.__dict__["states"] = self._framework.expected_batch_size = None
        sizes = self.cell.state_size
        if not isinstance(sizes, (list, tuple, int)) or isinstance(sizes, Shape):
            raise InvalidArgumentError(
                "state_size must be an integer, or a list/tuple of integers (one for each state "
                f"tensor); the cell of layer {self.name!r} has {sizes!r}."
            )
        self.single_state = isinstance(sizes, int)
        self.state_size = [sizes] if self.single_state else list(sizes)

    # ---- building and shapes ----

    def build(self, sequences_shape: ShapeLike, initial_state_shape: ShapeLike = None) -> None:
        build_cell(self.cell, (sequences_shape[0], *sequences_shape[2:]))
        if not self.stateful:
            return
        if self.states is not None:
            self.reset_state()
            return
        if sequences_shape[0] is None:
            raise InvalidArgumentError(
                "When using `stateful=True` in a RNN, the batch size must be static. Found dynamic "
                f"batch size: sequence.shape={tuple(sequences_shape)} (layer {self.name!r}). Set "
                "Input(batch_size=...)."
            )
        _make_states(self, sequences_shape[0])

    def compute_output_shape(
        self, sequences_shape: ShapeLike, initial_state_shape: ShapeLike = None,
    ) -> Any:  # fmt: skip
        batch, length = sequences_shape[:2]
        size = output_size(self.cell)
        if not isinstance(size, int):
            raise InvalidArgumentError(f"output_size of the cell must be an integer, got {size!r}.")
        output = (batch, length, size) if self.return_sequences else (batch, size)
        return (output, *_state_shapes(self, batch)) if self.return_state else output

    def compute_mask(self, _: Any, mask: TensorLike):
        mask = nest.flatten(mask)[0]
        output = mask if self.return_sequences else None
        return [output, *[None for _ in self.state_size]] if self.return_state else output

    # ---- states ----

    def get_initial_state(self, batch_size: Any):
        """Return the default initial states as a list."""
        return first_states(self.cell, batch_size, self.compute_dtype)

    def reset_state(self):
        """Set the states of a stateful layer to zero."""
        for variable in nest.flatten(self.states) if self.states is not None else ():
            variable.assign(variable.read() * 0)

    def reset_states(self):
        """Call `reset_state`, for which this is Keras's older name."""
        self.reset_state()

    # ---- the call ----

    def call(
        self, sequences: Any, initial_state: Any = None, mask: TensorLike = None,
        training: bool = False,
    ) -> Any:  # fmt: skip
        states = _states_for(self, sequences, initial_state)
        _reset_masks(self.cell)
        last, outputs, states = self.inner_loop(sequences, states, mask, training=training)
        _reset_masks(self.cell)
        output = _as(outputs if self.return_sequences else last, self.compute_dtype)
        if self.stateful:
            for variable, state in zip(nest.flatten(self.states), nest.flatten(states)):
                variable.assign(_as(state, variable.dtype))
        if not self.return_state:
            return output
        return (output, *nest.map_structure(lambda s: _as(s, self.compute_dtype), states))

    def inner_loop(
        self, sequences: Any, initial_state: Any, mask: TensorLike, training: bool = False,
    ):  # fmt: skip
        """Return (last output, outputs of all steps, last states)."""
        states = initial_state if nest.is_nested(initial_state) else [initial_state]
        mask = time_loop.as_mask(nest.flatten(mask)[0])
        mask = mask if mask is None else _for_each(mask, sequences.shape[0])
        every = self.return_sequences
        how = {
            "reverse": self.go_backwards, "zero_output": self.zero_output_for_mask,
            "sequence": every,
        }  # fmt: skip
        found = _by_op(self, sequences, states, mask, training, how)
        if found is None:
            outputs, states = time_loop.run(_step(self, training), sequences, states, mask, **how)
        elif every:
            outputs, *states = found
        else:
            states = list(found)
            outputs = nest.flatten(states[-1])[0] if nest.is_nested(states[-1]) else states[0]
        if every:
            return getitem(outputs, index=(slice(None), -1)), outputs, states
        if self.zero_output_for_mask and mask is not None:
            last = 0 if self.go_backwards else -1
            keep = getitem(mask, index=(slice(None), last))
            outputs = masked(outputs, expand_axes(keep, tuple(range(1, len(outputs.shape)))))
        return outputs, outputs, states

    # ---- config ----

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if isinstance(self, OwnCell):
            config |= {n: getattr(self, n) for n in ("unroll", "zero_output_for_mask")}
            config.pop("use_cudnn", None)
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        if "cell" in config:
            config = {**config, "cell": nested.as_layer(config["cell"], custom_objects)}
        return cls(**config)


class OwnCell(RNN, kw_only=True, left_out=("cell",), cell_class=None, cell_name=None):
    """The base class of RNNs that create their cell, whose arguments are fields of the layer."""

    unroll: bool = False
    zero_output_for_mask: bool = False
    # unlike RNN, these layers take no argument `cell`: they create their own cell
    if TYPE_CHECKING:
        cell: Any = None


def own_cell(layer, **arguments):
    """Create a layer's cell from the layer's fields and from `arguments` that are not fields."""
    record = type(layer)._framework
    for name, field in fields_of(record.cell_class).items():
        if not field.keyword_only and name not in arguments:
            arguments[name] = getattr(layer, name)
    return record.cell_class(
        **arguments, name=record.cell_name, dtype=layer._framework.dtype_policy,
        trainable=layer._framework.trainable,
    )  # fmt: skip


def _mapped(function, states):
    """Apply `function` to each state; the states of stacked cells are nests of tensors."""
    return [nest.map_structure(function, s) if nest.is_nested(s) else function(s) for s in states]


def _state(state, dtype):
    if isinstance(state, CoreVariable):
        state = state.read()
    return _as(tensor(state), dtype)


def _for_each(x, batch):
    """Return `x` broadcast to the batch size if its own batch size is 1."""
    if batch in (1, None) or tuple(x.shape[:1]) != (1,):
        return x
    return broadcast_to(x, shape=(batch, *x.shape[1:]))


def _as(x, dtype):
    return x if x.dtype == dtype else cast(x, dtype=dtype.np)


def _reset_masks(cell):
    if isinstance(cell, StackedRNNCells):
        for one in cell.cells:
            _reset_masks(one)
    elif isinstance(cell, DropoutRNNCell):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()


def _make_states(layer, batch_size):
    """Create the state variables of a stateful layer; they are not weights."""

    def variable(value):
        return KerasVariable(
            value.array, trainable=False, dtype=layer.variable_dtype, name="rnn_state"
        )

    with naming(layer), making_variables():
        states = nest.map_structure(variable, layer.get_initial_state(batch_size))
    layer.__dict__["states"] = states
    layer._framework.expected_batch_size = batch_size


def _state_shapes(layer, batch):
    nested_sizes = (list, tuple)
    return [
        [(batch, n) for n in size] if isinstance(size, nested_sizes) else (batch, size)
        for size in layer.state_size
    ]


def _states_for(layer, sequences, given):
    own, (found, *_) = given is None, sequences.shape
    if own:
        given = layer.states if layer.stateful else layer.get_initial_state(found)
    expected = layer._framework.expected_batch_size
    if layer.stateful and expected is not None and found is not None and found != expected:
        raise ShapeError(
            "If an RNN is stateful, the batch size of the input sequences must be the same as "
            f"the batch size of the initial state. Expected batch size: {expected}. Received "
            f"batch size: {found} (layer {layer.name!r})."
        )
    given = list(given) if nest.is_nested(given) else [given]
    if len(given) != len(layer.state_size):
        raise InvalidArgumentError(
            f"initial_state must hold {len(layer.state_size)} state(s), one for each in the "
            f"cell's state_size={layer.cell.state_size}; got {len(given)} (layer {layer.name!r})."
        )
    dtype = getattr(layer.cell, "compute_dtype", layer.compute_dtype)
    given = _mapped(lambda state: _state(state, dtype), given)
    return given if own else _mapped(lambda state: _for_each(state, found), given)


def _by_op(layer, sequences, states, mask, training, how):
    """Run all steps by one op and return its result; None if the cell has no op for this call."""
    run = sequence_of(layer.cell)
    if run is None or layer.use_cudnn is False or len(sequences.shape) != 3:
        found = None
    else:
        found = run(sequences, states, mask, training, **how)
    if found is None and layer.use_cudnn is True:
        raise InvalidArgumentError(
            "use_cudnn=True was specified, but no op computes whole sequences for this "
            f"configuration of layer {layer.name!r}. Pass use_cudnn='auto'."
        )
    return found


def _step(layer, training):
    cell = layer.cell
    call = cell if callable(cell) else cell.call
    if takes_training(cell):
        return lambda inputs, states: call(inputs, states, training=training)
    return call
