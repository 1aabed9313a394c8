"""Bounding boxes: formats, clipping, and transforms that follow those of the images.

A box has four coordinates on the last axis. Its formats:

- "xyxy": left, top, right, bottom; "yxyx": top, left, bottom, right
- "xywh": left, top, width, height
- "center_xywh": the center's x and y, width, height; "center_yxhw": y, x, height, width
- "rel_...": the same as fractions of the image's width and height
"""

import math
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.ops.contraction import matmul
from framework.ops.elementwise import clip, cos, divide, greater, select, sin, tan
from framework.ops.movement import concat, expand_axes, getitem, stack, transpose
from framework.ops.reduction import reduce_max, reduce_min

_ABSOLUTE = ("xyxy", "yxyx", "xywh", "center_xywh", "center_yxhw")
_RELATIVE = ("rel_xyxy", "rel_yxyx", "rel_xywh", "rel_center_xywh")
FORMATS = (*_ABSOLUTE, *_RELATIVE)


def columns(boxes):
    """Return the four coordinates of boxes (..., 4), each of shape (..., 1)."""
    return tuple(getitem(boxes, index=(Ellipsis, slice(i, i + 1))) for i in range(4))


def joined(*parts):
    """Return boxes (..., 4) from four coordinates, each of shape (..., 1)."""
    return concat(*parts, axis=len(parts[0].shape) - 1)


# ---- formats -------------------------------------------------------------------------------------


def _edges(boxes, name):
    """Return left, top, right, bottom of boxes in an absolute format (not "rel_...")."""
    a, b, c, d = columns(boxes)
    if name in ("yxyx", "center_yxhw"):
        a, b, c, d = b, a, d, c
    if name.startswith("center"):
        half_width, half_height = c / 2.0, d / 2.0
        return a - half_width, b - half_height, a + half_width, b + half_height
    return (a, b, a + c, b + d) if name == "xywh" else (a, b, c, d)


def _from_edges(x1, y1, x2, y2, name):
    """Return the coordinates in an absolute format, given left, top, right, bottom."""
    if name == "xywh":
        return x1, y1, x2 - x1, y2 - y1
    if name.startswith("center"):
        width, height = x2 - x1, y2 - y1
        x, y = x1 + width / 2.0, y1 + height / 2.0
        return (y, x, height, width) if name == "center_yxhw" else (x, y, width, height)
    return (y1, x1, y2, x2) if name == "yxyx" else (x1, y1, x2, y2)


def converted(boxes: Any, source: str, target: str, height=None, width=None, dtype="float32"):
    """Convert boxes, or the "boxes" of a dict, to another format and to `dtype`.

    Args:
        boxes: (..., 4), or a dict with "boxes".
        source, target: names of formats.
        height, width: the size of the image, needed for relative formats; numbers or tensors.
        dtype: a floating dtype.
    """
    if isinstance(boxes, dict):
        return {**boxes, "boxes": converted(boxes["boxes"], source, target, height, width, dtype)}
    source, target, dtype = source.lower(), target.lower(), dtypes.as_dtype(dtype)
    boxes = tensor(boxes)
    _check(boxes, source, target, height, width)
    boxes = boxes if boxes.dtype == dtype else cast(boxes, dtype=dtype.np)
    if source == target:
        return boxes
    if source.startswith("rel_") and target.startswith("rel_"):
        source, target = source[4:], target[4:]
    x1, y1, x2, y2 = _edges(boxes, source.removeprefix("rel_"))
    if source.startswith("rel_") or target.startswith("rel_"):
        height, width = _number(height, dtype), _number(width, dtype)
        scale = _times if source.startswith("rel_") else divide
        x1, y1, x2, y2 = scale(x1, width), scale(y1, height), scale(x2, width), scale(y2, height)
    return joined(*_from_edges(x1, y1, x2, y2, target.removeprefix("rel_")))


def _times(a, b):
    return a * b


def _number(value, dtype):
    """Return an image's height or width as a tensor or array of the dtype."""
    if isinstance(value, (int, float, np.integer, np.floating)):
        return np.asarray(value, dtype.np)
    value = tensor(value)
    return value if value.dtype == dtype else cast(value, dtype=dtype.np)


def _check(boxes, source, target, height, width):
    if boxes.shape[-1] != 4:
        raise ShapeError(
            "`boxes` must be a tensor with the last dimension of 4. Received: "
            f"boxes.shape={tuple(boxes.shape)}"
        )
    if source not in FORMATS or target not in FORMATS:
        raise InvalidArgumentError(
            f"Invalid source or target format: expected two of {FORMATS}, got source={source!r}, "
            f"target={target!r}."
        )
    relative = source.startswith("rel_") or target.startswith("rel_")
    if relative and (height is None or width is None):
        raise InvalidArgumentError(
            "convert_format() must receive `height` and `width` for relative formats, got "
            f"source={source!r}, target={target!r}, height={height}, width={width}."
        )


# ---- clipping, cropping, padding -----------------------------------------------------------------


def clipped(bounding_boxes, height=None, width=None, name="xyxy"):
    """Return a dict of boxes clipped to the image; boxes without an area get label -1."""
    if name not in ("xyxy", "rel_xyxy"):
        raise NotImplementedError(
            f"`bounding_box_format` must be 'xyxy' or 'rel_xyxy', got {name!r}: use convert_format."
        )
    if name == "xyxy" and (height is None or width is None):
        raise InvalidArgumentError("`height` and `width` must be set for the format 'xyxy'.")
    boxes = tensor(bounding_boxes["boxes"])
    if name == "rel_xyxy":
        height = width = 1.0
    dtype = boxes.dtype
    x1, y1, x2, y2 = columns(boxes)
    height, width = _number(height, dtype), _number(width, dtype)
    zero = np.zeros((), dtype.np)
    x1, x2 = clip(x1, zero, width), clip(x2, zero, width)
    y1, y2 = clip(y1, zero, height), clip(y2, zero, height)
    result = {**bounding_boxes, "boxes": joined(x1, y1, x2, y2)}
    if bounding_boxes.get("labels") is not None:
        area = getitem((x2 - x1) * (y2 - y1), index=(Ellipsis, 0))
        labels = tensor(bounding_boxes["labels"])
        result["labels"] = select(greater(area, 0), labels, np.asarray(-1, labels.dtype.np))
    return result


