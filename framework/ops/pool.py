"""Pooling over windows. Arrays are channels-last; each attribute has one entry per spatial axis."""

import math

import numpy as np

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, no_derivative
from framework.kernels import pool as kernels
from framework.kernels.windows import output_sizes
from framework.ops.elementwise import divide


def _pool_infer(x, *, size, strides, padding, dilations):
    places = output_sizes(x.shape[1:-1], size, strides, padding, dilations)
    return (x.shape[0], *places, x.shape[-1]), x.dtype


def _index_infer(x, **window):
    (batch, *places, channels), _ = _pool_infer(x, **window)
    total = None if None in places else math.prod(places)
    return (batch, total, channels), np.dtype(np.int64)


# `max_index` returns, for each window, the index of its first maximum in the flattened spatial axes
# of the input.
max_index = Op("max_index", kernels.max_index, no_derivative, infer=_index_infer, fresh=True)


# `max_cell` returns, for each window, the index of its first maximum within the window.
max_cell = Op(
    "max_cell", kernels.max_cell, no_derivative,
    infer=lambda x, **window: (_pool_infer(x, **window)[0], kernels.cell_dtype(window["size"])),
    fresh=True,
)  # fmt: skip


def _put(g, chosen, x_shape, size, strides, padding, dilations):
    return cell_put(
        g, chosen, sizes=tuple(x_shape[1:-1]), size=size, strides=strides, padding=padding,
        dilations=dilations,
    )  # fmt: skip


# `cell_take` picks one element of each window by its index within the window. `cell_put` is its
# adjoint.
cell_take = Op("cell_take", kernels.cell_take, _put, no_derivative,
               infer=lambda x, chosen, **_: (chosen.shape, x.dtype), fresh=True)  # fmt: skip
cell_put = Op(
    "cell_put", no_warnings(kernels.cell_put),
    lambda h, chosen, size, strides, padding, dilations: cell_take(
        h, chosen, size=size, strides=strides, padding=padding, dilations=dilations
    ),
    no_derivative, infer=lambda g, _, *, sizes, **__: ((g.shape[0], *sizes, g.shape[-1]), g.dtype),
    fresh=True,
)  # fmt: skip


def _max_pool_vjp(g, x, saved, x_shape, size, strides, padding, dilations):
    """Give the whole cotangent to the first maximum of each window, as TensorFlow does."""
    window = {"size": size, "strides": strides, "padding": padding, "dilations": dilations}
    chosen = saved[0] if saved else max_cell(x, **window)
    return _put(g, chosen, x_shape, **window)


max_pool = Op(
    "max_pool", kernels.max_pool, _max_pool_vjp, saves=True, infer=_pool_infer, fresh=True
)


def _spread(g, x_shape, size, strides, padding, dilations):
    return window_spread(
        g, sizes=tuple(x_shape[1:-1]), size=size, strides=strides, padding=padding,
        dilations=dilations,
    )  # fmt: skip


window_sum = Op(
    "window_sum", no_warnings(kernels.window_sum), _spread, infer=_pool_infer, fresh=True
)
window_spread = Op(
    "window_spread", no_warnings(kernels.window_spread),
    lambda h, size, strides, padding, dilations: window_sum(
        h, size=size, strides=strides, padding=padding, dilations=dilations
    ),
    infer=lambda g, *, sizes, **_: ((g.shape[0], *sizes, g.shape[-1]), g.dtype), fresh=True,
)  # fmt: skip


def _count_infer(x, **window):
    (_, *places, _), dtype = _pool_infer(x, **window)
    return (1, *places, 1), dtype


window_count = Op("window_count", kernels.window_count, no_derivative, infer=_count_infer)


def mean_pool(x, *, size, strides, padding, dilations):
    """Return the mean of each window's elements that lie in the input, without the padding."""
    window = {"size": size, "strides": strides, "padding": padding, "dilations": dilations}
    total = window_sum(x, **window)
    if padding != "SAME" and not any(map(any, padding)):
        return divide(total, math.prod(size))
    return divide(total, window_count(x, **window))
