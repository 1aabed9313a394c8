"""The ops `stack` and `unstack`; they are in core because lists of tensors become tensors."""

import numpy as np

from framework.core.op import movement

stack = movement(
    "stack",
    lambda *xs, axis: np.stack(xs, axis),
    backward=lambda g, axis: unstack(g, axis=axis),
    fresh=True,
)
unstack = movement(
    "unstack", lambda x, *, axis: tuple(np.moveaxis(x, axis, 0)),
    lambda gs, axis: stack(*gs, axis=axis), outputs=None,
)  # fmt: skip
