"""Functions of tf.signal: Fourier transforms of complex and real numbers along the last axes.

>>> import framework as tf
>>> tf.signal.rfft([1.0, 0.0, -1.0, 0.0]).numpy()
array([0.+0.j, 2.+0.j, 0.+0.j], dtype=complex64)
"""

from typing import Any

import numpy as np

from framework.core.argument_types import Axis, TensorLike
from framework.core.axes import all_axes
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.ops import fourier, movement
from framework.ops.complex import real

# ---- complex numbers -----------------------------------------------------------------------------


def _complex(x, rank, what):
    x = tensor(x)
    if not x.dtype.is_complex:
        raise DTypeError(
            f"{what}: expected complex numbers, got {x.dtype}. Cast it: tf.cast(x, tf.complex64)."
        )
    return _of_rank(x, rank, what)


def _of_rank(x, rank, what):
    if x.ndim < rank:
        raise ShapeError(f"{what}: expected rank {rank} or more, got shape {tuple(x.shape)}.")
    return x


def _transform(op, x, rank, what):
    x = _complex(x, rank, what)
    return op(x, axes=tuple(range(x.ndim - rank, x.ndim)))


@operation
def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the discrete Fourier transform of complex numbers along the last axis.

    Args:
        input: complex64 or complex128.

    Example:
        >>> import framework as tf
        >>> tf.signal.fft(tf.constant([1, 1], tf.complex64)).numpy()
        array([2.+0.j, 0.+0.j], dtype=complex64)
    """
    return _transform(fourier.fft, input, 1, "fft")


@operation
def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse of `fft`."""
    return _transform(fourier.ifft, input, 1, "ifft")


@operation
def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the discrete Fourier transform of complex numbers along the last two axes."""
    return _transform(fourier.fft, input, 2, "fft2d")


@operation
def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse of `fft2d`."""
    return _transform(fourier.ifft, input, 2, "ifft2d")


@operation
def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the discrete Fourier transform of complex numbers along the last three axes."""
    return _transform(fourier.fft, input, 3, "fft3d")


@operation
def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the inverse of `fft3d`."""
    return _transform(fourier.ifft, input, 3, "ifft3d")


# ---- real numbers --------------------------------------------------------------------------------


def fitted(x, size, axis):
    """Cut an axis to `size` elements, or pad it with zeros to this size."""
    front, n = (slice(None),) * axis, x.shape[axis]
    if n > size:
        return movement.getitem(x, index=(*front, slice(size)))
    if n < size:
        after = ((0, 0),) * (x.ndim - axis - 1)
        return movement.pad(x, widths=(*((0, 0),) * axis, (0, size - n), *after))
    return x


def _lengths(given, default, what):
    if given is None:
        return default
    lengths = np.asarray(given)
    if lengths.shape != (len(default),) or lengths.dtype.kind not in "iu" or (lengths < 1).any():
        raise InvalidArgumentError(
            f"{what}: `fft_length` must be {len(default)} positive ints, got {given!r}."
        )
    return tuple(lengths.tolist())


def _real_transform(x, fft_length, rank, what):
    x = tensor(x)
    if not x.dtype.is_floating or x.dtype.size < 4:
        raise DTypeError(f"{what}: expected float32 or float64, got {x.dtype}. Cast it by tf.cast.")
    _of_rank(x, rank, what)
    lengths = _lengths(fft_length, tuple(x.shape[x.ndim - rank :]), what)
    for axis, length in enumerate(lengths, x.ndim - rank):
        x = fitted(x, length, axis)
    if not lengths[-1]:
        # a transform of length 0 has no frequencies
        return cast(x, dtype=np.result_type(x.dtype.np, np.complex64))
    y = fourier.rfft(x, length=lengths[-1])
    others = tuple(range(x.ndim - rank, x.ndim - 1))
    return fourier.fft(y, axes=others) if others else y


def _back_transform(x, fft_length, rank, what):
    x = _complex(x, rank, what)
    if fft_length is None and not x.shape[-1]:
        return real(x)  # an input without frequencies gives an empty result
    default = (*x.shape[x.ndim - rank : -1], 2 * (x.shape[-1] - 1))
    lengths = _lengths(fft_length, default, what)
    if lengths[-1] < 1:
        raise ShapeError(f"{what}: expected two frequencies or more, got shape {tuple(x.shape)}.")
    for axis, length in enumerate((*lengths[:-1], lengths[-1] // 2 + 1), x.ndim - rank):
        x = fitted(x, length, axis)
    others = tuple(range(x.ndim - rank, x.ndim - 1))
    y = fourier.ifft(x, axes=others) if others else x
    return fourier.irfft(y, length=lengths[-1])


@operation
def rfft(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Return the non-negative frequencies of the Fourier transform of real numbers.

    Args:
        input_tensor: float32 or float64.
        fft_length: one int in a list, the length of the transform, by default that of the axis;
            a longer axis is cut, a shorter one padded with zeros.

    Returns:
        complex64 or complex128, with fft_length // 2 + 1 frequencies.
    """
    return _real_transform(input_tensor, fft_length, 1, "rfft")


@operation
def irfft(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Return the real numbers whose `rfft` is `input_tensor`.

    Args:
        input_tensor: complex numbers.
        fft_length: one int in a list, how many numbers to return, by default 2 * (frequencies - 1).
    """
    return _back_transform(input_tensor, fft_length, 1, "irfft")


@operation
def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Return `rfft` along the last axis, followed by `fft` along the axis before it.

    `fft_length` is two ints, one for each axis.
    """
    return _real_transform(input_tensor, fft_length, 2, "rfft2d")


@operation
def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Return the real numbers whose `rfft2d` is `input_tensor`."""
    return _back_transform(input_tensor, fft_length, 2, "irfft2d")


@operation
def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Return `rfft` along the last axis, followed by `fft` along the two axes before it.

    `fft_length` is three ints, one for each axis.
    """
    return _real_transform(input_tensor, fft_length, 3, "rfft3d")


@operation
def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """Return the real numbers whose `rfft3d` is `input_tensor`."""
    return _back_transform(input_tensor, fft_length, 3, "irfft3d")


# ---- shifts --------------------------------------------------------------------------------------


def _shifted(x, axes, rounded, what):
    x = tensor(x)
    axes = all_axes(axes, x.ndim, what)
    shift = tuple(x.shape[axis] // 2 if rounded else -(x.shape[axis] // 2) for axis in axes)
    return movement.roll(x, shift=shift, axis=axes)


@operation
def fftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """Move the frequency 0 to the middle of the axes, by default of all axes.

    >>> import framework as tf
    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy()
    array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted(x, axes, True, "fftshift")


@operation
def ifftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """Return the inverse of `fftshift`."""
    return _shifted(x, axes, False, "ifftshift")
