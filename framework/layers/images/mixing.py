"""RandomErasing, CutMix and MixUp: erase parts of images, and mix images with others."""

from typing import Annotated, Any

import numpy as np

from framework.core import random
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat
from framework.layers.images.base import (
    as_dtype,
    axes_of,
    batch_size,
    images_in,
    is_single,
    per_image,
    sizes_of,
    source_of,
    uniform,
)
from framework.layers.images.colors import RandomLayer, apply_to
from framework.layers.images.fields import Factor, Range, is_number
from framework.ops.elementwise import (
    absolute,
    clip,
    divide,
    exp,
    greater_equal,
    less,
    less_equal,
    log,
    logical_and,
    maximum,
    select,
    sqrt,
)
from framework.ops.movement import argsort, concat, gather, getitem, reshape, take_along_axis
from framework.ops.reduction import argmax

__all__ = ["CutMix", "MixUp", "RandomErasing"]

_INT = np.dtype(np.int64)


def _span(source, n, share, size):
    """Return start and end of a random interval of length `share * size` for each of `n` images."""
    length = share * float(size)
    start = uniform(source, (n,)) * (float(size) - length)
    return start, start + length


def _box(layer, shape, across, down):
    """Return a mask, (batch, height, width, 1), True inside the intervals `across` and `down`."""
    places = (np.arange(n, dtype=np.float32) for n in sizes_of(layer, shape))
    inside = True
    for axis, place, (start, end) in zip(axes_of(layer), places, (down, across)):
        sizes = [1] * 4
        sizes[axis] = -1
        place = place.reshape(sizes)  # noqa: PLW2901
        start, end = per_image(start), per_image(end)  # noqa: PLW2901
        here = logical_and(greater_equal(place, start), less(place, end))
        inside = here if inside is True else logical_and(inside, here)
    return inside


def _fill(value):
    if value is None or is_number(value):
        return value
    if isinstance(value, (list, tuple)) and len(value) == 3:
        return value
    raise InvalidArgumentError("expected a number, a list of three numbers or None")


class RandomErasing(RandomLayer):
    """Replace a random rectangle by noise or one color, with a random probability, in training.

    Zhong et al. 2017.

    Args:
        factor: the probability, from 0 to 1: f for the range (0, f), or (low, high).
        scale: the square of the rectangle's size relative to the image, drawn for each axis:
            f for the range (0, f), or (low, high).
        fill_value: a number, or three for the channels; None for noise.
        value_range: the lowest and highest value of pixels.
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    factor: Factor = 1.0
    scale: Factor = (0.02, 0.33)
    fill_value: Annotated[Any, Resolved("a color", _fill)] = None
    value_range: Range = (0, 255)
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, n = source_of(self, seed), batch_size(data)
        shape = (n, *images_in(data).shape[-3:])
        height, width = sizes_of(self, shape)
        share = sqrt(uniform(source, (n, 2), *self.scale))
        across = _span(source, n, getitem(share, index=(slice(None), 0)), width)
        down = _span(source, n, getitem(share, index=(slice(None), 1)), height)
        applied = apply_to(self, data, source)
        return {
            "apply_erasing": applied, "batch_masks": _box(self, shape, across, down),
            "fill_value": _filling(self, source, shape),
        }  # fmt: skip

    def _transform_images(self, images, transformation, interpolation):
        fill = as_dtype(transformation["fill_value"], images.dtype)
        erased = select(transformation["batch_masks"], fill, images)
        return select(per_image(transformation["apply_erasing"]), erased, images)


def _filling(layer, source, shape):
    """Return the values that fill RandomErasing's rectangle; they broadcast to the images."""
    low, high = map(float, layer.value_range)
    if layer.fill_value is None:
        noise = random.draw(source, "normal", shape, "float32", 0.0, 1.0)
        return clip(noise * high, low, high)
    sizes = [1] * 4
    if isinstance(layer.fill_value, (list, tuple)):
        sizes[axes_of(layer)[2]] = 3
    values = np.asarray(layer.fill_value, np.float32).reshape(sizes)
    return np.clip(values, np.float32(low), np.float32(high))


# ---- mixtures ------------------------------------------------------------------------------------


def _order(source, n):
    """Draw a permutation: image i is mixed with the image that its i-th entry names."""
    return argsort(random.draw(source, "uniform", (n,), "float64"), axis=0)


