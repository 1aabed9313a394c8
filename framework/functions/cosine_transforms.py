"""Functions of tf.signal: discrete cosine transforms, the mel scale, cepstral coefficients.

>>> import framework as tf
>>> tf.signal.dct([1.0, 1.0]).numpy()
array([4., 0.], dtype=float32)
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating
from framework.core.tensor import Tensor
from framework.functions.fourier import fitted
from framework.kernels.mel_scale import mel_weights
from framework.ops import fourier, movement
from framework.ops.complex import complex_, real


def _checked(x, type, n, axis, norm, what):
    x = floating(x, what)
    if axis != -1:
        raise InvalidArgumentError(f"{what}: expected `axis` -1, got {axis!r}.")
    if n is not None and n < 1:
        raise InvalidArgumentError(f"{what}: `n` must be a positive int or None, got {n!r}.")
    if type not in (1, 2, 3, 4):
        raise InvalidArgumentError(f"{what}: expected `type` 1, 2, 3 or 4, got {type!r}.")
    if norm not in (None, "ortho") or (norm and type == 1):
        allowed = "None" if type == 1 else "None or 'ortho'"
        raise InvalidArgumentError(
            f"{what}: expected `norm` {allowed} for type {type}, got {norm!r}."
        )
    if not x.dtype.is_floating or x.dtype.size < 4:
        raise DTypeError(f"{what}: expected float32 or float64, got {x.dtype}. Cast it by tf.cast.")
    if not x.ndim or (type == 1 and x.shape[-1] < 2):
        raise ShapeError(
            f"{what}: expected a last axis{' of size 2 or more' if type == 1 else ''}, got shape "
            f"{tuple(x.shape)}."
        )
    return x


@operation
def dct(
    input: TensorLike, type: Any = 2, n: Any = None, axis: Axis = -1,
    norm: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the discrete cosine transform along the last axis, as SciPy's `scipy.fftpack.dct`.

    Args:
        input: real numbers.
        type: 1, 2, 3 or 4.
        n: the length of the transform, by default that of the axis; a longer axis is cut, a shorter
            one padded with zeros.
        axis: -1.
        norm: "ortho" for the orthonormal transform (not available for type 1), or None.
    """
    x = _checked(input, type, n, axis, norm, "dct")
    return _cosines(x if n is None else fitted(x, int(n), x.ndim - 1), type, norm)


@operation
def idct(
    input: TensorLike, type: Any = 2, n: Any = None, axis: Axis = -1,
    norm: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the inverse of `dct`.

    If `norm` is None, the result is the inverse times 2 * length, or for type 1 times
    2 * (length - 1).
    """
    x = _checked(input, type, n, axis, norm, "idct")
    x = x if n is None else fitted(x, int(n), x.ndim - 1)
    return _cosines(x, {1: 1, 2: 3, 3: 2, 4: 4}[type], norm)


def _cosines(x, type, norm):
    n, last, dtype = x.shape[-1], x.ndim - 1, x.dtype.np
    if type == 1:
        back = movement.getitem(x, index=(Ellipsis, slice(-2, 0, -1)))
        return real(fourier.rfft(movement.concat(x, back, axis=last), length=2 * n - 2))
    if type == 4:  # Type 4 consists of the odd frequencies of a type 2 transform of length 2n.
        y = _cosines(fitted(x, 2 * n, last), 2, None)
        y = movement.getitem(y, index=(Ellipsis, slice(1, None, 2)))
        return y * math.sqrt(0.5 / n) if norm else y
    turns = np.exp(1j * math.pi / 2 / n * np.arange(n)).astype(np.result_type(dtype, np.complex64))
    weights = np.sqrt(np.where(np.arange(n), 0.5, 0.25) / n)
    if type == 2:
        y = fitted(fourier.rfft(fitted(x, 2 * n, last), length=2 * n), n, last)
        y = real(y * Tensor(2 * turns.conj()))
        return y * Tensor(weights.astype(dtype)) if norm else y
    # Type 3 is the transpose of type 2, with the first element halved.
    y = x * Tensor((0.5 / weights if norm else np.full(n, n)).astype(dtype))
    y = complex_(y, np.zeros((), dtype)) * Tensor(2 * turns)
    y = fourier.irfft(fitted(y, n + 1, last), length=2 * n)
    return fitted(y, n, last)


# ---- the mel scale -------------------------------------------------------------------------------


def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0, upper_edge_hertz: Any = 3800.0,
    dtype: DTypeLike = dtypes.float32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the weights that sum a spectrogram's frequencies into bands of the mel scale.

    Args:
        num_mel_bins: the number of bands, which are triangular and overlap by half.
        num_spectrogram_bins: the number of frequencies, from 0 to half of `sample_rate`.
        sample_rate: samples per second.
        lower_edge_hertz, upper_edge_hertz: the lowest and the highest frequency of the bands.
        dtype: a floating dtype.

    Returns:
        A tensor of shape (num_spectrogram_bins, num_mel_bins).

    >>> import framework as tf
    >>> tuple(tf.signal.linear_to_mel_weight_matrix(10).shape)
    (129, 10)
    """
    what, dtype = "linear_to_mel_weight_matrix", dtypes.as_dtype(dtype)
    bands, bins, rate = int(num_mel_bins), int(num_spectrogram_bins), float(sample_rate)
    low, high = float(lower_edge_hertz), float(upper_edge_hertz)
    if not 0 <= low < high <= rate / 2 or bands < 1 or bins < 1 or not dtype.is_floating:
        raise InvalidArgumentError(
            f"{what}: expected positive numbers of bins, 0 <= lower_edge_hertz < upper_edge_hertz "
            f"<= sample_rate / 2 and a floating dtype, got num_mel_bins={bands}, "
            f"num_spectrogram_bins={bins}, lower_edge_hertz={low}, upper_edge_hertz={high}, "
            f"sample_rate={rate} and dtype={dtype}."
        )
    weights = mel_weights(bands, bins, rate, low, high)
    return Tensor(weights.astype(dtype.np))


@operation
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """Return mel-frequency cepstral coefficients: `dct` over the bands, divided by √(2 * bands).

    Args:
        log_mel_spectrograms: logarithms of shape (..., bands).
    """
    x = floating(log_mel_spectrograms, "mfccs_from_log_mel_spectrograms")
    bands = x.shape[-1] if x.ndim else 0
    if not bands:
        raise InvalidArgumentError(
            "mfccs_from_log_mel_spectrograms: expected at least one band, got shape "
            f"{tuple(x.shape)}."
        )
    return dct(x) * (1 / math.sqrt(2 * bands))
