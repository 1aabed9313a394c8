"""Resampling along one axis: the kernels of all interpolation methods, and the ops that use them.

The kernels are composed of ops. `resample`, for sizes that are numbers, calls them on arrays;
`weight_matrix`, which is differentiable in scale and translation, calls them on tensors.
"""

import functools
import math

import numpy as np

from framework.core.cast import cast
from framework.core.op import Op
from framework.kernels import resampling
from framework.ops.elementwise import (
    absolute,
    divide,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    masked,
    maximum,
    select,
)  # fmt: skip
from framework.ops.numerics import sinc
from framework.ops.reduction import np_dtype, reduce_sum

# ---- kernels: the weight of a pixel at the distance x >= 0 ---------------------------------------


def _triangle(x):
    return maximum(1 - x, 0.0)


def _keys(x):
    """Return Keys' kernel (Cubic convolution interpolation, 1981) with a = -0.5."""
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return select(less(x, 1), near, masked(far, less(x, 2)))


def _lanczos(radius):
    return lambda x: masked(sinc(x, n=0) * sinc(x / radius, n=0), less(x, radius))


def _mitchell(x):
    """Return the cubic kernel of Mitchell and Netravali (1988) with B = C = 1/3."""
    near = ((7 * x - 12) * x * x + 16 / 3) / 6
    far = (((-7 / 3 * x + 12) * x - 20) * x + 32 / 3) / 6
    return select(less(x, 1), near, masked(far, less(x, 2)))


def _gaussian(x):
    """Return a Gaussian kernel of standard deviation 1/2, which is 0 beyond three deviations."""
    return masked(exp(-2 * x * x), less(x, 1.5))


KERNELS = {
    "bilinear": (_triangle, 1), "bicubic": (_keys, 2), "lanczos3": (_lanczos(3), 3),
    "lanczos5": (_lanczos(5), 5), "gaussian": (_gaussian, 1.5), "mitchellcubic": (_mitchell, 2),
}  # fmt: skip
"""For each interpolation with a kernel, the kernel and its radius."""

# These methods change pixels even if the size stays the same.
_SMOOTHING = ("gaussian", "mitchellcubic")

METHODS = ("nearest", "area", *KERNELS)
"""All interpolations; "nearest" and "area" follow from the pixels' edges and have no kernel."""

# ---- weights if the sizes are numbers ------------------------------------------------------------


# Images of one data set often have only a few sizes, so the weights are cached.
@functools.lru_cache(512)
def taps(sampling):
    """Return the rows to read and their weights, (taps, size), for `kernels/resampling.py`.

    Args:
        sampling: (n, size, method, antialias): the old and the new size, one of METHODS, and
            whether a kernel is stretched by the factor that shrinks the axis.
    """
    n, size, method, antialias = sampling
    scale = n / size
    if method == "nearest":
        # Positions are float32 as in TensorFlow, so that they round to the same pixels.
        at = np.arange(0.5, size, dtype=np.float32) * np.float32(scale)
        return np.minimum(at.astype(int), n - 1)[None], None
    if method == "area":
        rows, weights = _overlaps(size, scale)
    else:
        kernel, radius = KERNELS[method]
        stretch = max(scale, 1.0) if antialias else 1.0
        centres = (np.arange(size) + 0.5) * scale - 0.5
        count = math.ceil(2 * radius * stretch) + 1
        rows = np.ceil(centres - radius * stretch).astype(int) + np.arange(count)[:, None]
        weights = kernel(np.abs(rows - centres) / stretch)
    weights = np.where((rows < 0) | (rows >= n), 0, weights)
    kept = weights.any(axis=1)
    rows, weights = np.clip(rows[kept], 0, n - 1), weights[kept]
    return rows, weights / weights.sum(axis=0)


def _overlaps(size, scale):
    """Return which old pixels each new pixel covers (indices), and their covered fractions."""
    edges = np.arange(size + 1) * scale
    first, count = np.floor(edges[:-1]).astype(int), math.ceil(scale) + 1
    rows = first + np.arange(count)[:, None]
    return rows, np.maximum(np.minimum(rows + 1, edges[1:]) - np.maximum(rows, edges[:-1]), 0)


@functools.lru_cache(512)
def _taps_back(sampling):
    return resampling.transposed(*taps(sampling), sampling[0])


