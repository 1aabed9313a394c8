"""Fourier transforms of keras.ops; complex numbers are pairs (real, imaginary) of tensors.

>>> from framework import keras
>>> real, imaginary = keras.ops.rfft([1.0, 0.0, -1.0, 0.0])
>>> real.numpy(), imaginary.numpy()
(array([0., 2., 0.], dtype=float32), array([0., 0., 0.], dtype=float32))
"""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.keras.ops.argument_conversion import floating
from framework.ops import fourier, movement
from framework.ops.casting import widened
from framework.ops.complex import complex_, imag, real


def _real(x, rank, what):
    """Convert `x` to a real tensor of 32 bits or more with at least `rank` axes."""
    x = widened(floating(x))
    if not x.dtype.is_floating:
        raise DTypeError(f"{what}: expected real numbers, got {x.dtype}. Give them as a pair.")
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
            f"{what}: the parts of `x` must have one shape, got {tuple(a.shape)} and "
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
        The same kind of pair.

    Example:
        >>> from framework import keras
        >>> keras.ops.fft(([1.0, 1.0], [0.0, 0.0]))[0].numpy()
        array([2., 0.], dtype=float32)
    """
    z = _joined(x, 1, "fft")
    return _parts(fourier.fft(z, axes=(z.ndim - 1,)))


@operation
def fft2(x: Any) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform along the last two axes, for pairs as `fft`."""
    z = _joined(x, 2, "fft2")
    return _parts(fourier.fft(z, axes=(z.ndim - 2, z.ndim - 1)))


@operation
def ifft2(x: Any) -> tuple[Tensor, Tensor]:
    """Return the inverse of `fft2`, for pairs as `fft`."""
    z = _joined(x, 2, "ifft2")
    return _parts(fourier.ifft(z, axes=(z.ndim - 2, z.ndim - 1)))


@operation
def rfft(x: TensorLike, fft_length: Any = None) -> tuple[Tensor, Tensor]:
    """Return the frequencies from 0 to the half of real numbers' transform along the last axis.

    Args:
        x: real numbers.
        fft_length: the length of the transform, by default that of the axis; numbers beyond it are
            left out, and zeros added up to it.

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
        fft_length: how many numbers to return, by default the even one, 2 (frequencies - 1).
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
