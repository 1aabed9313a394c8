"""tf.image: random rectangular parts of images that contain enough of a bounding box.

>>> import framework as tf
>>> box = [[[0.2, 0.2, 0.8, 0.8]]]
>>> sample = tf.image.stateless_sample_distorted_bounding_box
>>> begin, size, part = sample([40, 60, 3], box, (1, 2), min_object_covered=0.5)
>>> tf.slice(tf.zeros([40, 60, 3]), begin, size).shape[2]
3
"""

from typing import Any

import numpy as np

from framework.core import random
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import float32
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.operations import always
from framework.core.tensor import Tensor
from framework.functions.sampling import once, source_of

_DRAWS = 4  # each attempt needs a random aspect ratio, height, row and column


def _sample(size, boxes, draws, *, covered, proportions, areas):
    """Return (begin, size, box) of the first valid random part; if none is, of the whole image."""
    height, width = int(size[0]), int(size[1])
    for attempt in draws.astype(float):
        part = _part(height, width, attempt, proportions, areas)
        if part and _covers(part, boxes.reshape(-1, 4) * ([height, width] * 2), covered):
            top, left, rows, columns = part
            break
    else:
        top, left, rows, columns = 0, 0, height, width
    box = np.float32([top, left, top + rows, left + columns]) / np.float32([height, width] * 2)
    dtype = size.dtype
    return np.array([top, left, 0], dtype), np.array([rows, columns, -1], dtype), box[None, None]


def _part(height, width, attempt, proportions, areas):
    """Return (top, left, rows, columns) of a random part, or None if it does not fit the image."""
    ratio = proportions[0] + attempt[0] * (proportions[1] - proportions[0])
    least, most = (area * height * width for area in areas)
    rows, largest = (round((area / ratio) ** 0.5) for area in (least, most))
    if round(largest * ratio) > width:
        largest = int((width + 0.5 - 1e-7) / ratio)
    largest = min(largest, height)
    rows = min(rows, largest)
    rows += int(attempt[1] * (largest - rows + 1)) if rows < largest else 0
    columns = round(rows * ratio)
    if rows * columns < least:
        rows, columns = rows + 1, round((rows + 1) * ratio)
    if rows * columns > most:
        rows, columns = rows - 1, round((rows - 1) * ratio)
    fits = 0 < rows <= height and 0 < columns <= width
    if not fits or not least <= rows * columns <= most:
        return None
    return int(attempt[2] * (height - rows)), int(attempt[3] * (width - columns)), rows, columns


def _covers(part, boxes, share):
    """Return whether a part contains at least the fraction `share` of the area of a box."""
    top, left, rows, columns = part
    low = np.maximum(boxes[:, :2], [top, left])
    high = np.minimum(boxes[:, 2:], [top + rows, left + columns])
    inside = np.maximum(high - low, 0).prod(axis=1)
    whole = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    return bool((inside >= share * whole).any()) if len(boxes) else True


_sampled = Op(
    "sample_distorted_bounding_box", _sample, no_derivative, no_derivative, no_derivative,
    inputs=("size", "boxes", "draws"), outputs=3, listed=False, fresh=True,
    infer=lambda size, boxes, draws, **_: [
        ((3,), size.dtype), ((3,), size.dtype), ((1, 1, 4), np.dtype(np.float32)),
    ],
)  # fmt: skip


@always
def sample_distorted_bounding_box(
    image_size: TensorLike, bounding_boxes: TensorLike, seed: Any = 0,
    min_object_covered: float = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: Any = None, use_image_if_no_bounding_boxes: Any = None, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return a random rectangular part of an image that contains enough of one of the boxes.

    Args:
        image_size: (height, width, channels), integers.
        bounding_boxes: (batch, boxes, 4), rows (y1, x1, y2, x2) from 0 to 1.
        seed: an int that seeds a separate generator; 0 or None for the global generator.
        min_object_covered: the part must contain at least this fraction of one of the boxes.
        aspect_ratio_range: width / height of the part, by default (0.75, 1.33).
        area_range: the fraction of the image that the part covers, by default (0.05, 1.0).
        max_attempts: the number of attempts, by default 100; if all fail, the part is the image.
        use_image_if_no_bounding_boxes: True to accept that there are no boxes.

    Returns:
        (begin, size, box): the first two are arguments of `tf.slice`; box (1, 1, 4) is the part
        in the form of `bounding_boxes`.

    Raises:
        ValueError: a shape or a range is invalid, or there are no boxes.
    """
    source = source_of(seed or None)
    return _drawn(
        source, "sample_distorted_bounding_box", image_size, bounding_boxes, min_object_covered,
        aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes,
    )  # fmt: skip


@always
def stateless_sample_distorted_bounding_box(
    image_size: TensorLike, bounding_boxes: TensorLike, seed: Any,
    min_object_covered: float = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: Any = None, use_image_if_no_bounding_boxes: Any = None, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Like `sample_distorted_bounding_box`; `seed`, two integers, determines the result."""
    what = "stateless_sample_distorted_bounding_box"
    return _drawn(
        once(seed, what), what, image_size, bounding_boxes, min_object_covered,
        aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes,
    )  # fmt: skip


def _drawn(source, what, size, boxes, covered, proportions, areas, attempts, without):
    size, boxes = tensor(size), cast(tensor(boxes), dtype=float32.np)
    if tuple(size.shape) != (3,) or not size.dtype.is_integer:
        raise ShapeError(
            f"{what}: `image_size` must be three integers (height, width, channels), got "
            f"{size.dtype} of shape {tuple(size.shape)}."
        )
    if boxes.ndim != 3 or boxes.shape[-1] != 4:
        raise ShapeError(
            f"{what}: `bounding_boxes` must have shape (batch, boxes, 4), got {tuple(boxes.shape)}."
        )
    if not without and 0 in boxes.shape:
        raise InvalidArgumentError(
            f"{what}: expected boxes, got none. Pass use_image_if_no_bounding_boxes=True."
        )
    proportions = tuple(map(float, (0.75, 1.33) if proportions is None else proportions))
    areas = tuple(map(float, (0.05, 1.0) if areas is None else areas))
    if not 0 < proportions[0] <= proportions[1] or not 0 < areas[0] <= areas[1] <= 1:
        raise InvalidArgumentError(
            f"{what}: expected ascending ranges of positive numbers, and areas of at most 1, "
            f"got aspect_ratio_range={proportions} and area_range={areas}."
        )
    if not 0 <= covered <= 1:
        raise InvalidArgumentError(
            f"{what}: `min_object_covered` must be from 0 to 1, got {covered!r}."
        )
    shape = (int(100 if attempts is None else attempts), _DRAWS)
    draws = random.draw(source, "uniform", shape, float32, 0.0, 1.0)
    begin, part, box = _sampled(
        size, boxes, draws, covered=float(covered), proportions=proportions, areas=areas
    )
    return begin, part, box
