"""Samples and references of what is assigned to some elements of a variable."""

import operator

import numpy as np

from tests.samples.ops.arguments import call, fixed_size, real

_OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "max": np.maximum, "min": np.minimum, "update": lambda old, new: new,
}  # fmt: skip


def _scatter_into(x, indices, updates, how, tuples):
    y = x.copy()
    for k in np.ndindex(*(indices.shape[:-1] if tuples else indices.shape)):
        place = tuple(indices[k]) if tuples else (indices[k],)
        y[place] = _OPERATORS[how](y[place], updates[k])
    return y


def _slice_into(x, values, index):
    y = x.copy()
    y[index] = values
    return y


SAMPLES = {
    "scatter_into": [
        *(
            call(real(4, 3), np.array([3, 0, 3]), real(3, 3), how=how, tuples=False, any_batch=())
            for how in _OPERATORS
        ),
        call(real(4, 4), np.array([[3, 0], [1, 2], [3, 0]]), real(3), how="add", tuples=True,
            any_batch=()),
        call(real(4, 3), np.array([[2], [2]]), real(2, 3), how="max", tuples=True, any_batch=()),
        call(real(4, 0), np.array([1]), real(1, 0), how="add", tuples=False, any_batch=()),
    ],
    "slice_into": [
        call(real(4, 3), real(4), index=(slice(None), 1)),
        fixed_size(real(4, 3), real(3), index=(-1,)),
        fixed_size(real(4, 3), real(), index=(0, 2)),
        fixed_size(real(4, 3), real(2, 1, 3), index=(slice(None, None, 2), None)),
        fixed_size(real(4), real(2), index=(np.array([3, 0]),)),
        fixed_size(real(4, 0), real(0), index=(1,)),
    ],
}  # fmt: skip

REFERENCES = {"scatter_into": _scatter_into, "slice_into": _slice_into}
