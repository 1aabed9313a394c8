"""Read images at positions between pixels: projective transforms and mapped coordinates.

Positions are given by one coordinate tensor per axis. Boundary modes map positions outside the
image to pixels inside; they are applied to the integers around a coordinate, as in Keras on JAX.
"""

import functools
import itertools
import operator

import numpy as np

from framework.core.cast import cast
from framework.ops.casting import like
from framework.ops.elementwise import (
    absolute,
    ceil,
    clip,
    divide,
    equal,
    floor,
    floor_mod,
    greater_equal,
    less,
    less_equal,
    logical_and,
    masked,
    maximum,
    minimum,
    round_,
    select,
)  # fmt: skip
from framework.ops.image_copies import shifted
from framework.ops.linalg import solve
from framework.ops.movement import gather, getitem, reshape, stack
from framework.ops.reduction import np_dtype

# ---- boundary modes ------------------------------------------------------------------------------


def _reflected(x, n):
    """Return coordinates reflected at the edges of the image: d c b a | a b c d | d c b a."""
    inside = floor_mod(x, 2 * n)
    return select(greater_equal(inside, n), (2 * n - 1) - inside, inside)


def _mirrored_index(x, n):
    """Return positions mirrored at the centers of the outer pixels: d c b | a b c d | c b a."""
    if n == 1:
        return x * 0
    return absolute(floor_mod(x + (n - 1), 2 * (n - 1)) - (n - 1))


def _reflected_index(x, n):
    inside = floor_mod(x, 2 * n)
    return minimum(inside, (2 * n - 1) - inside)


_FOLDS = {
    "nearest": lambda x, n: x, "reflect": _reflected_index, "mirror": _mirrored_index,
    "wrap": floor_mod,
}  # fmt: skip
FOLDS = ("constant", *_FOLDS)
"""The modes that `sampled` accepts for coordinates outside the image."""


# ---- reading pixels ------------------------------------------------------------------------------


def _away_from_zero(x):
    return select(less(x, 0), ceil(x - 0.5), floor(x + 0.5))


ROUNDINGS = {"even": round_, "away": _away_from_zero}
"""How a position halfway between two pixels is rounded; TensorFlow uses both rules."""


def sampled(x, coordinates, *, order, mode, fill, rounding="even", lost=None, which=None):
    """Return the pixels of `x` at the coordinates, interpolated between neighbors.

    Args:
        x: (batch, *sizes, channels).
        coordinates: for each of the sizes a floating tensor that broadcasts to (batch, *places).
        order: 0 for the nearest pixel, 1 for linear interpolation.
        mode: one of FOLDS.
        fill: a number, the value outside the image with mode="constant".
        rounding: one of ROUNDINGS, for order 0.
        lost: booleans (batch, *places), True where the result is `fill`.
        which: integers (batch, 1, ...): the index of the image to read; by default 0, 1, 2, ...

    Returns:
        (batch, *places, channels), in the coordinates' dtype.
    """
    batch, *sizes, channels = x.shape
    flat = reshape(x, shape=(-1, channels))
    corners = [_neighbours(c, n, order, mode, rounding) for c, n in zip(coordinates, sizes)]
    places = len(coordinates[0].shape) - 1
    first = np.arange(batch).reshape(-1, *(1,) * places) if which is None else which
    results = []
    for corner in itertools.product(*corners):
        index, valid, weight = first, [], []
        for (position, inside, share), n in zip(corner, sizes):
            index = index * n + position
            valid += [] if inside is None else [inside]
            weight += [] if share is None else [share]
        pixels = gather(flat, index, axis=0)
        pixels = like(pixels, coordinates[0])
        if valid:
            pixels = select(_column(functools.reduce(logical_and, valid)), pixels, fill)
        results.append(
            pixels * _column(functools.reduce(operator.mul, weight)) if weight else pixels
        )
    y = functools.reduce(operator.add, results)
    return y if lost is None else select(_column(lost), fill, y)


def _column(x):
    return reshape(x, shape=(*x.shape, 1))


