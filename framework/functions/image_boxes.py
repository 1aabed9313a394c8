"""tf.image: select boxes in images by their scores, and draw them.

A box is a row (y1, x1, y2, x2) of two opposite corners. These functions have no derivatives.
"""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.dtypes import float32
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.op import Op, no_derivative
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.kernels import suppression as _kernels

_LOWEST = float("-inf")
_COLORS = np.float32([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
    [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
])  # fmt: skip
"""TensorFlow's default colors of boxes: yellow, blue, red, lime, purple, olive, ..."""


def _op(name, forward, outputs, shapes, **options):
    """Create an op on boxes and scores; `shapes` returns the shapes and dtypes of its results."""

    def infer(boxes, scores, **attrs):
        found = [(shape, np.dtype(dtype)) for shape, dtype in shapes(boxes, scores, **attrs)]
        return found if outputs > 1 else found[0]

    return Op(
        name, forward, no_derivative, no_derivative, inputs=("boxes", "scores"), outputs=outputs,
        infer=infer, listed=False, fresh=True, **options,
    )  # fmt: skip


def _by_overlaps(overlaps, scores, *, count, threshold, least):
    return _kernels.kept(lambda i, others: overlaps[i, others], scores, count, threshold, least)[0]


def _by_batch(boxes, scores, **options):
    lead = boxes.shape[:-2]
    rows = [_kernels.kept_in_order(boxes[p], scores[p], **options) for p in np.ndindex(lead)]
    places, counts = zip(*rows)
    return np.stack(places).reshape(*lead, options["count"]), np.array(counts).reshape(lead)


def _by_class(boxes, scores, **options):
    rows = [_kernels.kept_by_class(b, s, **options) for b, s in zip(boxes, scores)]
    return tuple(np.stack(part) for part in zip(*rows))


def _some(*_, **__):
    return [((None,), np.int32), ((None,), np.float32)]


_suppressed = _op("non_max_suppression", _kernels.kept_of_boxes, 2, _some, sized_by_values=True)
_suppressed_by_overlaps = _op(
    "non_max_suppression_overlaps", _by_overlaps, 1, _some, sized_by_values=True
)
_suppressed_padded = _op(
    "non_max_suppression_padded", _by_batch, 2,
    lambda boxes, scores, *, count, **_: [
        ((*boxes.shape[:-2], count), np.int32), (boxes.shape[:-2], np.int32),
    ],
)  # fmt: skip
_suppressed_by_class = _op(
    "combined_non_max_suppression", _by_class, 4,
    lambda boxes, scores, *, total, **_: [
        ((boxes.shape[0], None, 4), np.float32), ((boxes.shape[0], None), np.float32),
        ((boxes.shape[0], None), np.float32), ((boxes.shape[0],), np.int32),
    ],
)  # fmt: skip


def _fit(shape, expected):
    """Return whether a shape fits the expected one, in which None is any size."""
    pairs = list(zip(shape, expected))
    return len(shape) == len(expected) and all(m == n or None in (m, n) for m, n in pairs)


def _operands(boxes, scores, threshold, what):
    boxes, scores = (cast(tensor(x), dtype=float32.np) for x in (boxes, scores))
    if boxes.ndim < 2 or not _fit(boxes.shape, (*scores.shape, 4)):
        raise ShapeError(
            f"{what}: expected boxes (..., 4) and a score for each, got shapes "
            f"{tuple(boxes.shape)} and {tuple(scores.shape)}."
        )
    if not 0 <= threshold <= 1:
        raise InvalidArgumentError(f"{what}: the threshold must be from 0 to 1, got {threshold!r}.")
    return boxes, scores


@operation
def non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size: Any, iou_threshold: float = 0.5,
    score_threshold: float = _LOWEST, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the indices of the best boxes, without those that overlap a better box too much.

    Args:
        boxes: (boxes, 4).
        scores: (boxes,).
        max_output_size: the largest number of indices to return.
        iou_threshold: the largest intersection over union with a better box, 0 to 1.
        score_threshold: boxes with this score or less are dropped.

    Returns:
        int32, best first.

    Raises:
        ValueError: a shape or threshold is invalid.

    >>> import framework as tf
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.5], 3).numpy()
    array([1, 2], dtype=int32)
    """
    return non_max_suppression_with_scores(
        boxes, scores, max_output_size, iou_threshold, score_threshold
    )[0]


@operation
def non_max_suppression_with_scores(
    boxes: TensorLike, scores: TensorLike, max_output_size: Any, iou_threshold: float = 0.5,
    score_threshold: float = _LOWEST, soft_nms_sigma: float = 0.0, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Like `non_max_suppression`, but returns indices and scores.

    Args:
        boxes, scores, max_output_size, iou_threshold, score_threshold: as in `non_max_suppression`.
        soft_nms_sigma: the standard deviation of a Gaussian by which overlaps with better boxes
            lower the score (Bodla et al. 2017, "Soft-NMS"); `iou_threshold` is then ignored. With
            0, scores do not change.
    """
    what = "non_max_suppression"
    boxes, scores = _operands(boxes, scores, iou_threshold, what)
    if boxes.ndim != 2:
        raise ShapeError(f"{what}: expected boxes (boxes, 4), got shape {tuple(boxes.shape)}.")
    places, values = _suppressed(
        boxes, scores, count=int(max_output_size), threshold=float(iou_threshold),
        least=float(score_threshold), sigma=float(soft_nms_sigma),
    )  # fmt: skip
    return places, values


