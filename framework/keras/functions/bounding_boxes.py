"""Functions of keras.utils.bounding_boxes.

Formats: "xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw", and "rel_xyxy", "rel_yxyx",
"rel_xywh", "rel_center_xywh", which are fractions of the image's width and height.
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.layers.images import boxes as box
from framework.ops.elementwise import (
    atan,
    divide,
    exp,
    less,
    log,
    logical_or,
    maximum,
    minimum,
    select,
)
from framework.ops.movement import concat, getitem, transpose
from framework.ops.reduction import reduce_max

_DELTAS = ("center_xywh", "center_yxhw")


def _sizes(image_shape):
    """Return the height and width in a shape (height, width, channels); two Nones if it is None."""
    return (None, None) if image_shape is None else tuple(image_shape[:2])


def _only_xyxy(name, what):
    if name != "xyxy":
        raise NotImplementedError(
            f"{what}: `bounding_box_format` must be 'xyxy', got {name!r}. Use convert_format first."
        )


# ---- formats -------------------------------------------------------------------------------------


@operation
def convert_format(
    boxes: Any, source: str, target: str, height: Any = None, width: Any = None,
    dtype: DTypeLike = "float32",
) -> Any:  # fmt: skip
    """Return boxes in another format.

    Args:
        boxes: (..., 4), or a dict with such "boxes", of which a copy with new boxes is returned.
        source, target: the names of the formats.
        height, width: the size of the image, for relative formats.
        dtype: the dtype of the result.

    Raises:
        ValueError: a format is unknown, or a size is missing.

    Example:
        >>> from framework import keras
        >>> f = keras.utils.bounding_boxes.convert_format
        >>> f([[10, 20, 30, 60]], "xyxy", "center_xywh").numpy()
        array([[20., 40., 20., 40.]], dtype=float32)
    """
    return box.converted(boxes, source, target, height, width, dtype)


@operation
def clip_to_image_size(
    bounding_boxes: Any, height: Any = None, width: Any = None, bounding_box_format: str = "xyxy"
) -> Any:
    """Return boxes cut at the edges of the image; boxes without an area get the label -1.

    Args:
        bounding_boxes: a dict of "boxes", (..., 4), and perhaps "labels".
        height, width: the size of the image.
        bounding_box_format: "xyxy" or "rel_xyxy".

    Example:
        >>> from framework import keras
        >>> boxes = {"boxes": np.float32([[0, 0, 9, 9], [7, 7, 9, 9]]), "labels": [1, 2]}
        >>> clipped = keras.utils.bounding_boxes.clip_to_image_size(boxes, height=6, width=5)
        >>> clipped["boxes"].numpy().tolist(), clipped["labels"].numpy().tolist()
        ([[0.0, 0.0, 5.0, 6.0], [5.0, 6.0, 5.0, 6.0]], [1, -1])
    """
    return box.clipped(bounding_boxes, height, width, bounding_box_format)


# ---- transforms ----------------------------------------------------------------------------------


@operation
def affine_transform(
    boxes: TensorLike, angle: TensorLike, translate_x: TensorLike, translate_y: TensorLike,
    scale: TensorLike, shear_x: TensorLike, shear_y: TensorLike, height: Any, width: Any,
    center_x: Any = None, center_y: Any = None, bounding_box_format: str = "xyxy",
) -> Any:  # fmt: skip
    """Return upright boxes around the boxes of rotated, shifted, scaled and sheared images.

    Args:
        boxes: (batch, count, 4).
        angle, shear_x, shear_y: degrees, (batch,).
        translate_x, translate_y: fractions of the size, (batch,).
        scale: factors, (batch,).
        height, width: the size of the images.
        center_x, center_y: the center as fractions of the size; None for 0.5.
        bounding_box_format: "xyxy".
    """
    _only_xyxy(bounding_box_format, "affine_transform")
    angle, tx, ty, scale, sx, sy = (
        _floats(x) for x in (angle, translate_x, translate_y, scale, shear_x, shear_y)
    )
    center = tuple(0.5 if c is None else c for c in (center_x, center_y))
    return box.turned(boxes, angle, (tx, ty), scale, (sx, sy), (width, height), center)


def _floats(x):
    x = tensor(x)
    return x if x.dtype.is_floating else cast(x, dtype=dtypes.floatx().np)


@operation
def crop(
    boxes: TensorLike, top: Any, left: Any, height: Any, width: Any,
    bounding_box_format: str = "xyxy",
) -> Any:  # fmt: skip
    """Return boxes relative to a crop of an image that begins at (left, top), cut at its edges.

    Args:
        boxes: (..., 4).
        top, left, height, width: the crop's position and size, in pixels.
        bounding_box_format: "xyxy".
    """
    _only_xyxy(bounding_box_format, "crop")
    return box.cropped(boxes, top, left, height, width)


@operation
def pad(
    boxes: TensorLike, top: Any, left: Any, height: Any = None, width: Any = None,
    bounding_box_format: str = "xyxy",
) -> Any:  # fmt: skip
    """Return the boxes of an image after `top` rows and `left` columns of padding.

    Args:
        boxes: (..., 4).
        top, left: numbers of pixels.
        height, width: not used.
        bounding_box_format: "xyxy".
    """
    _only_xyxy(bounding_box_format, "pad")
    return box.padded(boxes, top, left)


# ---- encodings -----------------------------------------------------------------------------------


def _checked_variance(variance, encoding, argument):
    if encoding not in _DELTAS:
        raise InvalidArgumentError(
            f"`{argument}` should be one of 'center_xywh' or 'center_yxhw', got {encoding!r}."
        )
    if variance is None:
        return None
    variance = tensor(variance, dtype="float32", casts=True)
    if not variance.shape or variance.shape[-1] != 4:
        raise InvalidArgumentError(f"`variance` must be length 4, got {variance}.")
    return variance


def _halves(boxes):
    """Return the centers and the sizes of boxes in a format with centers ("center_...")."""
    return (getitem(boxes, index=(Ellipsis, part)) for part in (slice(2), slice(2, 4)))


@operation
def encode_box_to_deltas(
    anchors: TensorLike, boxes: TensorLike, anchor_format: str, box_format: str,
    encoding_format: str = "center_yxhw", variance: Any = None, image_shape: Any = None,
) -> Any:  # fmt: skip
    """Return the offsets of boxes from anchors in units of the anchor, and log size ratios.

    Args:
        anchors, boxes: (..., 4).
        anchor_format, box_format: formats.
        encoding_format: the order of the result: "center_yxhw" or "center_xywh".
        variance: four numbers that divide the result; None for ones.
        image_shape: (height, width, channels), for relative formats.

    Returns:
        (..., 4): the offset of the center, the logarithms of the size ratios.
    """
    variance = _checked_variance(variance, encoding_format, "encoding_format")
    height, width = _sizes(image_shape)
    anchors = box.converted(anchors, anchor_format, encoding_format, height, width)
    boxes = box.converted(boxes, box_format, encoding_format, height, width)
    (center, size), (new_center, new_size) = _halves(anchors), _halves(boxes)
    tiny = np.asarray(dtypes.epsilon(), size.dtype.np)
    size, new_size = maximum(size, tiny), maximum(new_size, tiny)
    parts = divide(new_center - center, size), log(divide(new_size, size))
    deltas = concat(*parts, axis=len(parts[0].shape) - 1)
    return deltas if variance is None else divide(deltas, variance)


def decode_deltas_to_boxes(
    anchors: Any, boxes_delta: Any, anchor_format: str, box_format: str,
    encoded_format: str = "center_yxhw", variance: Any = None, image_shape: Any = None,
) -> Any:  # fmt: skip
    """Return boxes from anchors and the result of `encode_box_to_deltas`.

    Args:
        anchors, boxes_delta: (..., 4), or dicts of them with the same keys.
        anchor_format, box_format: formats of the anchors and of the result.
        encoded_format: the order of `boxes_delta`: "center_yxhw" or "center_xywh".
        variance: four numbers that multiply the deltas; None for ones.
        image_shape: (height, width, channels), for relative formats.

    Example:
        >>> from framework import keras
        >>> b = keras.utils.bounding_boxes
        >>> anchors, boxes = np.float32([[0, 0, 8, 8]]), np.float32([[1, 2, 5, 6]])
        >>> deltas = b.encode_box_to_deltas(anchors, boxes, "xyxy", "xyxy")
        >>> b.decode_deltas_to_boxes(anchors, deltas, "xyxy", "xyxy").numpy().round(4)
        array([[1., 2., 5., 6.]], dtype=float32)
    """
    options = (anchor_format, box_format, encoded_format, variance, image_shape)
    if isinstance(anchors, dict) and isinstance(boxes_delta, dict):
        return {k: _decoded(v, boxes_delta[k], *options) for k, v in anchors.items()}
    return _decoded(anchors, boxes_delta, *options)


@operation
def _decoded(anchors, deltas, anchor_format, box_format, encoded_format, variance, image_shape):
    variance = _checked_variance(variance, encoded_format, "encoded_format")
    height, width = _sizes(image_shape)
    anchors = box.converted(anchors, anchor_format, encoded_format, height, width)
    deltas = tensor(deltas, dtype="float32", casts=True)
    deltas = deltas if variance is None else deltas * variance
    (center, size), (shift, growth) = _halves(anchors), _halves(deltas)
    boxes = concat(shift * size + center, exp(growth) * size, axis=len(size.shape) - 1)
    return box.converted(boxes, encoded_format, box_format, height, width)


# ---- overlaps ------------------------------------------------------------------------------------


def _check_rank(boxes, name):
    rank = len(tensor(boxes).shape)
    if rank not in (2, 3):
        raise ShapeError(
            f"compute_iou() expects {name} to be batched, of rank 3, or unbatched, of rank 2; got "
            f"rank {rank}."
        )


@operation
def compute_iou(
    boxes1: TensorLike, boxes2: TensorLike, bounding_box_format: str, use_masking: bool = False,
    mask_val: Any = -1, image_shape: Any = None,
) -> Any:  # fmt: skip
    """Return the intersection over union of each pair of boxes.

    Args:
        boxes1: (count1, 4) or (batch, count1, 4).
        boxes2: (count2, 4) or (batch, count2, 4).
        bounding_box_format: the format of both.
        use_masking: whether pairs with a box of negative coordinates get `mask_val`.
        mask_val: a number.
        image_shape: (height, width, channels), for relative formats.

    Returns:
        (count1, count2) or (batch, count1, count2).

    Example:
        >>> from framework import keras
        >>> a, b = np.float32([[0, 0, 2, 2]]), np.float32([[1, 0, 3, 2], [0, 0, 2, 2]])
        >>> keras.utils.bounding_boxes.compute_iou(a, b, "xyxy").numpy().round(3)
        array([[0.333, 1.   ]], dtype=float32)
    """
    _check_rank(boxes1, "boxes1")
    _check_rank(boxes2, "boxes2")
    if "rel" in bounding_box_format and image_shape is None:
        raise InvalidArgumentError(
            "When using relative bounding box formats (e.g. `rel_yxyx`) the `image_shape` argument "
            "must be provided, got None."
        )
    height, width = _sizes(image_shape)
    first, second = (
        box.converted(b, bounding_box_format, "xyxy", height, width) for b in (boxes1, boxes2)
    )
    rows = box.columns(first)
    columns = tuple(_turned(c) for c in box.columns(second))
    shared = _shared(rows, columns)
    union = _area(rows) + _area(columns) - shared
    result = divide(shared, union + dtypes.epsilon())
    if not use_masking:
        return result
    outside = [
        less(reduce_max(b, axis=(len(b.shape) - 1,), keepdims=True), 0.0) for b in (first, second)
    ]
    masked = logical_or(outside[0], _turned(outside[1]))
    return select(masked, np.asarray(mask_val).astype(result.dtype.np), result)


def _turned(x):
    """Return a (..., n, 1) tensor as (..., 1, n)."""
    n = len(x.shape)
    return transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def _shared(first, second):
    """Return the area of the intersection of boxes (left, top, right, bottom)."""
    (x1, y1, x2, y2), (u1, v1, u2, v2) = first, second
    across, down = minimum(x2, u2) - maximum(x1, u1), minimum(y2, v2) - maximum(y1, v1)
    zero = np.zeros((), across.dtype.np)
    return maximum(across, zero) * maximum(down, zero)


def _area(edges):
    x1, y1, x2, y2 = edges
    return (x2 - x1) * (y2 - y1)


@operation
def compute_ciou(
    boxes1: TensorLike, boxes2: TensorLike, bounding_box_format: str, image_shape: Any = None
) -> Any:
    """Return the complete intersection over union (CIoU) of corresponding boxes.

    Zheng et al. 2020, "Distance-IoU Loss".

    Args:
        boxes1, boxes2: (..., 4).
        bounding_box_format: the format of both, which cannot be relative.
        image_shape: (height, width, channels).

    Returns:
        (...,), at most 1.
    """
    if "rel" in bounding_box_format:
        raise InvalidArgumentError(
            "compute_ciou: `bounding_box_format` must be absolute, because CIoU depends on aspect "
            f"ratios, got {bounding_box_format!r}. Use convert_format first."
        )
    height, width = _sizes(image_shape)
    pair = (box.converted(b, bounding_box_format, "xyxy", height, width) for b in (boxes1, boxes2))
    first, second = (
        [getitem(b, index=(Ellipsis, i)) for i in range(4)] for b in pair
    )  # fmt: skip
    small = dtypes.epsilon()
    (w1, h1), (w2, h2) = ((x2 - x1, y2 - y1 + small) for x1, y1, x2, y2 in (first, second))
    shared = _shared(first, second)
    union = w1 * h1 + w2 * h2 - shared + small
    overlap = divide(shared, union + small)
    (x1, y1, x2, y2), (u1, v1, u2, v2) = first, second
    across, down = maximum(x2, u2) - minimum(x1, u1), maximum(y2, v2) - minimum(y1, v1)
    diagonal = across * across + down * down + small
    dx, dy = (x1 + x2) / 2 - (u1 + u2) / 2, (y1 + y2) / 2 - (v1 + v2) / 2
    turn = atan(divide(w2, h2)) - atan(divide(w1, h1))
    shape = turn * turn * (4 / math.pi**2)
    weight = divide(shape, shape - overlap + (1 + small))
    return overlap - (divide(dx * dx + dy * dy, diagonal) + shape * weight)