def _neighbours(x, n, order, mode, rounding):
    """Return (position, inside, weight) of each pixel around the coordinates along one axis."""
    if order == 0:
        return [(*_placed(ROUNDINGS[rounding](x), n, mode), None)]
    lower = floor(x)
    share = x - lower
    return [(*_placed(lower, n, mode), 1 - share), (*_placed(lower + 1, n, mode), share)]


def _placed(x, n, mode):
    """Return positions as integers from 0 to n - 1, and a mask of those inside; None if all are."""
    if mode != "constant":
        x = _FOLDS[mode](x, n)
    inside = logical_and(greater_equal(x, 0), less_equal(x, n - 1))
    if mode == "nearest":
        return _integers(minimum(maximum(masked(x, equal(x, x)), 0.0), n - 1.0)), None
    return _integers(masked(x, inside)), inside if mode == "constant" else None


def _integers(x):
    return cast(x, dtype=np.dtype(np.int64))


# ---- projective transforms -----------------------------------------------------------------------


def projected(x, transforms, *, size, order, mode, fill, affine=False, straight=False):
    """Return images whose pixel (x, y) is the old one at ((ax + by + c) / k, (dx + ey + f) / k).

    Args:
        x: (batch, height, width, channels).
        transforms: float32 (batch or 1, 8), rows (a, b, c, d, e, f, g, h); k = gx + hy + 1.
        size: the (height, width) of the result.
        order: 0 for the nearest pixel, 1 for bilinear interpolation.
        mode: one of FOLDS.
        fill: the value outside the image with mode="constant", and where k is 0.
        affine: whether g and h are 0, so that k need not be computed.
        straight: whether b and d are 0 too, so that the coordinates of each axis depend on this
            axis only.
    """
    if affine and straight and order == 0 and mode == "constant":
        moved = shifted(x, transforms, size, fill)
        if moved is not None:
            return moved
    columns = np.arange(size[1], dtype=np.float32)
    rows = np.arange(size[0], dtype=np.float32)[:, None]

    def part(i):
        return reshape(getitem(transforms, index=(slice(None), i)), shape=(-1, 1, 1))

    if straight:
        across, down = part(0) * columns + part(2), part(4) * rows + part(5)
    else:
        across = part(0) * columns + part(1) * rows + part(2)
        down = part(3) * columns + part(4) * rows + part(5)
    lost = None
    if not affine:
        k = part(6) * columns + part(7) * rows + 1
        lost = equal(k, 0.0)
        k = select(lost, np.float32(1), k)
        across, down = divide(across, k), divide(down, k)
    height, width = x.shape[1:3]
    coordinates = [down, across]
    # Clipping the coordinates gives the same result as mapping the four neighbors' positions, in
    # less time.
    if mode == "reflect" and order == 1:
        coordinates = [
            clip(_reflected(c, n), 0.0, n - 1.0) for c, n in ((down, height), (across, width))
        ]
        mode = "nearest"
    # Interpolate float64 images in float64, although the positions were rounded to float32.
    if np_dtype(x) == np.float64:
        coordinates = [cast(c, dtype=np.dtype(np.float64)) for c in coordinates]
    y = sampled(x, coordinates, order=order, mode=mode, fill=fill, rounding="away", lost=lost)
    return like(y, x)


def homography(start, end):
    """Return the transforms (as for `projected`) that map the points `end` to `start`.

    Args:
        start, end: (batch, 4, 2), four points (x, y).
    """
    rows, values = [], []
    for i in range(4):
        x, y = (getitem(end, index=(slice(None), i, k)) for k in (0, 1))
        one, zero = x * 0 + 1, x * 0
        for k in (0, 1):
            target = getitem(start, index=(slice(None), i, k))
            straight, empty = (x, y, one), (zero,) * 3
            halves = (*straight, *empty) if k == 0 else (*empty, *straight)
            rows.append(stack(*halves, -target * x, -target * y, axis=1))
            values.append(target)
    solution = solve(stack(*rows, axis=1), _column(stack(*values, axis=1)))
    return reshape(solution, shape=(-1, 8))
