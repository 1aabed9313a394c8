"""Windows that slide over spatial axes: their sizes, and the views and slices that show them.

Arrays are channels-last, (batch, *spatial, channels). A window of `size` cells, `dilations` apart,
moves by `strides` over the spatial axes, which `padding` = ((before, after), ...) widens; or
"SAME": as much as makes ceil(size / stride) places, the odd cell after. Each of these attributes
has one entry per spatial axis.
"""

import itertools

import numpy as np


def output_sizes(spatial, size, strides, padding, dilations):
    """How many places the window takes along each spatial axis; None where unknown."""
    if padding == "SAME":
        return tuple(None if n is None else -(-n // s) for n, s in zip(spatial, strides))
    return tuple(
        None if n is None else max((n + sum(p) - (k - 1) * d - 1) // s + 1, 0)
        for n, k, s, p, d in zip(spatial, size, strides, padding, dilations, strict=True)
    )


def amounts(padding, spatial, size, strides, dilations):
    """The padding in numbers: ((before, after), ...)."""
    if padding != "SAME":
        return padding
    found = []
    for n, k, s, d in zip(spatial, size, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        found.append((total // 2, total - total // 2))
    return tuple(found)


def padded(x, padding, fill=0):
    """`x` with its spatial axes widened by `fill`; `x` itself where nothing is to be added."""
    if not any(map(any, padding)):
        return x
    spatial = x.shape[1:-1]
    sizes = [n + before + after for n, (before, after) in zip(spatial, padding, strict=True)]
    wide = np.full((x.shape[0], *sizes, x.shape[-1]), fill, x.dtype)
    wide[_middle(spatial, padding)] = x
    return wide


def unpadded(wide, spatial, padding):
    """The inner part of a widened array: the adjoint of `padded`."""
    return wide[_middle(spatial, padding)] if any(map(any, padding)) else wide


def widened(spatial, padding):
    """The spatial sizes with padding."""
    return tuple(n + sum(p) for n, p in zip(spatial, padding, strict=True))


def _middle(spatial, padding):
    inner = [slice(before, before + n) for n, (before, _) in zip(spatial, padding, strict=True)]
    return (slice(None), *inner)


def view(wide, size, strides, dilations, places):
    """A view (batch, *places, *size, channels): the window at each of its places."""
    batch, *spatial, channels = wide.strides
    moves = [n * s for n, s in zip(spatial, strides, strict=True)]
    steps = [n * d for n, d in zip(spatial, dilations, strict=True)]
    return np.lib.stride_tricks.as_strided(
        wide, (wide.shape[0], *places, *size, wide.shape[-1]),
        (batch, *moves, *steps, channels), writeable=False,
    )  # fmt: skip


def cells(size, strides, dilations, places):
    """For each cell of the window, in order: its offsets, and its index at all places."""
    for offsets in itertools.product(*map(range, size)):
        index = [
            slice(o * d, o * d + (n - 1) * s + 1, s) if n else slice(0, 0)
            for o, s, d, n in zip(offsets, strides, dilations, places, strict=True)
        ]
        yield offsets, (slice(None), *index)


def into(y, out):
    """`y`, in the array `out` where that is given."""
    if out is None or np.may_share_memory(y, out):
        return y
    out[...] = y
    return out


def wide_enough(dtype):
    """The dtype to add up in: half-precision floats are added up in float32."""
    return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def transposed(places, size, strides, same, output_padding, dilations):
    """(sizes, padding) of the convolution whose input gradient a transposed convolution is.

    By "valid" (not `same`) an axis of n cells becomes (n - 1) * stride + max(reach, stride) long,
    by "same" n * stride; with `output_padding` by as much longer than the least that goes back.
    """
    extras = output_padding or (None,) * len(size)
    sizes, padding = [], []
    for n, k, s, extra, d in zip(places, size, strides, extras, dilations, strict=True):
        reach = (k - 1) * d + 1
        if not same:
            before = 0
            length = reach + (max(s - reach, 0) if extra is None else extra)
        else:
            odd = reach % 2
            # what is added to (n - 1) * stride + 1 cells: on the left at most reach - 1 of it
            added = s + reach - 2 if extra is None else reach + odd - 2 + extra
            before = reach - 1 - min(added - added // 2, reach - 1)
            length = s if extra is None else odd + extra
        sizes.append(None if n is None else (n - 1) * s + length)
        padding.append((before, max(reach - before - length, 0)))
    return tuple(sizes), tuple(padding)


def halves(*arrays):
    """The arrays in float32 where the first one is of 16-bit floats; else None."""
    dtype = arrays[0].dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return [a.astype(np.float32) for a in arrays]
    return None
