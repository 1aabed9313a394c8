"""Windows that slide over spatial axes: output sizes, padding, and views of the windows.

Arrays are channels-last, (batch, *spatial, channels). A window of `size` pixels, `dilations` apart,
moves by `strides` over the spatial axes. `padding` is ((before, after), ...), or "SAME", which pads
for ceil(size / stride) positions and puts an odd pixel of padding after. Each of these attributes
has one entry per spatial axis.
"""

import itertools

import numpy as np


def output_sizes(spatial, size, strides, padding, dilations):
    """Return the number of window positions along each spatial axis; None where unknown."""
    if padding == "SAME":
        return tuple(None if n is None else -(-n // s) for n, s in zip(spatial, strides))
    return tuple(
        None if n is None else max((n + sum(p) - (k - 1) * d - 1) // s + 1, 0)
        for n, k, s, p, d in zip(spatial, size, strides, padding, dilations, strict=True)
    )


def amounts(padding, spatial, size, strides, dilations):
    """Return the padding in pixels, ((before, after), ...), also for "SAME"."""
    if padding != "SAME":
        return padding
    pairs = []
    for n, k, s, d in zip(spatial, size, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pairs.append((total // 2, total - total // 2))
    return tuple(pairs)


def padded(x, padding, fill=0):
    """Return `x` padded with `fill` along its spatial axes; `x` itself without padding."""
    if not any(map(any, padding)):
        return x
    spatial = x.shape[1:-1]
    sizes = [n + before + after for n, (before, after) in zip(spatial, padding, strict=True)]
    wide = np.full((x.shape[0], *sizes, x.shape[-1]), fill, x.dtype)
    wide[_middle(spatial, padding)] = x
    return wide


def unpadded(wide, spatial, padding):
    """Return a padded array without its padding: the adjoint of `padded`."""
    return wide[_middle(spatial, padding)] if any(map(any, padding)) else wide


def widened(spatial, padding):
    """Return the spatial sizes including padding."""
    return tuple(n + sum(p) for n, p in zip(spatial, padding, strict=True))


def _middle(spatial, padding):
    inner = [slice(before, before + n) for n, (before, _) in zip(spatial, padding, strict=True)]
    return (slice(None), *inner)


def view(wide, size, strides, dilations, places):
    """Return a view (batch, *places, *size, channels): the window at each position."""
    batch, *spatial, channels = wide.strides
    moves = [n * s for n, s in zip(spatial, strides, strict=True)]
    steps = [n * d for n, d in zip(spatial, dilations, strict=True)]
    return np.lib.stride_tricks.as_strided(
        wide, (wide.shape[0], *places, *size, wide.shape[-1]),
        (batch, *moves, *steps, channels), writeable=False,
    )  # fmt: skip


def cells(size, strides, dilations, places):
    """Yield each window pixel's offsets, and an index that selects this pixel in all windows."""
    for offsets in itertools.product(*map(range, size)):
        index = [
            slice(o * d, o * d + (n - 1) * s + 1, s) if n else slice(0, 0)
            for o, s, d, n in zip(offsets, strides, dilations, places, strict=True)
        ]
        yield offsets, (slice(None), *index)


def into(y, out):
    """Return `y` copied into `out` (unless they share memory); without `out`, `y` made contiguous.

    BLAS rounds differently for other memory layouts, so the next op must get the same layout as in
    a compiled plan, where `out` is contiguous.
    """
    if out is None:
        return np.ascontiguousarray(y)
    if np.may_share_memory(y, out):
        return y
    out[...] = y
    return out


def wide_enough(dtype):
    """Return the dtype in which to sum: float32 for 16-bit floats, else `dtype`."""
    return np.dtype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else dtype


def transposed(places, size, strides, same, output_padding, dilations):
    """Return (sizes, padding) of the convolution whose input gradient a transposed convolution is.

    A dilated window covers reach = (size - 1) * dilation + 1 pixels. With "valid" padding (not
    `same`), n pixels become (n - 1) * stride + max(reach, stride) pixels, with "same" n * stride;
    `output_padding` is added to the smallest size that has n positions.
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
            # `added` is the total padding of the input, which has (n - 1) * stride + 1 pixels after
            # dilation by the stride; `before` is at most reach - 1.
            added = s + reach - 2 if extra is None else reach + odd - 2 + extra
            before = reach - 1 - min(added - added // 2, reach - 1)
            length = s if extra is None else odd + extra
        sizes.append(None if n is None else (n - 1) * s + length)
        padding.append((before, max(reach - before - length, 0)))
    return tuple(sizes), tuple(padding)


def halves(*arrays):
    """Return the given arrays in float32 if the first one has 16-bit floats, else None."""
    dtype = arrays[0].dtype
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return [a.astype(np.float32) for a in arrays]
    return None
