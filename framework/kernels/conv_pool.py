"""Convolution followed by 2 × 2 max pooling in one kernel, and its backward pass.

Outputs that pooling discards are never written to memory. The kernel is Winograd's algorithm
(`fast/winograd.py`), and the results are bitwise equal to those of
separate kernels. Other convolutions run a convolution kernel, then a pooling kernel.
"""

import numpy as np

from framework.kernels import choose, conv, pool, tier, windows
from framework.kernels.contiguous import contiguous

PAIRS = {"size": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0)), "dilations": (1, 1)}
"""The arguments of `pool.max_pool` for 2 × 2 pooling."""


def takes(x, w, **window):
    """Return whether one kernel can compute convolution and pooling.

    Args:
        x, w: objects with a shape and a dtype.
    """
    return tier.library("pool") is not None and conv.patches(x, w, **window) is not None


def conv_max_pool(x, w, b, *, relu, **window):
    """Return (y, saved): y is `conv.conv_bias` after 2 × 2 max pooling.

    `saved`, for the backward pass, is (indices of the maxima,).
    """
    how = conv.patches(x, w, **window) if takes(x, w, **window) else None
    if how is None or b.dtype != np.float32:
        all_y = conv.conv_bias(x, w, b, **window, relu=relu)
        y, saved = pool.max_pool(all_y, **PAIRS)
        return y, saved or (pool.max_cell(all_y, **PAIRS),)
    m, corner, places = how
    x, w, b = map(contiguous, (x, w, b))
    fast = tier.library("winograd")
    y, chosen = fast.conv(x, w, corner, places, m, bias=b, relu=relu, pairs=True)
    return y, (chosen,)


def conv_max_pool_back(g, x, w, y, chosen, *, relu, needed, out=None, **window):
    """Return those gradients of sum(g * conv_max_pool(x, w, b)) for x, w and b that are needed.

    Args:
        y, chosen: the result of `conv_max_pool` and the positions it saved.
        out: an array for the gradient with respect to x.
    """
    to_x, to_w, to_b = needed
    how = conv.patches(x, w, **window) if (to_x or to_w) and takes(x, w, **window) else None
    if how is None:
        return _one_by_one(g, x, w, y, chosen, relu, {**window, "needed": needed, "out": out})
    m, corner, places = how
    g, x, w, y, chosen = map(contiguous, (g, x, w, y, chosen))
    fast = tier.library("winograd_back")
    gradients = fast.conv_back(
        g, y if relu else g[:0], x if to_w else x.shape, w if to_x else None, corner, places, m,
        chosen=chosen, sums=to_b, out=out,
    )  # fmt: skip
    return tuple([d for d, wanted in zip(gradients, needed, strict=True) if wanted])


def _one_by_one(g, x, w, y, chosen, relu, options):
    if relu:
        g = choose.masked(g, y > 0)
    moves = options["strides"], options["padding"], options["dilations"]
    places = windows.output_sizes(x.shape[1:-1], w.shape[:-2], *moves)
    d = pool.cell_put(g, chosen, sizes=places, **PAIRS)
    return conv.conv_bias_back(d, x, w, None, **options, relu=False)
