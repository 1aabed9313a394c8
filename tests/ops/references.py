"""For every op the same function by NumPy's or SciPy's public functions: nothing of ours."""

import numpy as np
from scipy import special

from tests.ops import assigning, attending, matrices, norms, places, recurrence, windows
from tests.ops import special as special_functions

# Ops that are the NumPy function named here. (Those of one name on both sides are found by it.)
NUMPY_NAMES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "floor_mod": "remainder",
    "identity": "positive", "is_finite": "isfinite", "is_inf": "isinf", "is_nan": "isnan",
    "round": "rint", "select": "where", "stop_gradient": "positive",
    "whole_divide": "floor_divide", "whole_mod": "remainder",
}  # fmt: skip


def _where_nonzero(chosen, function, a, b):
    """function(a, b), 0 where `chosen` is 0."""
    a, b, chosen = np.broadcast_arrays(a, b, chosen)
    y = np.zeros(a.shape)
    y[chosen != 0] = function(a[chosen != 0], b[chosen != 0])
    return y


def _reduced(function):
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims)


def _empty_safe(function, worst):
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims, initial=worst)


def _mean(x, axis, keepdims):
    total = np.sum(x, axis=axis, keepdims=keepdims)
    with np.errstate(invalid="ignore"):
        return total / np.float64(np.prod([x.shape[i] for i in axis]))


