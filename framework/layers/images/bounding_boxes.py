"""MaxNumBoundingBoxes: the same number of boxes for every image."""

from typing import Any

import numpy as np

from framework.core.conversion import tensor
from framework.layers.images.base import BaseImagePreprocessingLayer
from framework.ops.elementwise import select
from framework.ops.movement import getitem, pad

__all__ = ["MaxNumBoundingBoxes"]


class MaxNumBoundingBoxes(
    BaseImagePreprocessingLayer, in_inference=True, draws=False, moves=True, keeps_integers=True
):
    """Keep the first `max_number` boxes of each image, and add boxes where there are fewer.

    Args:
        max_number: how many boxes each image has in the result.
        fill_value: the coordinates and labels of added boxes.
    """

    max_number: int
    fill_value: int = -1

    def _transform_images(self, images, transformation, interpolation):
        return images

    def transform_bounding_boxes(
        self, bounding_boxes: Any, transformation: Any = None, training: bool = True
    ) -> Any:
        changed = {k: _filled(self, tensor(bounding_boxes[k])) for k in ("boxes", "labels")}
        return {**bounding_boxes, **changed}

    def compute_output_shape(self, input_shape: Any) -> Any:
        if not isinstance(input_shape, dict) or "bounding_boxes" not in input_shape:
            return super().compute_output_shape(input_shape)
        boxes = dict(input_shape["bounding_boxes"])
        extra = sorted(set(boxes) - {"boxes", "labels"})
        if extra:
            raise KeyError(
                f"Expected the keys 'boxes' and 'labels' in `bounding_boxes`, got also {extra}."
            )
        boxes = {k: (v[0], self.max_number, *v[2:]) for k, v in boxes.items()}
        return {**input_shape, "bounding_boxes": boxes}


def _filled(layer, values):
    """Return boxes or labels, (batch, count, ...), cut or filled up to `max_number` boxes."""
    n = layer.max_number
    values = getitem(values, index=(slice(None), slice(n)))
    missing = n - values.shape[1]
    if missing <= 0:
        return values
    widths = ((0, 0), (0, missing), *((0, 0),) * (len(values.shape) - 2))
    there = np.pad(np.ones(tuple(values.shape), bool), widths)
    fill = np.asarray(layer.fill_value, values.dtype.np)
    return select(there, pad(values, widths=widths), fill)
