"""Fourier transforms of keras.ops; complex numbers are pairs (real, imaginary) of tensors.

>>> from framework import keras
>>> real, imaginary = keras.ops.rfft([1.0, 0.0, -1.0, 0.0])
>>> real.numpy(), imaginary.numpy()
(array([0., 2., 0.], dtype=float32), array([0., 0., 0.], dtype=float32))
"""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.keras.ops import arrays
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.ops import elementwise, fourier, framing, movement
from framework.ops.casting import widened
from framework.ops.complex import complex_, imag, real


def _real(x, rank, what):
    """Convert `x` to a real tensor of 32 bits or more with at least `rank` axes."""
    x = widened(floating(x))
    if not x.dtype.is_floating:
        raise DTypeError(
            f"{what}: expected real numbers, got {x.dtype}. Give complex numbers to "
            f"fft as a pair (real, imaginary)."
        )
    if x.ndim < rank:
        raise ShapeError(f"{what}: expected rank {rank} or more, got shape {tuple(x.shape)}.")
    return x


def _joined(x, rank, what):
    """Return the complex tensor of the pair `x`."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise InvalidArgumentError(
            f"{what}: expected `x` to be a pair (real, imaginary) of tensors, got {x!r}. For real "
            "numbers use zeros as the imaginary part."
        )
    a, b = promote(*(_real(part, rank, what) for part in x))
    if a.ndim != b.ndim or any(m != n for m, n in zip(a.shape, b.shape) if None not in (m, n)):
        raise ShapeError(
            f"{what}: the parts of `x` must have the same shape, got {tuple(a.shape)} and "
            f"{tuple(b.shape)}."
        )
    return complex_(a, b)


def _parts(z):
    return real(z), imag(z)


@operation
def fft(x: Any) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform along the last axis.

    Args:
        x: a pair (real, imaginary) of tensors of one shape.

    Returns:
        A pair (real, imaginary) of the same shape.

    Example:
        >>> from framework import keras
        >>> keras.ops.fft(([1.0, 1.0], [0.0, 0.0]))[0].numpy()
        array([2., 0.], dtype=float32)
    """
    z = _joined(x, 1, "fft")
    return _parts(fourier.fft(z, axes=(z.ndim - 1,)))


@operation
def fft2(x: Any) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform along the last two axes; `x` is a pair as in `fft`."""
    z = _joined(x, 2, "fft2")
    return _parts(fourier.fft(z, axes=(z.ndim - 2, z.ndim - 1)))


@operation
def ifft2(x: Any) -> tuple[Tensor, Tensor]:
    """Return the inverse of `fft2`; `x` is a pair as in `fft`."""
    z = _joined(x, 2, "ifft2")
    return _parts(fourier.ifft(z, axes=(z.ndim - 2, z.ndim - 1)))


@operation
def rfft(x: TensorLike, fft_length: Any = None) -> tuple[Tensor, Tensor]:
    """Return the non-negative frequencies of the Fourier transform of real numbers.

    Args:
        x: real numbers.
        fft_length: the length of the transform, by default that of the axis; a longer axis is cut,
            a shorter one padded with zeros.

    Returns:
        A pair (real, imaginary) of tensors with fft_length // 2 + 1 frequencies.
    """
    x = _real(x, 1, "rfft")
    length = _length(fft_length, x.shape[-1], "rfft")
    return _parts(fourier.rfft(_fitted(x, length), length=length))


@operation
def irfft(x: Any, fft_length: Any = None) -> Tensor:
    """Return the real numbers whose `rfft` is `x`.

    Args:
        x: a pair (real, imaginary) of tensors of one shape.
        fft_length: how many numbers to return, by default the even number 2 (frequencies - 1).
    """
    z = _joined(x, 1, "irfft")
    length = _length(fft_length, 2 * (z.shape[-1] - 1), "irfft")
    return fourier.irfft(_fitted(z, length // 2 + 1), length=length)


def _length(given, default, what):
    length = int(default if given is None else given)
    if length < 1:
        raise InvalidArgumentError(f"{what}: expected a length of at least 1, got {length}.")
    return length


def _fitted(x, size):
    """Cut the last axis to `size`, or add zeros up to it."""
    if x.shape[-1] > size:
        return movement.getitem(x, index=(Ellipsis, slice(size)))
    if x.shape[-1] < size:
        return movement.pad(x, widths=(*((0, 0),) * (x.ndim - 1), (0, size - x.shape[-1])))
    return x


# ---- short-time transforms -----------------------------------------------------------------------


@operation
def stft(
    x: TensorLike, sequence_length: Any, sequence_stride: Any, fft_length: Any,
    window: Any = "hann", center: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the short-time Fourier transform: the `rfft` of windowed frames of the last axis.

    Args:
        x: float32 or float64, of shape (..., samples).
        sequence_length: the length of a frame and its window.
        sequence_stride: the distance between frames.
        fft_length: the length of the transform, at least `sequence_length`.
        window: "hann", "hamming", a vector, or None for no window.
        center: True to mirror fft_length // 2 samples at both ends, so that frame i is centered at
            the sample i * sequence_stride.

    Returns:
        A pair (real, imaginary) of tensors of shape (..., frames, fft_length // 2 + 1).

    Example:
        >>> from framework import keras
        >>> keras.ops.stft([0.0, 1.0, 2.0, 3.0, 4.0], 3, 2, 3)[0].numpy()
        array([[ 0.75 , -0.375],
               [ 3.75 , -1.875],
               [ 5.25 , -2.625]], dtype=float32)
    """
    x = floating(x) if isinstance(x, (list, tuple)) else tensor(x)
    if not x.dtype.is_floating or x.dtype.size < 4:
        raise DTypeError(f"stft: expected float32 or float64, got {x.dtype}. Cast it by ops.cast.")
    if not x.ndim:
        raise ShapeError("stft: expected rank 1 or more, got a 0-d tensor.")
    length, stride, size = _frames(sequence_length, sequence_stride, fft_length, "stft")
    weights = _window(window, length, size, x.dtype, "stft")
    return _parts(framing.short_time_transform(x, weights, stride, size, center))