def _with_others(x, transformation):
    """Return `x` permuted: row i of the result is what row i of `x` is mixed with."""
    return gather(x, tensor(transformation["permutation_order"]), axis=0)


def _mixed_labels(labels, transformation, dtype):
    """Mix labels like their images: with the same weights, and with labels of the same images."""
    labels = tensor(labels)
    labels = labels if labels.dtype.is_floating else as_dtype(labels, dtype)
    weight = per_image(as_dtype(transformation["mix_weight"], labels.dtype), len(labels.shape))
    return weight * labels + (1.0 - weight) * _with_others(labels, transformation)


_TRIALS = 16  # attempts at rejection sampling; each succeeds with a probability of at least 1/2


def _beta(source, n, bounds):
    """Draw `n` numbers of the distribution beta(a, a), with one random a <= 1 for all of them.

    Jöhnk's method (1964), in logarithms: draw x = u**(1/a) and y = v**(1/a) until x + y <= 1; then
    x / (x + y) is beta distributed. It is written in ops because `a` is a random tensor.
    """
    alpha = uniform(source, (), *bounds) + 1e-6
    drawn = divide(log(1.0 - uniform(source, (2, _TRIALS, n))), alpha)
    x, y = (getitem(drawn, index=(i,)) for i in (0, 1))
    total = maximum(x, y) + log(1.0 + exp(-absolute(x - y)))
    first = argmax(cast(less_equal(total, 0.0), dtype=_INT), axis=0, dtype=_INT)
    shares = divide(1.0, 1.0 + exp(y - x))
    chosen = take_along_axis(shares, reshape(first, shape=(1, n)), axis=0)
    return reshape(chosen, shape=(n,))


class MixUp(RandomLayer):
    """Mix each image with another one of the batch, and their labels, in training.

    Zhang et al. 2017.

    Args:
        alpha: both parameters of the beta distribution from which weights are drawn.
        data_format: "channels_last" or "channels_first".
        seed: an int, or None.

    Labels are one-hot or other floats. Boxes of both images are kept.
    """

    alpha: object = 0.2
    data_format: DataFormat = None
    seed: Seed = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, n = source_of(self, seed), batch_size(data)
        order = _order(source, n)
        alpha = float(self.alpha)
        weight = random.draw(source, "beta", (n,), "float32", alpha, alpha)
        return {"mix_weight": weight, "permutation_order": order}

    def _transform_images(self, images, transformation, interpolation):
        weight = per_image(as_dtype(transformation["mix_weight"], images.dtype))
        return weight * images + (1.0 - weight) * _with_others(images, transformation)

    def transform_labels(
        self, labels: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return labels
        return _mixed_labels(labels, transformation, self.compute_dtype)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return bounding_boxes
        pairs = {k: tensor(bounding_boxes[k]) for k in ("boxes", "labels")}
        both = {k: concat(v, _with_others(v, transformation), axis=1) for k, v in pairs.items()}
        return {**bounding_boxes, **both}

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return segmentation_masks
        return self.transform_images(segmentation_masks, transformation, training)


class CutMix(RandomLayer):
    """Replace a random rectangle of each image by the same one of another image, in training.

    Labels are mixed in proportion to the areas. Yun et al. 2019.

    Args:
        factor: both parameters of the beta distribution from which weights are drawn, at most 1:
            f for the range (0, f), or (low, high).
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    factor: Factor = 1.0
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        images = images_in(data)
        if not training or is_single(images):
            return None
        source, n = source_of(self, seed), batch_size(data)
        height, width = sizes_of(self, images.shape)
        share = sqrt(1.0 - _beta(source, n, self.factor))
        across, down = _span(source, n, share, width), _span(source, n, share, height)
        area = (across[1] - across[0]) * (down[1] - down[0])
        return {
            "permutation_order": _order(source, n),
            "batch_masks": _box(self, tuple(images.shape), across, down),
            "mix_weight": per_image(1.0 - area / float(height * width)),
        }

    def _transform_images(self, images, transformation, interpolation):
        return select(transformation["batch_masks"], _with_others(images, transformation), images)

    def transform_labels(
        self, labels: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return labels
        return _mixed_labels(labels, transformation, self.compute_dtype)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        raise NotImplementedError(
            "CutMix has no rule for bounding boxes: leave 'bounding_boxes' out of its input."
        )

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        return self.transform_images(segmentation_masks, transformation, training)
