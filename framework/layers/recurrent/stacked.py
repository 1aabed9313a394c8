"""StackedRNNCells: several cells as one; each gets the outputs of the previous cell."""

from functools import partial
from typing import Annotated, Any

from framework.core import nest
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import builtin
from framework.core.symbolic import KerasTensor, calling
from framework.layers import nested
from framework.layers.base import Layer
from framework.layers.call_signature import signature_of
from framework.layers.recurrent.cells import zeros

__all__ = ["StackedRNNCells"]


def checked_cell(cell):
    """Return a cell, or the cell that a config describes."""
    cell = nested.as_layer(cell)
    for name, kind in (("call", "method"), ("state_size", "attribute")):
        if not hasattr(type(cell), name) and not hasattr(cell, name):
            raise InvalidArgumentError(f"a cell should have a `{name}` {kind}. Received: {cell!r}")
    return cell


def _cells(value):
    return [checked_cell(cell) for cell in value]


def output_size(cell):
    """Return the cell's `output_size`, else the size of its first state."""
    size = getattr(cell, "output_size", None)
    if size is not None:
        return size
    return cell.state_size[0] if isinstance(cell.state_size, (list, tuple)) else cell.state_size


def first_states(cell, batch_size, dtype):
    """Return the cell's initial states, zeros if it defines none, as a list of tensors or nests."""
    own = getattr(cell, "get_initial_state", None)
    if own is not None:
        states = own(batch_size=batch_size)
        return list(states) if nest.is_nested(states) else [states]
    sizes = cell.state_size
    sizes = sizes if isinstance(sizes, (list, tuple)) else [sizes]
    return [zeros(batch_size, size, getattr(cell, "compute_dtype", dtype)) for size in sizes]


def sequence_of(cell):
    """Return the function that runs all steps of a built-in cell; None for other cells."""
    if not isinstance(cell, Layer) or not hasattr(builtin(cell), "sequence"):
        return None
    return partial(builtin(cell).sequence, cell)


def takes_training(cell):
    return isinstance(cell, Layer) and signature_of(cell).takes_training


class StackedRNNCells(Layer):
    """Several cells as one: each step runs all of them in order.

    Args:
        cells: a list of cells.

    >>> import numpy as np
    >>> from framework import keras
    >>> cells = StackedRNNCells([keras.layers.LSTMCell(4), keras.layers.GRUCell(5)])
    >>> keras.layers.RNN(cells)(np.ones((2, 6, 3))).shape
    TensorShape([2, 5])
    """

    cells: Annotated[Any, Resolved("a list of cells", _cells, serialize=serialize_value)]

    @property
    def state_size(self):
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self):
        return output_size(self.cells[-1])

    def get_initial_state(self, batch_size: Any = None):
        """Return the initial states of each cell, a list of lists."""
        return [first_states(cell, batch_size, self.compute_dtype) for cell in self.cells]

    def build(self, input_shape: ShapeLike) -> None:
        for cell in self.cells:
            build_cell(cell, input_shape)
            input_shape = (input_shape[0], output_size(cell))

    def call(self, inputs: TensorLike, states: Any, training: bool = False, **kwargs: Any) -> Any:
        new_states = []
        for cell, own in zip(self.cells, states):
            how = {**kwargs, "training": training} if takes_training(cell) else kwargs
            given = list(own) if nest.is_nested(own) else [own]
            call = cell if callable(cell) else cell.call
            inputs, new = call(inputs, given, **how)
            new_states.append(nest.pack_sequence_as(own, nest.flatten(new)))
        return inputs, new_states

    def sequence(self, sequences: Any, states: Any, mask: TensorLike, training: Any, **how: Any):
        """Run all steps by one op per cell; return None if a cell has no such op."""
        runs = [sequence_of(cell) for cell in self.cells]
        if type(self).call is not StackedRNNCells.call or not all(runs):
            return None
        new_states = []
        reverse, sequence = how.pop("reverse"), how.pop("sequence")
        for i, (run, own) in enumerate(zip(runs, states)):
            last = i + 1 == len(runs)
            found = run(
                sequences, own, mask, training, reverse=reverse and not i,
                sequence=sequence or not last, **how,
            )  # fmt: skip
            if found is None:
                return None
            if sequence or not last:
                sequences, *new = found
            else:
                new = list(found)
            if reverse and not i and mask is not None:
                mask = mask[:, ::-1]
            new_states.append(new)
        return (sequences, *new_states) if sequence else tuple(new_states)

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        cells = [nested.as_layer(cell, custom_objects) for cell in config["cells"]]
        return cls(**{**config, "cells": cells})


def build_cell(cell, input_shape):
    """Create a cell's weights for the input shape of one step."""
    if not isinstance(cell, Layer) or cell.built:
        return
    if type(cell).build is not Layer.build:
        cell.build(input_shape)
    elif cell._framework.layers:  # a cell without `build` is built by a symbolic call
        from_shape(cell, input_shape)


def from_shape(cell, input_shape):
    """Build a cell's inner layers by a symbolic call."""
    inputs = KerasTensor(input_shape, cell.compute_dtype)
    states = first_states(cell, input_shape[0], cell.compute_dtype)
    states = nest.map_structure(
        lambda s: KerasTensor((input_shape[0], *s.shape[1:]), s.dtype), states
    )
    with calling(cell.name):
        cell(inputs, states)
