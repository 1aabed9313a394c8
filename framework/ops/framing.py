"""Overlapping frames of the last axis: framing, overlap-add, Fourier transforms of frames, and
reflection at the ends."""

import math

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.op import movement
from framework.ops.elementwise import multiply
from framework.ops.fourier import rfft
from framework.ops.movement import flip, getitem, pad


def frames_in(size, length, step):
    """Return how many whole frames an axis of `size` elements has."""
    return max(0, 1 + (size - length) // step)


def _frame(x, *, length, step, count=None):
    count = frames_in(x.shape[-1], length, step) if count is None else count
    shape, strides = (*x.shape[:-1], count, length), x.strides
    if not count or not x.size:
        return np.zeros(shape, x.dtype)
    last = strides[-1]
    views = np.lib.stride_tricks.as_strided(
        x, shape, (*strides[:-1], last * step, last), writeable=False
    )
    return np.ascontiguousarray(views)


def _frame_vjp(g, x_shape, step):
    return overlap_add(g, step=step, size=x_shape[-1])


def _frame_infer(x, length, step, count=None):
    if count is None and x.shape[-1] is not None:
        count = frames_in(x.shape[-1], length, step)
    return (*x.shape[:-1], count, length), x.dtype


def _overlap_add(x, *, step, size=None):
    """Sum frames in parts of `step` elements: the k-th parts of different frames are disjoint."""
    count, length = x.shape[-2:]
    size = _overlapped(count, length, step) if size is None else size
    parts = -(-length // step)
    whole = np.zeros((*x.shape[:-2], count + parts, step), x.dtype)
    for part in range(parts):
        piece = x[..., part * step : (part + 1) * step]
        whole[..., part : part + count, : piece.shape[-1]] += piece
    whole = whole.reshape(*x.shape[:-2], (count + parts) * step)
    missing = size - whole.shape[-1]
    if missing > 0:
        return np.pad(whole, (*((0, 0),) * (whole.ndim - 1), (0, missing)))
    return whole[..., :size]


def _overlap_add_vjp(g, x_shape, step):
    return frame(g, length=x_shape[-1], step=step, count=x_shape[-2])


def _overlapped(count, length, step):
    return (count - 1) * step + length if count else 0


def _overlap_add_infer(x, step, size=None):
    if size is None and None not in x.shape[-2:]:
        size = _overlapped(*x.shape[-2:], step)
    return (*x.shape[:-2], size), x.dtype


# `frame` returns frames of `length` elements, `step` apart, as (..., count, length). Without
# `count`, it returns all frames that fit.
frame = movement("frame", _frame, _frame_vjp, fresh=True, infer=_frame_infer)
# `overlap_add` sums overlapping frames into an axis of `size` elements, which must hold all frames.
overlap_add = movement("overlap_add", _overlap_add, _overlap_add_vjp, infer=_overlap_add_infer)


# ---- extension of an axis by reflection ----------------------------------------------------------


def _reflect(x, *, width):
    if width >= max(x.shape[-1], 1):
        raise ValueError(
            f"expected an axis of more than {width} elements to reflect, got shape {tuple(x.shape)}"
        )
    return np.pad(x, (*((0, 0),) * (x.ndim - 1), (width, width)), mode="reflect")


def _reflect_vjp(g, x_shape, width):
    n, last = x_shape[-1], len(x_shape) - 1
    total = getitem(g, index=(Ellipsis, slice(width, width + n)))
    for edge, at in ((slice(width), 1), (slice(width + n, None), n - 1 - width)):
        back = flip(getitem(g, index=(Ellipsis, edge)), axis=(last,))
        total = total + pad(back, widths=(*((0, 0),) * last, (at, n - width - at)))
    return total


# `reflect` extends both ends of the last axis by `width` mirrored elements, without repeating the
# end elements.
reflect = movement(
    "reflect", _reflect, _reflect_vjp, raises=True, infer=lambda x, width: (
        (*x.shape[:-1], None if x.shape[-1] is None else x.shape[-1] + 2 * width), x.dtype
    ),
)  # fmt: skip


# ---- Fourier transforms of frames ----------------------------------------------------------------

_MEANS = {"hann": 0.5, "hamming": 0.54}


def periodic_window(name, length, what):
    """Return one period of the raised cosine "hann" or "hamming", in float64."""
    if name not in _MEANS:
        raise InvalidArgumentError(
            f"{what}: `window` must be 'hann', 'hamming', a vector or None, got {name!r}."
        )
    mean = _MEANS[name]
    turn = np.arange(length) * (2 * math.pi / length)
    return mean - (1 - mean) * np.cos(turn) if length > 1 else np.ones(1)


def centered(window, size):
    """Return a window padded with zeros on both sides to `size` elements."""
    length = window.shape[0]
    before = (size - length) // 2
    return pad(window, widths=((before, size - length - before),))


def short_time_transform(x, window, step, size, center):
    """Return `rfft` of frames of `size` elements, `step` apart, multiplied by a window or None."""
    if center:
        x = reflect(x, width=size // 2)
    frames = frame(x, length=size, step=step)
    frames = frames if window is None else multiply(frames, window)
    return rfft(frames, length=size)
