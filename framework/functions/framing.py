"""Functions of tf.signal: split signals into frames, overlap-add, short-time Fourier transforms.

>>> import framework as tf
>>> tf.signal.frame([1, 2, 3, 4], frame_length=2, frame_step=1).numpy().tolist()
[[1, 2], [2, 3], [3, 4]]
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating
from framework.core.tensor import Tensor
from framework.functions.cosine_transforms import dct
from framework.functions.fourier import fitted, irfft, rfft
from framework.functions.movement import pad
from framework.functions.signal_windows import hann_window, vorbis_window
from framework.ops import elementwise, framing, movement
from framework.ops.reduction import reduce_sum


def _positive(value, what):
    number = np.asarray(value if isinstance(value, (int, np.ndarray)) else tensor(value))
    if number.ndim or number.dtype.kind not in "iu" or number < 1:
        raise InvalidArgumentError(f"{what}: expected a positive int, got {value!r}.")
    return int(number)


def _of_rank(x, rank, what):
    if x.ndim < rank:
        raise ShapeError(f"{what}: expected rank {rank} or more, got shape {tuple(x.shape)}.")
    return x


@operation
def frame(
    signal: TensorLike, frame_length: Any, frame_step: Any, pad_end: Any = False,
    pad_value: TensorLike = 0, axis: Axis = -1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Split an axis into frames of `frame_length` elements that begin `frame_step` apart.

    Args:
        signal: a tensor of shape (..., size, ...).
        frame_length, frame_step: ints.
        pad_end: True to begin a frame at each step, and to pad frames beyond the end.
        pad_value: the value of the padding.
        axis: the axis to split.

    Returns:
        A tensor of shape (..., frames, frame_length, ...).
    """
    x = _of_rank(tensor(signal), 1, "frame")
    length, step = _positive(frame_length, "frame_length"), _positive(frame_step, "frame_step")
    axis = one_axis(axis, x.ndim, "frame")
    size = x.shape[axis]
    if pad_end:
        count = -(-size // step)
        missing = max(0, length + step * (count - 1) - size)
        widths = [(0, missing if a == axis else 0) for a in range(x.ndim)]
        x = pad(x, widths, constant_values=pad_value)
    else:
        count = framing.frames_in(size, length, step)
    last = x.ndim - 1
    if axis != last:
        x = movement.transpose(x, perm=(*(a for a in range(x.ndim) if a != axis), axis))
    y = framing.frame(x, length=length, step=step, count=count)
    if axis != last:
        y = movement.transpose(y, perm=(*range(axis), last, last + 1, *range(axis, last)))
    return y


@operation
def overlap_and_add(signal: TensorLike, frame_step: Any, name: str | None = None) -> Tensor:
    """Return the signal that is the sum of overlapping frames, which begin `frame_step` apart.

    Args:
        signal: frames, of shape (..., frames, frame_length).
        frame_step: an int.

    Returns:
        A tensor of shape (..., (frames - 1) * frame_step + frame_length).

    >>> import framework as tf
    >>> tf.signal.overlap_and_add([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]], 2).numpy()
    array([1., 1., 3., 2., 2.], dtype=float32)
    """
    x = _of_rank(tensor(signal), 2, "overlap_and_add")
    step = _positive(frame_step, "overlap_and_add: frame_step")
    count, length = x.shape[-2:]
    return framing.overlap_add(x, step=step, size=(count - 1) * step + length)


# ---- Fourier transforms of frames ----------------------------------------------------------------


def _transform_length(fft_length, frame_length):
    if fft_length is None:
        return 2 ** math.ceil(math.log2(frame_length))
    return _positive(fft_length, "fft_length")


@operation
def stft(
    signals: TensorLike, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: Callable | None = hann_window, pad_end: Any = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the short-time Fourier transform: `rfft` of each frame times a window.

    Args:
        signals: real numbers of shape (..., samples).
        frame_length, frame_step: the length of a frame, and the distance between frames.
        fft_length: the length of the transform; by default the next power of 2.
        window_fn: called as `window_fn(frame_length, dtype=...)`, returns the window; or None.
        pad_end: True to fill frames beyond the end with zeros.

    Returns:
        Complex numbers of shape (..., frames, fft_length // 2 + 1).

    >>> import framework as tf
    >>> tuple(tf.signal.stft(tf.ones(16), frame_length=8, frame_step=4).shape)
    (3, 5)
    """
    x = _of_rank(floating(signals, "stft"), 1, "stft")
    length = _positive(frame_length, "stft: frame_length")
    frames = frame(x, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=x.dtype)
    return rfft(frames, [_transform_length(fft_length, length)])


@operation
def inverse_stft(
    stfts: TensorLike, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: Callable | None = hann_window, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the sum of overlapping frames whose Fourier transforms are `stfts`.

    Args:
        stfts: complex numbers of shape (..., frames, fft_length // 2 + 1).
        frame_length, frame_step, fft_length: those of `stft`.
        window_fn: returns the window to multiply each frame by before the sum.
            `inverse_stft_window_fn(frame_step)` recovers the signals, except at both ends, where
            fewer frames overlap.

    Returns:
        Real numbers of shape (..., (frames - 1) * frame_step + frame_length).
    """
    x = _of_rank(tensor(stfts), 2, "inverse_stft")
    length = _positive(frame_length, "inverse_stft: frame_length")
    frames = irfft(x, [_transform_length(fft_length, length)])
    frames = fitted(frames, length, frames.ndim - 1)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable = hann_window, name: str | None = None
) -> Callable:
    """Return the `window_fn` with which `inverse_stft` inverts an `stft` with another window.

    Args:
        frame_step: an int.
        forward_window_fn: the `window_fn` of `stft`.
    """
    step = _positive(frame_step, "inverse_stft_window_fn: frame_step")

    def window_fn(frame_length, dtype):
        length = _positive(frame_length, "frame_length")
        window = tensor(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // step)
        parts = movement.reshape(
            fitted(elementwise.square(window), overlaps * step, 0), shape=(overlaps, step)
        )
        total = reduce_sum(parts, axis=(0,), keepdims=False)
        total = movement.gather(total, np.arange(length) % step, axis=0)
        return elementwise.divide(window, total)

    return window_fn


# ---- the modified discrete cosine transform ------------------------------------------------------


@operation
def mdct(
    signals: TensorLike, frame_length: Any, window_fn: Callable | None = vorbis_window,
    pad_end: Any = False, norm: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the modified discrete cosine transform of frames that overlap by half.

    Args:
        signals: real numbers of shape (..., samples).
        frame_length: an int, a multiple of 4.
        window_fn: called as `window_fn(frame_length, dtype=...)`; None for 1/√2.
        pad_end: True to fill frames beyond the end with zeros.
        norm: "ortho" for the orthonormal transform, or None.

    Returns:
        Real numbers of shape (..., frames, frame_length // 2).
    """
    x = _of_rank(floating(signals, "mdct"), 1, "mdct")
    length = _positive(frame_length, "mdct: frame_length")
    if length % 4:
        raise InvalidArgumentError(f"mdct: expected a multiple of 4 as frame_length, got {length}.")
    frames = _windowed(frame(x, length, length // 2, pad_end), window_fn, length)
    last = frames.ndim - 1
    a, b, c, d = movement.split(frames, sizes=(length // 4,) * 4, axis=last)
    c, b = movement.flip(c, axis=(last,)), movement.flip(b, axis=(last,))
    return dct(movement.concat(elementwise.negative(c) - d, a - b, axis=last), type=4, norm=norm)


@operation
def inverse_mdct(
    mdcts: TensorLike, window_fn: Callable | None = vorbis_window, norm: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the signals of shape (..., samples) whose `mdct` is `mdcts`."""
    x = _of_rank(floating(mdcts, "inverse_mdct"), 2, "inverse_mdct")
    half, last = x.shape[-1], x.ndim - 1
    y = dct(x, type=4, norm=norm)
    if norm is None:
        y = y * (0.5 / half)
    a, b = movement.split(y, sizes=(half // 2,) * 2, axis=last)
    backwards = [elementwise.negative(movement.flip(part, axis=(last,))) for part in (b, a)]
    frames = movement.concat(b, *backwards, elementwise.negative(a), axis=last)
    return overlap_and_add(_windowed(frames, window_fn, 2 * half), half)


def _windowed(frames, window_fn, length):
    if window_fn is None:
        return frames * (1 / math.sqrt(2))
    return frames * window_fn(length, dtype=frames.dtype)