@operation
def non_max_suppression_overlaps(
    overlaps: TensorLike, scores: TensorLike, max_output_size: Any,
    overlap_threshold: float = 0.5, score_threshold: float = _LOWEST, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Like `non_max_suppression`, for a matrix (boxes, boxes) of any measure of overlap."""
    what = "non_max_suppression_overlaps"
    overlaps, scores = (cast(tensor(x), dtype=float32.np) for x in (overlaps, scores))
    if overlaps.ndim != 2 or not _fit(overlaps.shape, (*scores.shape, *scores.shape)):
        raise ShapeError(
            f"{what}: expected overlaps (boxes, boxes) and scores (boxes,), got shapes "
            f"{tuple(overlaps.shape)} and {tuple(scores.shape)}."
        )
    return _suppressed_by_overlaps(
        overlaps, scores, count=int(max_output_size), threshold=float(overlap_threshold),
        least=float(score_threshold),
    )  # fmt: skip


@operation
def non_max_suppression_padded(
    boxes: TensorLike, scores: TensorLike, max_output_size: Any, iou_threshold: float = 0.5,
    score_threshold: float = _LOWEST, pad_to_max_output_size: bool = False,
    name: str | None = None, sorted_input: bool = False, canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Like `non_max_suppression`, for batches; returns indices and the number of valid ones.

    A box is dropped if it overlaps a better one by `iou_threshold` or more.

    Args:
        boxes: (..., boxes, 4).
        scores: (..., boxes).
        max_output_size, iou_threshold, score_threshold: as in `non_max_suppression`.
        pad_to_max_output_size: True to pad the indices with 0 to `max_output_size`; necessary for
            batches.
        sorted_input: True if scores descend.
        canonicalized_coordinates: True if y1 <= y2 and x1 <= x2 in all boxes. Otherwise the corners
            of all boxes must have the same order as those of the first box.
        tile_size: ignored.
    """
    what = "non_max_suppression_padded"
    boxes, scores = _operands(boxes, scores, iou_threshold, what)
    if boxes.ndim > 2 and not pad_to_max_output_size:
        raise InvalidArgumentError(f"{what}: `pad_to_max_output_size` must be True for batches.")
    places, counts = _suppressed_padded(
        boxes, scores, count=int(max_output_size), threshold=float(iou_threshold),
        least=float(score_threshold), ordered=bool(sorted_input),
        canonical=bool(canonicalized_coordinates),
    )  # fmt: skip
    return (places if pad_to_max_output_size else places[: int(counts)]), counts


@operation
def combined_non_max_suppression(
    boxes: TensorLike, scores: TensorLike, max_output_size_per_class: Any, max_total_size: Any,
    iou_threshold: float = 0.5, score_threshold: float = _LOWEST, pad_per_class: bool = False,
    clip_boxes: bool = True, name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Apply `non_max_suppression` to each class, and return the best boxes of all.

    Args:
        boxes: (batch, boxes, 1 or classes, 4).
        scores: (batch, boxes, classes).
        max_output_size_per_class, max_total_size: the largest number of boxes per class, and in
            all.
        iou_threshold, score_threshold: as in `non_max_suppression`.
        pad_per_class: True to return at most max_output_size_per_class * classes boxes.
        clip_boxes: True to clip the coordinates of boxes to [0, 1].

    Returns:
        (boxes, scores, classes, the number of valid rows); all other rows are 0.
    """
    boxes, scores = (cast(tensor(x), dtype=float32.np) for x in (boxes, scores))
    counts = (1, scores.shape[-1]) if scores.ndim == 3 else ()
    if not any(_fit(boxes.shape, (*scores.shape[:2], n, 4)) for n in counts):
        raise ShapeError(
            "combined_non_max_suppression: expected boxes (batch, boxes, 1 or classes, 4) and "
            f"scores (batch, boxes, classes), got shapes {tuple(boxes.shape)} and "
            f"{tuple(scores.shape)}."
        )
    boxes, scores, classes, counts = _suppressed_by_class(
        boxes, scores, each=int(max_output_size_per_class), total=int(max_total_size),
        threshold=float(iou_threshold), least=float(score_threshold), pad=bool(pad_per_class),
        clip=bool(clip_boxes),
    )  # fmt: skip
    return boxes, scores, classes, counts


# ---- drawing -------------------------------------------------------------------------------------


def _draw(images, boxes, *, colors):
    drawn = images.copy()
    height, width = images.shape[1:3]
    sizes = np.float32([height - 1, width - 1] * 2)
    for image, rows in zip(drawn, boxes):
        for k, box in enumerate(rows):
            top, left, bottom, right = (int(v) for v in np.float32(box) * sizes)
            inside = top < height and left < width and bottom >= 0 and right >= 0
            if top > bottom or left > right or not inside:
                continue
            down = slice(max(top, 0), min(bottom, height - 1) + 1)
            across = slice(max(left, 0), min(right, width - 1) + 1)
            color = colors[k % len(colors)]
            for row in {top, bottom} & set(range(height)):
                image[row, across] = color
            for column in {left, right} & set(range(width)):
                image[down, column] = color
    return drawn


_drawn = Op(
    "draw_bounding_boxes", _draw, no_derivative, no_derivative, inputs=("images", "boxes"),
    infer=lambda images, boxes, **_: (images.shape, images.dtype), listed=False, fresh=True,
)  # fmt: skip


@operation
def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, colors: Any, name: str | None = None
) -> Tensor:
    """Return images with the edges of boxes drawn on them.

    Args:
        images: (batch, height, width, channels), floats.
        boxes: (batch, boxes, 4); 0 is the first row or column, 1 the last.
        colors: (colors, channels), used in turn; None for ten default colors, first yellow.

    Raises:
        ValueError: a shape is wrong.

    >>> import framework as tf
    >>> x = tf.zeros([1, 3, 3, 1])
    >>> tf.image.draw_bounding_boxes(x, [[[0.0, 0.0, 1.0, 1.0]]], None).numpy()[0, :, :, 0]
    array([[1., 1., 1.],
           [1., 0., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    x, boxes = tensor(images), cast(tensor(boxes), dtype=float32.np)
    if x.ndim != 4 or boxes.ndim != 3 or not _fit(boxes.shape, (x.shape[0], None, 4)):
        raise ShapeError(
            "draw_bounding_boxes: expected images of rank 4 and boxes (batch, boxes, 4), got "
            f"shapes {tuple(x.shape)} and {tuple(boxes.shape)}."
        )
    channels = int(x.shape[-1])
    if colors is None:
        table = np.ones((10, 1), np.float32) if channels == 1 else _COLORS[:, :channels]
    else:
        table = np.asarray(colors, np.float32)
    if table.ndim != 2 or table.shape[-1] < channels or not len(table):
        raise ShapeError(
            f"draw_bounding_boxes: `colors` must have shape (colors, {channels}), got "
            f"{table.shape}."
        )
    return _drawn(x, boxes, colors=tuple(map(tuple, table[:, :channels].tolist())))
