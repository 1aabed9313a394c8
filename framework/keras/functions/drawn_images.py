"""Functions of keras.visualization that draw bounding boxes and masks into arrays."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import array_of, tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.layers.images import boxes as box


def channels_last(images, data_format, what):
    """Return images as an array (batch, height, width, channels)."""
    images = np.asarray(tensor(images))
    if images.ndim != 4:
        raise ShapeError(
            f"{what}: `images` must be a batch of rank 4, got the shape {images.shape}."
        )
    return images.transpose(0, 2, 3, 1) if data_format == "channels_first" else images


def draw_bounding_boxes(
    images: TensorLike, bounding_boxes: Any, bounding_box_format: str, class_mapping: Any = None,
    color: Any = (128, 128, 128), line_thickness: int = 2, text_thickness: Any = 1,
    font_scale: float = 1.0, data_format: Any = None,
) -> np.ndarray:  # fmt: skip
    """Return images with the outlines of boxes, and the names of their classes.

    Args:
        images: (batch, height, width, channels); floats up to 1, or values up to 255.
        bounding_boxes: a dict of "boxes" (batch, count, 4), "labels" (batch, count), where -1
            stands for no box, and perhaps "confidences".
        bounding_box_format: a format of `keras.utils.bounding_boxes`.
        class_mapping: a dict from labels to names; text needs Pillow.
        color: the values of the channels, from 0 to 255.
        line_thickness, text_thickness: in pixels.
        font_scale: the size of the text, in units of 12 pixels.
        data_format: "channels_last" or "channels_first".

    Returns:
        A uint8 array (batch, height, width, channels).

    Example:
        >>> from framework import keras
        >>> boxes = {"boxes": np.float32([[[1, 1, 3, 3]]]), "labels": np.int32([[0]])}
        >>> keras.visualization.draw_bounding_boxes(
        ...     np.zeros((1, 5, 5, 1)), boxes, "xyxy", color=(9,), line_thickness=1
        ... )[0, :, :, 0]
        array([[0, 0, 0, 0, 0],
               [0, 9, 9, 9, 0],
               [0, 9, 0, 9, 0],
               [0, 9, 9, 9, 0],
               [0, 0, 0, 0, 0]], dtype=uint8)
    """
    images = channels_last(images, data_format, "draw_bounding_boxes")
    if not isinstance(bounding_boxes, dict):
        raise TypeError(f"`bounding_boxes` must be a dict, got {type(bounding_boxes).__name__}.")
    if not {"boxes", "labels"} <= set(bounding_boxes):
        raise InvalidArgumentError(
            "`bounding_boxes` must have the keys 'boxes' and 'labels', got "
            f"{sorted(bounding_boxes)}."
        )
    data = {k: array_of(v) for k, v in bounding_boxes.items()}
    edges = box.converted(data["boxes"], bounding_box_format, "xyxy", *images.shape[1:3])
    edges = np.asarray(edges).astype(int)
    images = _bytes(images)
    scores = data.get("confidences")
    for i, j in np.ndindex(*edges.shape[:2]):
        label = int(data["labels"][i, j])
        if label == -1:
            continue
        _outline(images[i], edges[i, j], color, line_thickness)
        if class_mapping and label in class_mapping:
            text = str(class_mapping[label])
            text += "" if scores is None else f" | {scores[i, j]:.2f}"
            height = max(round(12 * font_scale), 1)
            images[i] = _with_text(images[i], text, edges[i, j], color, height, text_thickness)
    return images


def _bytes(images):
    """Return images as uint8; floats up to 1 are multiplied by 255."""
    if images.dtype.kind == "f" and images.size:
        images = np.clip(images, 0, 1) * 255 if images.max() <= 1 else np.clip(images, 0, 255)
    return images.astype(np.uint8)


def _outline(image, edges, color, thickness):
    """Draw the outline of a box into an image; the line is centered on the box's edges."""
    before, after = thickness // 2, (thickness - 1) // 2 + 1
    left, top, right, bottom = (int(n) for n in edges)

    def fill(x1, y1, x2, y2):
        image[max(y1, 0) : max(y2, 0), max(x1, 0) : max(x2, 0)] = color

    for y in (top, bottom):
        fill(left - before, y - before, right + after, y + after)
    for x in (left, right):
        fill(x - before, top - before, x + after, bottom + after)


def _with_text(image, text, edges, color, height, thickness):
    """Write a text above a box into an image, or inside the box if there is no space."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise ImportError(
            "draw_bounding_boxes needs Pillow to write the names of classes: pip install pillow, "
            "or framework[image]."
        ) from None
    left, top = int(edges[0]), int(edges[1])
    place = (left, top - height - 4) if top > height + 4 else (left + 3, top + 3)
    mask = Image.new("L", (image.shape[1], image.shape[0]))
    try:
        font = ImageFont.load_default(size=height)
    except TypeError:  # before version 10.1, Pillow's default font has a single size
        font = ImageFont.load_default()
    stroke = max((thickness or 1) - 1, 0)
    ImageDraw.Draw(mask).text(place, text, fill=255, font=font, stroke_width=stroke)
    return np.where(np.asarray(mask)[..., None] > 127, np.uint8(color), image)


def draw_segmentation_masks(
    images: TensorLike, segmentation_masks: TensorLike, num_classes: Any = None,
    color_mapping: Any = None, alpha: float = 0.8, blend: bool = True, ignore_index: int = -1,
    data_format: Any = None,
) -> Any:  # fmt: skip
    """Return images with a color for the class of each pixel.

    Args:
        images: (batch, height, width, 3), from 0 to 255.
        segmentation_masks: integers (batch, height, width, 1).
        num_classes: the number of classes; the largest class in the masks + 1 if None.
        color_mapping: a dict from classes to colors of three numbers.
        alpha: the opacity of the color, from 0 to 1.
        blend: False to return the colors alone, without the images.
        ignore_index: pixels of this class do not change.
        data_format: "channels_last" or "channels_first".

    Returns:
        A uint8 array (batch, height, width, 3); float32 with blend=False.

    Raises:
        TypeError: the masks are not integers.
    """
    images = channels_last(images, data_format, "draw_segmentation_masks").astype(np.float32)
    masks = channels_last(segmentation_masks, data_format, "draw_segmentation_masks")
    if masks.dtype.kind not in "iu":
        raise DTypeError(f"`segmentation_masks` must be integers, got {masks.dtype}. Cast them.")
    masks = masks[..., 0]
    count = int(masks.max(initial=-1)) + 1 if num_classes is None else int(num_classes)
    colors = _palette(count) if color_mapping is None else [color_mapping[i] for i in range(count)]
    painted = images.copy()
    for i, color in enumerate(colors):
        painted[masks == i] = color
    if not blend:
        return painted
    mixture = images * (1 - alpha) + painted * alpha
    return np.where((masks == ignore_index)[..., None], images, mixture).astype(np.uint8)


def _palette(count):
    """Return `count` different colors, Keras's palette."""
    steps = np.array([2**25 - 1, 2**15 - 1, 2**21 - 1])
    return [(i * steps % 255).tolist() for i in range(count)]
