"""Functions of keras.ops for sequences of numbers: windows, differences, integrals, correlation.

>>> from framework import keras
>>> keras.ops.diff([1, 4, 9]).numpy()
array([3, 5], dtype=int32)
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import Axis, DTypeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.keras.ops import arrays, reduction
from framework.keras.ops.argument_conversion import as_dtype, floating
from framework.ops import elementwise, movement, special
from framework.ops.contraction import matmul
from framework.ops.division import promoted_floats

# ---- windows -----------------------------------------------------------------------------------


def _angles(x, what):
    """Return the angles 2πk / (n - 1) of a symmetric window of length n."""
    n = _length(x, what)
    return np.arange(n) * (2 * math.pi / max(n - 1, 1))


def _length(x, what):
    n = np.asarray(tensor(x))
    if n.ndim or n.dtype.kind not in "iu" or n < 0:
        raise InvalidArgumentError(f"{what}: expected a length, an int of at least 0, got {x!r}.")
    return int(n)


def _window(values):
    values = values if len(values) != 1 else np.ones(1)
    return Tensor(values.astype(dtypes.floatx().np))


@operation
def bartlett(x: TensorLike) -> Tensor:
    """Return the Bartlett window of length `x`: it rises linearly to 1 and falls to 0."""
    return _window(1 - np.abs(_angles(x, "bartlett") / math.pi - 1))


@operation
def hanning(x: TensorLike) -> Tensor:
    """Return the Hann window of length `x`: (1 - cos) / 2 over one period."""
    return _window(0.5 - 0.5 * np.cos(_angles(x, "hanning")))


@operation
def hamming(x: TensorLike) -> Tensor:
    """Return the Hamming window of length `x`: 0.54 - 0.46 cos over one period."""
    return _window(0.54 - 0.46 * np.cos(_angles(x, "hamming")))


@operation
def blackman(x: TensorLike) -> Tensor:
    """Return the Blackman window of length `x`: 0.42 - 0.5 cos + 0.08 cos of twice the angle."""
    angles = _angles(x, "blackman")
    return _window(0.42 - 0.5 * np.cos(angles) + 0.08 * np.cos(2 * angles))


@operation
def kaiser(x: TensorLike, beta: TensorLike) -> Tensor:
    """Return the Kaiser window of length `x`; a larger `beta` gives a narrower window."""
    place = _angles(x, "kaiser") / math.pi - 1 if _length(x, "kaiser") > 1 else np.zeros(1)
    root = np.sqrt(np.maximum(1 - place * place, 0)).astype(dtypes.floatx().np)
    beta = as_dtype(beta, dtypes.floatx())
    window = elementwise.divide(special.bessel_i0(beta * Tensor(root)), special.bessel_i0(beta))
    return window[: _length(x, "kaiser")]


# ---- evenly spaced on a logarithmic scale --------------------------------------------------------


@operation
def logspace(
    start: TensorLike, stop: TensorLike, num: Any = 50, endpoint: bool = True, base: Any = 10,
    dtype: DTypeLike = None, axis: Axis = 0,
) -> Tensor:  # fmt: skip
    """Return `base` to the power of `num` evenly spaced numbers from `start` to `stop`."""
    powers = arrays.linspace(start, stop, num, endpoint, axis=axis)
    made = elementwise.power(as_dtype(base, powers.dtype), powers)
    return made if dtype is None else as_dtype(made, dtype)


@operation
def geomspace(
    start: TensorLike, stop: TensorLike, num: Any = 50, endpoint: bool = True,
    dtype: DTypeLike = None, axis: Axis = 0,
) -> Tensor:  # fmt: skip
    """Return a geometric sequence of `num` numbers from `start` to `stop`.

    `start` and `stop` have the same sign and are not 0.
    """
    start, stop = (floating(v) for v in promote(start, stop))
    logs = (elementwise.log(elementwise.absolute(v)) for v in (start, stop))
    sizes = elementwise.exp(arrays.linspace(*logs, num, endpoint, axis=axis))
    sign = elementwise.sign(start)
    if sign.ndim:
        sign = arrays.expand_dims(sign, one_axis(axis, sizes.ndim, "geomspace"))
    made = sizes * sign
    return made if dtype is None else as_dtype(made, dtype)


# ---- differences, integrals, correlation ---------------------------------------------------------


@operation
def diff(a: TensorLike, n: Any = 1, axis: Axis = -1) -> Tensor:
    """Return the n-th difference along `axis`; for booleans, whether neighbors differ."""
    x = tensor(a)
    axis, n = one_axis(axis, x.ndim, "diff"), int(n)
    if n < 0:
        raise InvalidArgumentError(f"diff: `n` must be at least 0, got {n}.")
    for _ in range(n):
        later, earlier = _neighbours(x, axis)
        x = elementwise.not_equal(later, earlier) if x.dtype.is_bool else later - earlier
    return x


def _neighbours(x, axis):
    """Return all but the first elements along an axis, and all but the last."""
    front = (slice(None),) * axis
    return tuple(
        movement.getitem(x, index=(*front, part)) for part in (slice(1, None), slice(None, -1))
    )


@operation
def trapezoid(y: TensorLike, x: TensorLike = None, dx: Any = 1.0, axis: Axis = -1) -> Tensor:
    """Return the integral along `axis` by the trapezoidal rule.

    Args:
        y: the values.
        x: the points, a vector or a tensor of the shape of `y`; by default `dx` apart.
        dx: a number.
        axis: an int.
    """
    y = floating(y)
    axis = one_axis(axis, y.ndim, "trapezoid")
    if x is not None:
        y, x = promoted_floats(y, x)
        later, earlier = _neighbours(x, 0 if x.ndim == 1 else axis)
        dx = later - earlier
        if x.ndim == 1:
            dx = movement.reshape(dx, shape=(-1,) + (1,) * (y.ndim - 1 - axis))
    later, earlier = _neighbours(y, axis)
    return reduction.sum((later + earlier) * dx * 0.5, axis)


@operation
def correlate(x1: TensorLike, x2: TensorLike, mode: Any = "valid") -> Tensor:
    """Return the cross-correlation of two vectors: sums of products for each displacement.

    Args:
        x1, x2: vectors.
        mode: the displacements: "full" for all with an overlap, "same" for as many as the longer
            vector has elements, "valid" for displacements with a full overlap.
    """
    x1, x2 = promote(x1, x2)
    x1, x2 = floating(x1), floating(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(
            f"correlate: expected two vectors, got shapes {tuple(x1.shape)}, {tuple(x2.shape)}."
        )
    if mode not in ("full", "same", "valid"):
        raise InvalidArgumentError(
            f"correlate: `mode` must be 'full', 'same' or 'valid', got {mode!r}."
        )
    # _correlated needs the longer vector first, so the vectors are exchanged and the result
    # reversed
    if x1.shape[0] < x2.shape[0]:
        return movement.flip(_correlated(x2, x1, mode), axis=(0,))
    return _correlated(x1, x2, mode)


def _correlated(long, short, mode):
    n, m = long.shape[0], short.shape[0]
    if not m:
        raise ShapeError("correlate: expected non-empty vectors, got an empty one.")
    before = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    after = max(count + m - 1 - n - before, 0)
    padded = movement.pad(long, widths=((before, after),))
    places = np.arange(count)[:, None] + np.arange(m)
    windows = movement.gather(padded, places, axis=0)
    products = matmul(windows, movement.reshape(short, shape=(m, 1)))
    return movement.reshape(products, shape=(count,))
