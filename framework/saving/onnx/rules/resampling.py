"""Translation of resampling along an axis: a constant matrix, or Resize for unknown sizes."""

import numpy as np

from framework.kernels import resampling as kernels
from framework.ops.resampling import taps
from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.operands import number
from framework.saving.onnx.sizes import Size

_RESIZE = {
    "nearest": {"mode": "nearest", "nearest_mode": "round_prefer_ceil"},
    "bilinear": {"mode": "linear"},
    "bicubic": {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
}


@rule("resample")
def resample(b, x, *, axis, sampling):
    n, size, method, antialias = sampling
    if type(n) is Size or type(size) is Size:
        return _resize(b, x, axis, size, method, antialias)
    rows, weights = taps(tuple(sampling))
    if weights is None:
        return b("Gather", x, b.constant(rows[0], np.int64), axis=axis)
    return _product(b, x, axis, kernels.matrix(rows, weights, n))


@rule("resample_back")
def resample_back(b, x, *, axis, sampling):
    n, size, _, _ = sampling
    if type(n) is Size or type(size) is Size:
        b.refuse("the derivative of resizing needs known sizes")
    rows, weights = taps(tuple(sampling))
    return _product(b, x, axis, kernels.matrix(rows, weights, n).T)


def _product(b, x, axis, matrix):
    """Multiply `matrix` by `x` along `axis`, which is moved to the second to last and back."""
    perm = [i for i in range(x.rank) if i != axis]
    perm.insert(max(x.rank - 2, 0), axis)
    if x.rank == 1:
        return b("MatMul", b.constant(matrix, x.dtype), x)
    y = b("MatMul", b.constant(matrix, x.dtype), b.transpose(x, perm))
    return b.transpose(y, np.argsort(perm))


def _resize(b, x, axis, size, method, antialias):
    if method not in _RESIZE or antialias:
        b.refuse(
            f"resizing by {method!r}{' with antialias' if antialias else ''} needs known sizes"
        )
    # Runtimes resize only the last axes, so the axis is moved to the end, behind an axis of size 1.
    perm = [i for i in range(x.rank) if i != axis] + [axis]
    y = b.transpose(x, perm)
    shape = tuple(x.shape[i] for i in perm)
    flat = b.reshape(y, (*shape[:1], 1, _merged(shape[1:-1]), shape[-1])) if x.rank > 1 else y
    sizes = b.ints((*shape[:1], 1, _merged(shape[1:-1]), size))
    flat = b(
        "Resize", flat, None, None, sizes, coordinate_transformation_mode="half_pixel",
        **_RESIZE[method],
    )  # fmt: skip
    y = b.reshape(flat, (*shape[:-1], size))
    return b.transpose(y, np.argsort(perm))


def _merged(sizes):
    from framework.saving.onnx.sizes import product

    return product(sizes)


@rule("filter_axis")
def filter_axis(b, x, *, axis, weights, before, after):
    """Compute the filtered axis as a weighted sum of shifted slices of the padded axis."""
    size = b.call.outputs[0].shape[axis]
    widths = np.zeros((2, x.rank), np.int64)
    widths[:, axis] = before, after
    wide = b("Pad", x, b.constant(widths.reshape(-1)))
    total = None
    for shift, weight in enumerate(weights):
        if weight:
            part = b.slice(wide, [shift], [size + shift], [axis])
            part = part if weight == 1 else b("Mul", part, number(b, weight, x))
            total = part if total is None else b("Add", total, part)
    return b("Mul", x, number(b, 0, x)) if total is None else total
