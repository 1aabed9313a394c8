"""Functions of tf.signal that return windows: weights that fade out a frame at both ends.

>>> import framework as tf
>>> tf.signal.hann_window(4).numpy()
array([0. , 0.5, 1. , 0.5], dtype=float32)
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.tensor import Tensor
from framework.ops import elementwise, movement, reduction, special


def _length(window_length, what):
    n = np.asarray(tensor(window_length))
    if n.ndim or n.dtype.kind not in "iu" or n < 0:
        raise InvalidArgumentError(
            f"{what}: `window_length` must be an int >= 0, got {window_length!r}."
        )
    return int(n)


def _floating(dtype, what):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise InvalidArgumentError(f"{what}: expected a floating `dtype`, got {dtype}.")
    return dtype.np


def _raised_cosine(window_length, periodic, dtype, mean, what):
    dtype, n = _floating(dtype, what), _length(window_length, what)
    if n == 1:
        return Tensor(np.ones(1, dtype))
    # As in TensorFlow, `periodic` has no effect if the length is odd: the window is symmetric.
    turn = n if periodic and n % 2 == 0 else n - 1
    angles = np.arange(n) * (2 * math.pi / turn) if n else np.zeros(0)
    return Tensor((mean - (1 - mean) * np.cos(angles)).astype(dtype))


def hann_window(
    window_length: Any, periodic: Any = True, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the Hann window, (1 - cos(t)) / 2 for t from 0 to 2π.

    Args:
        window_length: an int.
        periodic: True for a period of `window_length` elements (if it is even), False for a
            symmetric window.
        dtype: a floating dtype.
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, "hann_window")


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the Hamming window, 0.54 - 0.46 cos(t) for t from 0 to 2π; see `hann_window`."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, "hamming_window")


def kaiser_window(
    window_length: Any, beta: TensorLike = 12.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the Kaiser window; a larger `beta` gives a narrower window."""
    dtype, n = _floating(dtype, "kaiser_window"), _length(window_length, "kaiser_window")
    if n == 1:
        return Tensor(np.ones(1, dtype))
    place = np.linspace(-1, 1, n)
    beta = tensor(beta, dtype, casts=True)
    inside = Tensor(np.sqrt(np.maximum(1 - place * place, 0)).astype(dtype)) * beta
    bessel = elementwise.divide(special.bessel_i0e(inside), special.bessel_i0e(beta))
    return elementwise.exp(inside - beta) * bessel


def kaiser_bessel_derived_window(
    window_length: Any, beta: TensorLike = 12.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the Kaiser-Bessel-derived window; squares of elements half a length apart sum to 1."""
    half = _length(window_length, "kaiser_bessel_derived_window") // 2
    sums = reduction.cumsum(kaiser_window(half + 1, beta, dtype), axis=0, reverse=False)
    rising = elementwise.sqrt(elementwise.divide(sums[:-1], sums[-1]))
    return movement.concat(rising, movement.flip(rising, axis=(0,)), axis=0)


def vorbis_window(
    window_length: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Return the window of the Vorbis codec; squares of elements half a length apart sum to 1."""
    dtype, n = _floating(dtype, "vorbis_window"), _length(window_length, "vorbis_window")
    inner = np.sin(math.pi / max(n, 1) * (np.arange(n) + 0.5)) ** 2
    return Tensor(np.sin(math.pi / 2 * inner).astype(dtype))
