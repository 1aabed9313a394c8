"""StackedRNNCells: several cells as one, each fed with the outputs of the one before."""

from functools import partial

from framework.core import nest
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.core.own import builtin
from framework.core.symbolic import KerasTensor, calling
from framework.layers import nested
from framework.layers.base import Layer
from framework.layers.facts import signature_of
from framework.layers.recurrent.cells import zeros


def checked_cell(cell):
    """The cell itself, or the one that a config describes."""
    cell = nested.as_layer(cell)
    for name, kind in (("call", "method"), ("state_size", "attribute")):
        if not hasattr(type(cell), name) and not hasattr(cell, name):
            raise InvalidArgumentError(f"a cell should have a `{name}` {kind}. Received: {cell!r}")
    return cell


def _cells(value):
    return [checked_cell(cell) for cell in value]


def output_size(cell):
    """The size of the cell's output: its own word, else that of its first state."""
    size = getattr(cell, "output_size", None)
    if size is not None:
        return size
    return cell.state_size[0] if isinstance(cell.state_size, (list, tuple)) else cell.state_size


def first_states(cell, batch_size, dtype):
    """The states that a cell starts with: its own word, else zeros. A list, or nest of them."""
    own = getattr(cell, "get_initial_state", None)
    if own is not None:
        states = own(batch_size=batch_size)
        return list(states) if nest.is_nested(states) else [states]
    sizes = cell.state_size
    sizes = sizes if isinstance(sizes, (list, tuple)) else [sizes]
    return [zeros(batch_size, size, getattr(cell, "compute_dtype", dtype)) for size in sizes]


def sequence_of(cell):
    """What runs all steps of a built-in cell at once; None for other cells."""
    if not isinstance(cell, Layer) or not hasattr(builtin(cell), "sequence"):
        return None
    return partial(builtin(cell).sequence, cell)


def takes_training(cell):
    return isinstance(cell, Layer) and signature_of(cell).takes_training


class StackedRNNCells(Layer):
    """Several cells as one: a step goes through all of them.

    Args:
        cells: a list of cells.

    >>> import numpy as np
    >>> from framework import keras
    >>> cells = StackedRNNCells([keras.layers.LSTMCell(4), keras.layers.GRUCell(5)])
    >>> keras.layers.RNN(cells)(np.ones((2, 6, 3))).shape
    TensorShape([2, 5])
    """

    cells: Resolved("a list of cells", _cells, serialize=serialize_value)

    @property
    def state_size(self):
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self):
        return output_size(self.cells[-1])

    def get_initial_state(self, batch_size=None):
        """The first states of each cell, a list of lists."""
        return [first_states(cell, batch_size, self.compute_dtype) for cell in self.cells]

    def build(self, input_shape):
        for cell in self.cells:
            build_cell(cell, input_shape)
            input_shape = (input_shape[0], output_size(cell))

    def call(self, inputs, states, training=False, **kwargs):
        new_states = []
        for cell, own in zip(self.cells, states):
            how = {**kwargs, "training": training} if takes_training(cell) else kwargs
            given = list(own) if nest.is_nested(own) else [own]
            call = cell if callable(cell) else cell.call
            inputs, new = call(inputs, given, **how)
            new_states.append(nest.pack_sequence_as(own, nest.flatten(new)))
        return inputs, new_states

    def sequence(self, sequences, states, mask, training, **how):
        """All steps by an op for each cell; None where a cell has none."""
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
    def from_config(cls, config, custom_objects=None):
        cells = [nested.as_layer(cell, custom_objects) for cell in config["cells"]]
        return cls(**{**config, "cells": cells})


def build_cell(cell, input_shape):
    """Make a cell's weights for inputs of a step of this shape."""
    if not isinstance(cell, Layer) or cell.built:
        return
    if type(cell).build is not Layer.build:
        cell.build(input_shape)
    elif cell._framework.layers:  # its layers are built where it is called
        from_shape(cell, input_shape)


def from_shape(cell, input_shape):
    """A symbolic call of a cell, for what it builds."""
    inputs = KerasTensor(input_shape, cell.compute_dtype)
    states = first_states(cell, input_shape[0], cell.compute_dtype)
    states = nest.map_structure(
        lambda s: KerasTensor((input_shape[0], *s.shape[1:]), s.dtype), states
    )
    with calling(cell.name):
        cell(inputs, states)