# ---- ops that resample ---------------------------------------------------------------------------


@functools.lru_cache(512)
def _line(n, size):
    """Return the indices of the two old pixels around each new one, and the second one's weight.

    Both are computed in float32, as in TensorFlow, so that integer images round to the same
    numbers.
    """
    places = (np.arange(size, dtype=np.float32) + np.float32(0.5)) * np.float32(n / size)
    places -= np.float32(0.5)
    below = np.floor(places)
    rows = np.maximum(below, 0), np.minimum(np.ceil(places), n - 1)
    return np.array(rows).astype(int), places - below


def _resample(x, *, axis, sampling):
    if x.dtype == np.float32 and sampling[2:] == ("bilinear", False):
        return resampling.between(x, axis, *_line(*sampling[:2]))
    return resampling.resampled(x, axis, *taps(sampling))


def _resample_back(x, *, axis, sampling):
    return resampling.resampled(x, axis, *_taps_back(sampling))


def _infer(k):
    def infer(x, *, axis, sampling):
        sizes = tuple(x.shape)
        return (*sizes[:axis], sampling[k], *sizes[axis + 1 :]), np_dtype(x)

    return infer


# `resample` resizes one axis with the weights of `taps`; `resample_back` is its transpose.
resample = Op(
    "resample", _resample,
    lambda g, axis, sampling: resample_back(g, axis=axis, sampling=sampling),
    infer=_infer(1), fresh=True,
)  # fmt: skip
resample_back = Op(
    "resample_back", _resample_back,
    lambda g, axis, sampling: resample(g, axis=axis, sampling=sampling),
    infer=_infer(0), fresh=True,
)  # fmt: skip


def _filter_vjp(g, axis, weights, before, after):
    last = len(weights) - 1
    return filter_axis(
        g, axis=axis, weights=weights[::-1], before=last - before, after=last - after
    )


def _filter_infer(x, *, axis, weights, before, after):
    n = x.shape[axis]
    size = None if n is None else max(n + before + after - len(weights) + 1, 0)
    return (*x.shape[:axis], size, *x.shape[axis + 1 :]), np_dtype(x)


# `filter_axis` sums neighbors along an axis, weighted by the tuple `weights`.
filter_axis = Op(
    "filter_axis",
    lambda x, *, axis, weights, before, after: resampling.filtered(x, axis, weights, before, after),
    _filter_vjp, infer=_filter_infer, fresh=True,
)  # fmt: skip


def resized(x, sizes, axes, method, antialias=False):
    """Return `x`, an array or tensor of floats, resized to `sizes` along `axes`."""
    # TensorFlow resizes the axes in this order, which affects rounding.
    for axis, size in zip(axes[::-1], sizes[::-1], strict=True):
        sampling = int(x.shape[axis]), int(size), method, bool(antialias)
        if sampling[0] != sampling[1] or method in _SMOOTHING:
            x = resample(x, axis=axis, sampling=sampling)
    return x


# ---- weights if the scales are tensors -----------------------------------------------------------


def weight_matrix(n, size, scale, translation, method, antialias):
    """Return weights of shape (n, size) for an axis that is scaled, then translated.

    A column is 0 if the new pixel lies outside the old image.

    Args:
        n, size: the old and the new size.
        scale, translation: 0-d tensors of one floating dtype.
        method: one of KERNELS.
        antialias: whether the kernel is stretched by the factor by which the axis shrinks.
    """
    dtype = np_dtype(scale)
    kernel, _ = KERNELS[method]
    inverse = divide(np.ones((), dtype), scale)
    centres = (np.arange(size, dtype=dtype) + dtype.type(0.5) - translation) * inverse - 0.5
    distance = absolute(centres - np.arange(n, dtype=dtype)[:, None])
    if antialias:
        distance = divide(distance, maximum(inverse, np.ones((), dtype)))
    weights = cast(kernel(distance), dtype=dtype)
    total = reduce_sum(weights, axis=(0,), keepdims=True)
    usable = greater(absolute(total), 1000 * float(np.finfo(np.float32).eps))
    inside = logical_and(greater_equal(centres, -0.5), less_equal(centres, n - 0.5))
    divisor = select(usable, total, np.ones((), dtype))
    return masked(divide(weights, divisor), logical_and(usable, inside))
