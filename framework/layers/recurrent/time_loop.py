"""Run a cell over the steps of a sequence."""

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.ops.elementwise import not_equal, select
from framework.ops.movement import expand_axes, getitem, stack, unstack
from framework.ops.reduction import reduce_any


def as_mask(mask):
    """Convert a mask with any dtype and two or more axes to booleans of shape (batch, time)."""
    if mask is None:
        return None
    if mask.dtype != "bool":
        mask = not_equal(mask, 0)
    while len(mask.shape) > 2:
        mask = reduce_any(mask, axis=(len(mask.shape) - 1,), keepdims=False)
    return mask


def run(step, sequences, states, mask, *, reverse=False, zero_output=False, sequence=True):
    """Call `step(inputs, states)` for each step; return all outputs or the last, and the states.

    Where the mask is False, states and output keep their previous values. Before the first step,
    the previous output is the first state if it has the output's shape, else zeros.
    """
    length = sequences.shape[1]
    if not length:
        raise InvalidArgumentError(
            f"RNN: expected sequences of at least one step, got inputs of shape "
            f"{tuple(sequences.shape)}."
        )
    steps = list(unstack(sequences, axis=1))
    order = range(length)
    outputs, output = [], None
    for t in reversed(order) if reverse else order:
        made, new = step(steps[t], states)
        new = nest.pack_sequence_as(states, nest.flatten(new))
        if mask is not None:
            keep = getitem(mask, index=(slice(None), t))
            before = _at_first(states, made) if output is None else output
            if zero_output and sequence:
                before = made * 0
            made = _where(keep, made, before)
            new = nest.map_structure(lambda a, b, keep=keep: _where(keep, a, b), new, states)
        output, states = made, new
        if sequence:
            outputs.append(output)
    return stack(*outputs, axis=1) if sequence else output, states


def _at_first(states, output):
    first = states[-1] if nest.is_nested(states[-1]) else states
    first = nest.flatten(first)[0]
    return first if tuple(first.shape) == tuple(output.shape) else output * 0


def _where(keep, a, b):
    """Return rows of `a` where `keep` is True, else rows of `b`."""
    return select(expand_axes(keep, tuple(range(1, len(a.shape)))), a, b)
