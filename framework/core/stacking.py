"""The ops `stack` and `unstack`; core has them because it converts lists of tensors to tensors."""

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
