"""tf.image: random changes of images. The seed of a stateless function is two integers.

>>> import framework as tf
>>> x = tf.reshape(tf.range(6.0), [1, 2, 3, 1])
>>> a, b = (tf.image.stateless_random_flip_left_right(x, (1, 2)) for _ in range(2))
>>> bool(tf.reduce_all(a == b))
True
"""

from typing import Any

import numpy as np

from framework.core import random
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.dtypes import float32, int32
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import always
from framework.core.tensor import Tensor
from framework.functions import image_colors as _colors
from framework.functions.image_layout import axes_of, images_of
from framework.functions.sampling import once, source_of
from framework.ops.elementwise import greater_equal, less, select
from framework.ops.movement import flip, gather, reshape


def _between(source, low, high, what, names):
    """Draw a number from `low` to below `high`."""
    if not 0 <= low < high:
        raise InvalidArgumentError(
            f"{what}: expected 0 <= `{names[0]}` < `{names[1]}`, got {low!r} and {high!r}."
        )
    return random.draw(source, "uniform", (), float32, float(low), float(high))


def _around(source, largest, what, limit=None):
    """Draw a number from -largest to below `largest`."""
    if largest < 0 or (limit and largest > limit):
        bound = f"from 0 to {limit}" if limit else "at least 0"
        raise InvalidArgumentError(f"{what}: `max_delta` must be {bound}, got {largest!r}.")
    return random.draw(source, "uniform", (), float32, -float(largest), float(largest))


# ---- flips ---------------------------------------------------------------------------------------


def _flipped(image, which, source, what):
    x = images_of(image, what)
    mirrored = flip(x, axis=(axes_of(x)[which],))
    if x.ndim == 3:
        chosen = less(random.draw(source, "uniform", (), float32, 0.0, 1.0), 0.5)
        return select(chosen, mirrored, x)
    drawn = random.draw(source, "uniform", (x.shape[0],), float32, 0.0, 1.0)
    return select(reshape(greater_equal(drawn, 0.5), shape=(-1, 1, 1, 1)), mirrored, x)


@always
def random_flip_left_right(image: TensorLike, seed: Any = None) -> Tensor:
    """Reverse the columns of an image, or of each image of a batch, with probability 1/2.

    Args:
        image: (height, width, channels), or a batch.
        seed: an int that seeds a separate generator; None for the global generator.
    """
    return _flipped(image, 1, source_of(seed), "random_flip_left_right")


@always
def random_flip_up_down(image: TensorLike, seed: Any = None) -> Tensor:
    """Reverse the rows of an image, or of each image of a batch, with probability 1/2."""
    return _flipped(image, 0, source_of(seed), "random_flip_up_down")


@always
def stateless_random_flip_left_right(image: TensorLike, seed: Any) -> Tensor:
    """Like `random_flip_left_right`; `seed`, two integers, determines the result."""
    what = "stateless_random_flip_left_right"
    return _flipped(image, 1, once(seed, what), what)


@always
def stateless_random_flip_up_down(image: TensorLike, seed: Any) -> Tensor:
    """Like `random_flip_up_down`; `seed`, two integers, determines the result."""
    what = "stateless_random_flip_up_down"
    return _flipped(image, 0, once(seed, what), what)


# ---- crops ---------------------------------------------------------------------------------------


def _cropped(value, size, source, what):
    x, size = tensor(value), [int(n) for n in size]
    if len(size) != x.ndim or any(n > m or n < 0 for n, m in zip(size, x.shape)):
        raise ShapeError(
            f"{what}: `size` must have {x.ndim} numbers >= 0, each at most the size of the axis in "
            f"the shape {tuple(x.shape)}, got {size}."
        )
    for axis, (n, m) in enumerate(zip(size, x.shape)):
        if n < m:
            start = random.draw(source, "integers", (), int32, 0, m - n + 1)
            x = gather(x, start + np.arange(n, dtype=np.int32), axis=axis)
    return x


@always
def random_crop(
    value: TensorLike, size: ShapeLike, seed: Any = None, name: str | None = None
) -> Tensor:
    """Return a part of `value` of the given size, at a random position.

    Args:
        value: any tensor.
        size: the shape of the part.
        seed: an int that seeds a separate generator; None for the global generator.

    Raises:
        ValueError: the part is larger than `value`.

    >>> import framework as tf
    >>> tf.image.random_crop(tf.zeros([8, 6, 3]), [4, 4, 3]).shape
    TensorShape([4, 4, 3])
    """
    return _cropped(value, size, source_of(seed), "random_crop")


@always
def stateless_random_crop(
    value: TensorLike, size: ShapeLike, seed: Any, name: str | None = None
) -> Tensor:
    """Like `random_crop`; `seed`, two integers, determines the result."""
    source = once(seed, "stateless_random_crop")
    return _cropped(value, size, source, "stateless_random_crop")


# ---- colors --------------------------------------------------------------------------------------


@always
def random_brightness(image: TensorLike, max_delta: Any, seed: Any = None) -> Tensor:
    """Add one random number from -max_delta to below `max_delta` to the values of images.

    Args:
        image: a tensor; integers from 0 to the dtype's maximum stand for 0 to 1.
        max_delta: at least 0.
        seed: an int that seeds a separate generator; None for the global generator.
    """
    delta = _around(source_of(seed), max_delta, "random_brightness")
    return _colors.adjust_brightness(image, delta)


@always
def stateless_random_brightness(image: TensorLike, max_delta: Any, seed: Any) -> Tensor:
    """Like `random_brightness`; `seed`, two integers, determines the result."""
    what = "stateless_random_brightness"
    return _colors.adjust_brightness(image, _around(once(seed, what), max_delta, what))


@always
def random_contrast(image: TensorLike, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """Apply `adjust_contrast` with a random factor from `lower` to below `upper`."""
    names = ("lower", "upper")
    factor = _between(source_of(seed), lower, upper, "random_contrast", names)
    return _colors.adjust_contrast(image, factor)


@always
def stateless_random_contrast(image: TensorLike, lower: Any, upper: Any, seed: Any) -> Tensor:
    """Like `random_contrast`; `seed`, two integers, determines the result."""
    what = "stateless_random_contrast"
    factor = _between(once(seed, what), lower, upper, what, ("lower", "upper"))
    return _colors.adjust_contrast(image, factor)


@always
def random_hue(image: TensorLike, max_delta: Any, seed: Any = None) -> Tensor:
    """Apply `adjust_hue` with a random delta of magnitude up to `max_delta`, at most 0.5."""
    return _colors.adjust_hue(image, _around(source_of(seed), max_delta, "random_hue", 0.5))


@always
def stateless_random_hue(image: TensorLike, max_delta: Any, seed: Any) -> Tensor:
    """Like `random_hue`; `seed`, two integers, determines the result."""
    what = "stateless_random_hue"
    return _colors.adjust_hue(image, _around(once(seed, what), max_delta, what, 0.5))


@always
def random_saturation(image: TensorLike, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """Apply `adjust_saturation` with a random factor from `lower` to below `upper`."""
    names = ("lower", "upper")
    factor = _between(source_of(seed), lower, upper, "random_saturation", names)
    return _colors.adjust_saturation(image, factor)


@always
def stateless_random_saturation(
    image: TensorLike, lower: Any, upper: Any, seed: Any = None
) -> Tensor:
    """Like `random_saturation`; `seed`, two integers, determines the result."""
    what = "stateless_random_saturation"
    factor = _between(once(seed, what), lower, upper, what, ("lower", "upper"))
    return _colors.adjust_saturation(image, factor)
