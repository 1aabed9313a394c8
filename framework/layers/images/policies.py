"""RandAugment and AugMix, which combine other image layers at random."""

from typing import Any

import numpy as np

from framework.core import random
from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.recorders import replaying
from framework.initializers import Seed
from framework.layers.convolution_base import DataFormat
from framework.layers.images.base import as_dtype, part_of, source_of
from framework.layers.images.colors import (
    RandomBrightness,
    RandomColorDegeneration,
    RandomContrast,
    RandomLayer,
    within,
)
from framework.layers.images.fields import Factor, Interpolation, Range
from framework.layers.images.filters import RandomSharpness
from framework.layers.images.geometry import RandomRotation, RandomShear, RandomTranslation
from framework.layers.images.histograms import Equalization
from framework.layers.images.tones import AutoContrast, RandomPosterization, Solarization
from framework.ops.elementwise import divide, equal, select
from framework.ops.movement import getitem
from framework.ops.reduction import reduce_sum

__all__ = ["AugMix", "RandAugment"]

_OF_FACTOR = {
    "random_shear": (RandomShear, ("x_factor", "y_factor")),
    "random_translation": (RandomTranslation, ("height_factor", "width_factor")),
    "random_rotation": (RandomRotation, ("factor",)),
    "random_brightness": (RandomBrightness, ("factor",)),
    "random_color_degeneration": (RandomColorDegeneration, ("factor",)),
    "random_contrast": (RandomContrast, ("factor",)),
    "random_sharpness": (RandomSharpness, ("factor",)),
    "random_posterization": (RandomPosterization, ()),
    "solarization": (Solarization, ("addition_factor", "threshold_factor")),
    "auto_contrast": (AutoContrast, ()),
    "equalization": (Equalization, ()),
}
"""Maps the name of an inner layer to (class, the arguments that get the outer layer's factor)."""

_COLORS = {"random_brightness", "random_color_degeneration", "random_contrast", "random_sharpness"}


class _Policy(RandomLayer, moves=True):
    """The base class of RandAugment and AugMix: creates the inner layers listed in `_OF_FACTOR`."""

    def __post_init__(self):
        super().__post_init__()
        for name in _names(self):
            cls, arguments = _OF_FACTOR[name]
            given = dict.fromkeys(arguments, self.factor)
            if cls is RandomPosterization:
                given["factor"] = max(1, int(8 * self.factor[1]))
            setattr(self, name, part_of(self, cls, **given))

    def build(self, input_shape: Any) -> None:
        for name in _names(self):
            getattr(self, name).build(input_shape)


def _names(layer):
    """Return the names of the inner layers: AugMix without `all_ops` has no color layers."""
    return [n for n in _OF_FACTOR if getattr(layer, "all_ops", True) or n not in _COLORS]


def _drawn(layer, data, source):
    """Draw a transformation for each inner layer."""
    return {
        name: getattr(layer, name).get_random_transformation(data, training=True, seed=source)
        for name in _names(layer)
    }


def _chosen(index, functions, unchanged, choose=select):
    """Return the result of the function at position `index`, or `unchanged` beyond the last one.

    In a trace all functions are called, because the graph must be valid for every index.

    Args:
        index: a 0-d integer tensor.
        functions: called without arguments.
        choose: called with (condition, a, b); returns a or b, like `select`.
    """
    if not replaying():
        index = int(index)
        return functions[index]() if index < len(functions) else unchanged
    for i, function in enumerate(functions):
        unchanged = choose(equal(index, np.asarray(i, index.dtype.np)), function(), unchanged)
    return unchanged


def _one_of_boxes(condition, new, old):
    """Return the dict of boxes `new` if the condition is true, else `old`."""
    keys = ("boxes", "labels")
    return {**old, **{k: select(condition, tensor(new[k]), tensor(old[k])) for k in keys}}