def _logsumexp(x, axis, keepdims):
    with np.errstate(divide="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def _running(function):
    def reference(x, axis, reverse):
        return np.flip(function(np.flip(x, axis), axis), axis) if reverse else function(x, axis)

    return reference


def _linear_scan(a, b, axis, reverse):
    if reverse:
        return np.flip(_linear_scan(np.flip(a, axis), np.flip(b, axis), axis, False), axis)
    y = np.zeros(b.shape)
    for k in range(b.shape[axis]):
        here = (slice(None),) * axis + (k,)
        before = (slice(None),) * axis + (k - 1,)
        y[here] = b[here] + (a[here] * y[before] if k else 0)
    return y


def _sum_to(x, shape):
    y = np.zeros(shape)
    for position in np.ndindex(*x.shape):
        kept = position[x.ndim - len(shape) :]
        y[tuple(0 if n == 1 else i for i, n in zip(kept, shape, strict=True))] += x[position]
    return y


def _put(g, shape, index):
    y = np.zeros(shape)
    np.add.at(y, index, g)
    return y


def _scatter_add(g, indices, shape, axis):
    return _put(g, shape, (slice(None),) * axis + (indices,))


def _put_along_axis(g, indices, shape, axis):
    y = np.zeros(shape)
    for position in np.ndindex(*indices.shape):
        to = list(position)
        to[axis] = indices[position]
        y[tuple(to)] += g[position]
    return y


def _one_hot(indices, depth, dtype):
    padded = np.eye(depth + 1, depth, dtype=dtype)
    return padded[np.where((indices >= 0) & (indices < depth), indices, depth)]


def _argsort(x, axis, descending=False):
    return np.argsort(-x if descending else x, axis=axis, kind="stable")


def _matmul(a, b, transpose_a=False, transpose_b=False):
    a = a.swapaxes(-1, -2) if transpose_a else a
    b = b.swapaxes(-1, -2) if transpose_b else b
    return np.einsum("...ij,...jk->...ik", a, b)


def _sparsemax(x, axis):
    def row(z):
        low, high = z.min() - 1, z.max()
        for _ in range(100):  # bisection for the threshold at which the row sums to 1
            middle = (low + high) / 2
            low, high = (middle, high) if np.maximum(z - middle, 0).sum() > 1 else (low, middle)
        return np.maximum(z - low, 0)

    return np.apply_along_axis(row, axis, x) if x.size else x


def _cross_entropy(logits, labels):
    return -np.sum(labels * special.log_softmax(logits, axis=-1), axis=-1)


def _sparse_cross_entropy(logits, labels):
    return _cross_entropy(logits, np.eye(logits.shape[-1])[labels])


def _cross_entropy_back(g, labels, e, total):
    return g[:, None] * (e / total * labels.sum(-1, keepdims=True) - labels)


def _sparse_cross_entropy_back(g, labels, e, total):
    return g[:, None] * (e / total[:, None] - np.eye(e.shape[1])[labels])


def _dropout(x, noise, rate):
    return np.where(noise >= rate, x, 0) * (1 / (1 - rate) if rate < 1 else 0)


def _lstm_cell(x, h, c, kernel, recurrent_kernel, bias):
    i, f, candidate, o = np.split(x @ kernel + h @ recurrent_kernel + bias, 4, axis=1)
    c = special.expit(f) * c + special.expit(i) * np.tanh(candidate)
    return special.expit(o) * np.tanh(c), c


def _lstm_cell_back(g_h, g_c, x, h, c, kernel, recurrent_kernel, gates, squashed, needed):
    i, f, candidate, o = np.split(gates, 4, axis=1)
    g_c = g_c + g_h * o * (1 - squashed**2)
    d = np.concatenate([g_c * candidate * i * (1 - i), g_c * c * f * (1 - f),
                        g_c * i * (1 - candidate**2), g_h * squashed * o * (1 - o)], 1)  # fmt: skip
    found = (d @ kernel.T, d @ recurrent_kernel.T, g_c * f, x.T @ d, h.T @ d, d.sum(0))
    return tuple(v for v, n in zip(found, needed, strict=True) if n)


REFERENCES = {
    "argmax": lambda x, axis, dtype: np.argmax(x, axis).astype(dtype),
    "argmin": lambda x, axis, dtype: np.argmin(x, axis).astype(dtype),
    "argsort": _argsort,
    "cast": lambda x, dtype: x.astype(dtype),
    "class_indices": lambda x, classes: x.astype(np.int64),
    "clip": lambda x, low, high: np.clip(x, low, high),
    "concat": lambda *xs, axis: np.concatenate(xs, axis),
    "cross_entropy_back": _cross_entropy_back,
    "cumprod": _running(np.cumprod),
    "cumsum": _running(np.cumsum),
    "divide_no_nan": lambda a, b: _where_nonzero(b, np.divide, a, b),
    "tanh_back": lambda a, b: a * (1 - np.square(b)),
    "dropout": _dropout,
    "erf": special.erf,
    "gated": lambda a, b: np.where(b, a, 0.0),
    "gather": lambda x, indices, axis: np.take(x, indices, axis),
    "gather_rows": lambda x, indices: x[indices],
    "getitem": lambda x, index: x[index],
    "linear_scan": _linear_scan,
    "log_softmax": special.log_softmax,
    "lstm_cell": _lstm_cell,
    "lstm_cell_back": _lstm_cell_back,
    "masked": lambda x, condition: np.where(condition, x, 0),
    "matmul": _matmul,
    "multiply_no_nan": lambda a, b: _where_nonzero(b, np.multiply, a, b),
    "one_hot": _one_hot,
    "pad": lambda x, widths: np.pad(x, widths) if widths else x,
    "put": _put,
    "put_along_axis": _put_along_axis,
    "reduce_all": _reduced(np.all),
    "reduce_any": _reduced(np.any),
    "reduce_logsumexp": _logsumexp,
    "reduce_max": _empty_safe(np.max, -np.inf),
    "reduce_mean": _mean,
    "reduce_min": _empty_safe(np.min, np.inf),
    "reduce_prod": _reduced(np.prod),
    "reduce_sum": _reduced(np.sum),
    "relu": lambda x: np.where(x > 0, x, 0),
    "reshape": lambda x, shape: np.array(x.ravel().tolist()).reshape(shape),
    "root": np.sqrt,
    "rsqrt": lambda x: x**-0.5,
    "scatter_add": _scatter_add,
    "sigmoid": special.expit,
    "sigmoid_cross_entropy": lambda x, y: (
        -y * special.log_expit(x) - (1 - y) * special.log_expit(-x)
    ),
    "softmax": special.softmax,
    "softmax_cross_entropy": _cross_entropy,
    "softplus": lambda x: -special.log_expit(-x),
    "sparse_cross_entropy_back": _sparse_cross_entropy_back,
    "sparse_softmax_cross_entropy": _sparse_cross_entropy,
    "sparsemax": _sparsemax,
    "split": lambda x, sizes, axis: tuple(np.split(x, np.cumsum(sizes)[:-1], axis)),
    "stack": lambda *xs, axis: np.stack(xs, axis),
    "sum_to": _sum_to,
    "take_along_axis": lambda x, indices, axis: np.take_along_axis(x, indices, axis),
    "transpose": lambda x, perm: np.einsum(x, list(range(x.ndim)), list(perm)),
    "unstack": lambda x, axis: tuple(np.take(x, i, axis) for i in range(x.shape[axis])),
    "within": lambda x, what, size: x,
    "xdivy": lambda a, b: _where_nonzero(a, np.divide, a, b),
    "xlog1py": special.xlog1py,
    "xlogy": special.xlogy,
    **matrices.REFERENCES,
    **places.REFERENCES,
    **special_functions.REFERENCES,
    **assigning.REFERENCES,
    **attending.REFERENCES,
    **norms.REFERENCES,
    **recurrence.REFERENCES,
    **windows.REFERENCES,
}  # fmt: skip


def reference(name):
    """The reference of the op `name`; KeyError where there is none."""
    if name in REFERENCES:
        return REFERENCES[name]
    function = getattr(np, NUMPY_NAMES.get(name) or name, None)
    if function is None:
        raise KeyError(f"no reference for the op {name!r}: add one to tests/ops/references.py")
    return function
