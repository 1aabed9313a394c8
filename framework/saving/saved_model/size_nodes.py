"""NumPy functions, named as ONNX's operators, for sizes and arrays that depend on sizes."""

import numpy as np


def _squeeze(x, axes):
    return np.squeeze(x, tuple(int(i) for i in axes))


def _unsqueeze(x, axes):
    return np.expand_dims(x, tuple(int(i) for i in axes))


def _divide(a, b):
    return a // b if a.dtype.kind in "iu" else a / b


def _reshape(x, shape, allowzero=0):
    # unless `allowzero` is set, an axis of size 0 in `shape` keeps the size that it has in `x`
    wanted = [n if n or allowzero else x.shape[i] for i, n in enumerate(shape.tolist())]
    return x.reshape(wanted)


def _expand(x, shape):
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape.tolist())))


SIZE_NODES = {
    "Shape": lambda shape: shape,
    "Gather": lambda x, indices, axis=0: np.take(x, indices, axis),
    "Cast": lambda x, to: x.astype(to),
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": lambda *xs, axis: np.concatenate(xs, axis),
    "Reshape": _reshape,
    "Expand": _expand,
    "ConstantOfShape": lambda shape, value: np.full(shape.tolist(), value[0], value.dtype),
    "Range": lambda start, limit, step: np.arange(start, limit, step, start.dtype),
    "Identity": lambda x: x,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divide,
    "Neg": np.negative,
    "Min": np.minimum,
    "Max": np.maximum,
    "Reciprocal": np.reciprocal,
    "Sqrt": np.sqrt,
    "Less": np.less,
    "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and,
}
"""The operators that `framework/saving/onnx/constants.py` and `Builder.size` use."""