def cropped(boxes, top, left, height, width):
    """Return "xyxy" boxes relative to the crop that begins at (left, top), clipped to it."""
    x1, y1, x2, y2 = columns(tensor(boxes))
    return joined(
        clip(x1 - left, 0, width), clip(y1 - top, 0, height),
        clip(x2 - left, 0, width), clip(y2 - top, 0, height),
    )  # fmt: skip


def padded(boxes, top, left):
    """Return "xyxy" boxes of an image padded with `top` rows and `left` columns."""
    x1, y1, x2, y2 = columns(tensor(boxes))
    return joined(x1 + left, y1 + top, x2 + left, y2 + top)


# ---- affine transforms ---------------------------------------------------------------------------


def _inverse_affine(angle, shift, scale, shear, size, center):
    """Return matrices (batch, 2, 3), the inverse of the transform of the images.

    Args:
        angle: (batch,), in degrees.
        scale: (batch,).
        shift: along x and along y, each (batch,), as fractions of the size.
        shear: along x and along y, each (batch,), in degrees.
        size: (width, height).
        center: the center of the rotation, as fractions of (width, height).
    """
    cx, cy = (c * (n - 1) for c, n in zip(center, size))
    tx, ty = (-t * (n - 1) for t, n in zip(shift, size))
    turn, sx, sy = (-x * (math.pi / 180) for x in (angle, *shear))
    a = divide(cos(turn - sy), cos(sy))
    b = a * tan(sx) + sin(turn)
    c = divide(-sin(turn - sy), cos(sy))
    d = cos(turn) - c * tan(sx)
    a0, a1, b0, b1 = d * scale, -b * scale, -c * scale, a * scale
    a2 = cx - a0 * (cx + tx) - a1 * (cy + ty)
    b2 = cy - b0 * (cx + tx) - b1 * (cy + ty)
    return stack(stack(a0, a1, a2, axis=1), stack(b0, b1, b2, axis=1), axis=1)


def turned(boxes, angle, shift, scale, shear, size, center=(0.5, 0.5)):
    """Return the "xyxy" boxes (batch, count, 4) that enclose boxes after an affine transform.

    The arguments are those of `_inverse_affine`.
    """
    matrix = _inverse_affine(angle, shift, scale, shear, size, center)
    boxes = tensor(boxes)
    boxes = boxes if boxes.dtype == matrix.dtype else cast(boxes, dtype=matrix.dtype.np)
    x1, y1, x2, y2 = columns(boxes)
    x, y = joined(x1, x2, x2, x1), joined(y1, y1, y2, y2)
    points = stack(x, y, x * 0 + 1, axis=3)
    moved = matmul(points, expand_axes(transpose(matrix, perm=(0, 2, 1)), (1,)))
    low, high = (reduce(moved, axis=(2,), keepdims=False) for reduce in (reduce_min, reduce_max))
    return concat(low, high, axis=2)


# ---- dicts of boxes ------------------------------------------------------------------------------


def densified(bounding_boxes, boxes_default=0.0, labels_default=-1):
    """Return a dict of tensors: "boxes" as floats, and "labels"; lists of lists are padded."""
    if not isinstance(bounding_boxes, dict) or not {"boxes", "labels"} <= set(bounding_boxes):
        raise InvalidArgumentError(
            "Expected `bounding_boxes` to be a dict with the keys 'boxes' and 'labels', got "
            f"{bounding_boxes!r}."
        )
    boxes, labels = bounding_boxes["boxes"], bounding_boxes["labels"]
    if isinstance(boxes, list):
        boxes, labels = _padded_lists(boxes, labels, boxes_default, labels_default)
    boxes, labels = tensor(boxes), tensor(labels)
    ranks = len(boxes.shape), len(labels.shape)
    if ranks not in ((2, 1), (2, 2), (3, 2), (3, 3)):
        raise ShapeError(
            "Expected `bounding_boxes['boxes']` of shape (num_boxes, 4) or (batch_size, num_boxes, "
            f"4), and labels of one axis less, got the shapes {tuple(boxes.shape)} and "
            f"{tuple(labels.shape)}."
        )
    if boxes.dtype != "float32":
        boxes = cast(boxes, dtype=np.dtype(np.float32))
    return {**bounding_boxes, "boxes": boxes, "labels": labels}


def _padded_lists(boxes, labels, boxes_default, labels_default):
    """Return arrays from lists of boxes and labels, one list per image, padded to one length."""
    if not isinstance(labels, list) or len(labels) != len(boxes):
        raise InvalidArgumentError(
            "If `bounding_boxes['boxes']` is a list, `bounding_boxes['labels']` must be a list of "
            f"the same length, got {labels!r}."
        )
    if not boxes or np.ndim(boxes[0]) < 2:
        return boxes, labels
    most = max(map(len, boxes))
    shape = len(boxes), most
    all_boxes = np.full((*shape, 4), boxes_default, np.float32)
    all_labels = np.full(shape, labels_default, np.int32)
    for i, (some, names) in enumerate(zip(boxes, labels)):
        all_boxes[i, : len(some)] = np.asarray(some, np.float32).reshape(-1, 4)
        all_labels[i, : len(names)] = names
    return all_boxes, all_labels