class RandAugment(_Policy):
    """Apply some of eleven layers, chosen at random, in training.

    The layers are RandomShear, RandomTranslation, RandomRotation, RandomBrightness,
    RandomColorDegeneration, RandomContrast, RandomSharpness, RandomPosterization, Solarization,
    AutoContrast and Equalization. Cubuk et al. 2019.

    Args:
        value_range: the lowest and highest value of pixels.
        num_ops: how many layers are applied, one after another, to the whole batch.
        factor: the strength, from 0 to 1: f for the range (0, f), or (low, high).
        interpolation: "bilinear" or "nearest".
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    value_range: Range = (0, 255)
    num_ops: int = 2
    factor: Factor = 0.5
    interpolation: Interpolation = "bilinear"
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, count = source_of(self, seed), len(_OF_FACTOR)
        order = random.draw(source, "integers", (self.num_ops,), "int32", 0, count)
        return {"transforms": _drawn(self, data, source), "layer_idxes": order}

    def _transform_images(self, images, transformation, interpolation):
        images = _each_op(self, images, transformation, "images")
        return as_dtype(images, self.compute_dtype)

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return bounding_boxes
        return _each_op(self, bounding_boxes, transformation, "bounding_boxes", _one_of_boxes)

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return segmentation_masks
        masks = tensor(segmentation_masks)
        return _each_op(self, masks, transformation, "segmentation_masks")


def _each_op(layer, value, transformation, part, choose=select):
    """Apply the chosen layers one after another to images, boxes or masks."""
    order = tensor(transformation["layer_idxes"])
    for i in range(layer.num_ops):
        functions = [
            _transformer(layer, name, part, value, t)
            for name, t in transformation["transforms"].items()
        ]
        value = _chosen(getitem(order, index=(i,)), functions, value, choose)
    return value


def _transformer(layer, name, part, value, transformation):
    """Return a function that applies one inner layer to images, boxes or masks."""
    method = getattr(getattr(layer, name), f"transform_{part}")
    return lambda: method(value, transformation)


class AugMix(_Policy):
    """Mix images with their versions after chains of random layers, in training.

    The layers are those of `RandAugment`. Hendrycks et al. 2019.

    Args:
        value_range: the lowest and highest value of pixels.
        num_chains: the number of chains.
        chain_depth: the largest number of layers in a chain.
        factor: the strength, from 0 to 1: f for the range (0, f), or (low, high).
        alpha: the parameter of the Dirichlet and beta distributions of the weights.
        all_ops: whether brightness, color, contrast and sharpness change, too.
        interpolation: "bilinear" or "nearest".
        seed: an int, or None.
        data_format: "channels_last" or "channels_first".
    """

    value_range: Range = (0, 255)
    num_chains: int = 3
    chain_depth: int = 3
    factor: Factor = 0.3
    alpha: float = 1.0
    all_ops: bool = True
    interpolation: Interpolation = "bilinear"
    seed: Seed = None
    data_format: DataFormat = None

    def get_random_transformation(self, data: Any, training: bool = True, seed: Any = None) -> Any:
        if not training:
            return None
        source, alpha = source_of(self, seed), float(self.alpha)
        weights = random.draw(source, "gamma", (self.num_chains,), "float32", alpha)
        share = random.draw(source, "beta", (), "float32", alpha, alpha)
        shape = self.num_chains, self.chain_depth
        chosen = random.draw(source, "integers", shape, "int32", 0, len(_names(self)) + 1)
        return {
            "chain_mixing_weights": divide(
                weights, reduce_sum(weights, axis=(0,), keepdims=True)
            ),
            "weight_sample": share,
            "chain_transforms": [
                [
                    {"layer_idx": getitem(chosen, index=(i, j)),
                     "transforms": _drawn(self, data, source)}
                    for j in range(self.chain_depth)
                ]
                for i in range(self.num_chains)
            ],
        }  # fmt: skip

    def _transform_images(self, images, transformation, interpolation):
        return within(self, _mixed(self, images, transformation, "images"))

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        return bounding_boxes

    def transform_segmentation_masks(
        self, segmentation_masks: TensorLike, transformation: Any = None, training: bool = True
    ) -> Any:
        if not training or transformation is None:
            return segmentation_masks
        masks = as_dtype(segmentation_masks, self.compute_dtype)
        return _mixed(self, masks, transformation, "segmentation_masks")


def _mixed(layer, value, transformation, part):
    """Return images or masks mixed with their versions after each chain."""
    share, weights = (
        as_dtype(transformation[k], value.dtype) for k in ("weight_sample", "chain_mixing_weights")
    )
    mixture = value * 0
    for i, chain in enumerate(transformation["chain_transforms"]):
        changed = value
        for step in chain:
            changed = as_dtype(_stepped(layer, changed, step, part), value.dtype)
        mixture = mixture + changed * getitem(weights, index=(i,))
    return share * value + (1.0 - share) * mixture


def _stepped(layer, value, step, part):
    """Apply one step of a chain. A name or an index selects the inner layer."""
    if "layer_name" in step:
        return _transformer(layer, step["layer_name"], part, value, step["transformation"])()
    pairs = step["transforms"].items()
    functions = [_transformer(layer, name, part, value, t) for name, t in pairs]
    return _chosen(step["layer_idx"], functions, value)
