"""Samples and reference of what tf.Variable's scatter methods assign."""

import operator

import numpy as np

from tests.ops.samples import one, real

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


SAMPLES = {
    "scatter_into": [
        *(
            one(real(4, 3), np.array([3, 0, 3]), real(3, 3), how=how, tuples=False, any_batch=())
            for how in _OPERATORS
        ),
        one(real(4, 4), np.array([[3, 0], [1, 2], [3, 0]]), real(3), how="add", tuples=True,
            any_batch=()),
        one(real(4, 3), np.array([[2], [2]]), real(2, 3), how="max", tuples=True, any_batch=()),
        one(real(4, 0), np.array([1]), real(1, 0), how="add", tuples=False, any_batch=()),
    ]
}  # fmt: skip

REFERENCES = {"scatter_into": _scatter_into}