@operation
def istft(
    x: Any, sequence_length: Any, sequence_stride: Any, fft_length: Any, length: Any = None,
    window: Any = "hann", center: bool = True,
) -> Tensor:  # fmt: skip
    """Return the signal whose `stft` with the same arguments is `x`.

    Args:
        x: a pair (real, imaginary) of tensors of shape (..., frames, fft_length // 2 + 1).
        sequence_length, sequence_stride, fft_length, window, center: those of `stft`.
        length: the largest number of samples to return.
    """
    z = _joined(x, 2, "istft")
    frame, stride, size = _frames(sequence_length, sequence_stride, fft_length, "istft")
    frames = fourier.irfft(_fitted(z, size // 2 + 1), length=size)
    weights = _window(window, frame, size, frames.dtype, "istft")
    signal = framing.overlap_add(frames if weights is None else frames * weights, step=stride)
    # the sum of overlapping frames is divided by that of the squared windows at each sample
    squares = np.ones(size, frames.dtype.np) if weights is None else elementwise.square(weights)
    each = movement.getitem(real(z), index=(Ellipsis, slice(1)))
    total = framing.overlap_add(arrays.ones_like(each) * squares, step=stride)
    total = elementwise.select(elementwise.greater(total, 1e-10), total, arrays.ones_like(total))
    signal = elementwise.divide(signal, total)
    signal = signal * (size / stride) if weights is None else signal
    start = size // 2 if center else 0
    end = -start or None if length is None else start + int(length)
    return movement.getitem(signal, index=(Ellipsis, slice(start, end)))


def _frames(length, stride, size, what):
    """Check the length of a frame, the stride, and the length of the transform."""
    for name, value in (("sequence_length", length), ("sequence_stride", stride)):
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise InvalidArgumentError(f"{what}: `{name}` must be a positive int, got {value!r}.")
    if size < length:
        raise InvalidArgumentError(
            f"{what}: `fft_length` must be at least `sequence_length`, got {size} and {length}."
        )
    return int(length), int(stride), int(size)


def _window(window, length, size, dtype, what):
    """Return the window padded with zeros to `size` elements, or None."""
    if window is None:
        return None
    if isinstance(window, str):
        window = framing.periodic_window(window, length, what)
    window = as_dtype(window, dtype)
    if tuple(window.shape) != (length,):
        raise ShapeError(
            f"{what}: `window` must have shape ({length},), got {tuple(window.shape)}."
        )
    return framing.centered(window, size)
