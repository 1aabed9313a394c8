"""Functions of keras.visualization that show many images in a grid, with matplotlib."""

import math
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.keras.functions.drawn_images import (
    channels_last,
    draw_bounding_boxes,
    draw_segmentation_masks,
)  # fmt: skip


def _matplotlib(what):
    """Return matplotlib's modules pyplot and patches."""
    try:
        from matplotlib import patches
        from matplotlib import pyplot as plt
    except ImportError:
        raise ImportError(
            f"{what} needs matplotlib: pip install matplotlib, or framework[plot]."
        ) from None
    return plt, patches


def plot_image_gallery(
    images: TensorLike, y_true: Any = None, y_pred: Any = None, label_map: Any = None,
    rows: Any = None, cols: Any = None, value_range: Any = (0, 255), scale: float = 2,
    path: Any = None, show: Any = None, transparent: bool = True, dpi: int = 60,
    legend_handles: Any = None, data_format: Any = None,
) -> None:  # fmt: skip
    """Show images in a grid, or save the grid to a file.

    Args:
        images: (batch, height, width, channels).
        y_true, y_pred: the labels of images, for their titles.
        label_map: a dict from labels to names.
        rows, cols: the size of the grid; nearly square if None.
        value_range: the lowest and highest value of pixels.
        scale: the size of an image, in inches.
        path: the file to write; None for none.
        show: whether to show the grid; by default True without a `path`.
        transparent, dpi: whether the file's background is transparent, and its resolution.
        legend_handles: matplotlib's handles for a legend.
        data_format: "channels_last" or "channels_first".

    Raises:
        ImportError: matplotlib is not installed.
        ValueError: two arguments exclude each other, or labels have no `label_map`.
    """
    plt, _ = _matplotlib("plot_image_gallery")
    if path is not None and show:
        raise InvalidArgumentError("plot_image_gallery: pass either `path` or show=True.")
    if (y_true is not None or y_pred is not None) and label_map is None:
        raise InvalidArgumentError(
            "plot_image_gallery: `y_true` and `y_pred` need `label_map`, a dict of names."
        )
    images = channels_last(images, data_format, "plot_image_gallery")
    low, high = value_range
    images = np.clip((images.astype(np.float32) - low) / (high - low) * 255, 0, 255)
    rows = rows or math.ceil(math.sqrt(len(images)))
    cols = cols or math.ceil(len(images) / rows)
    figure, axes = plt.subplots(
        rows, cols, figsize=(cols * scale, rows * scale), frameon=False, layout="tight",
        squeeze=False, sharex="row", sharey="col",
    )  # fmt: skip
    if legend_handles is not None:
        figure.legend(handles=legend_handles, loc="lower center")
    given = {"Label": y_true, "Pred": y_pred}
    for i, axis in enumerate(axes.flat):
        axis.margins(x=0, y=0)
        axis.axis("off")
        if i < len(images):
            axis.imshow(images[i].astype(np.uint8), cmap="gray")
            axis.set_title(_title(given, i, label_map), fontsize=8)
    if path is not None:
        plt.savefig(path, pad_inches=0, bbox_inches="tight", transparent=transparent, dpi=dpi)
    elif show is None or show:
        plt.show()
    plt.close(figure)


def _title(given, i, label_map):
    """Return the title of an image: the names of its labels."""
    labels = {k: np.asarray(tensor(v)).ravel() for k, v in given.items() if v is not None}
    return "  ".join(
        f"{k}: {label_map.get(v[i].item(), 'Unknown')}" for k, v in labels.items() if i < len(v)
    )


def plot_bounding_box_gallery(
    images: TensorLike, bounding_box_format: str, y_true: Any = None, y_pred: Any = None,
    value_range: Any = (0, 255), true_color: Any = (0, 188, 212), pred_color: Any = (255, 235, 59),
    line_thickness: int = 2, font_scale: float = 1.0, text_thickness: Any = None,
    class_mapping: Any = None, ground_truth_mapping: Any = None, prediction_mapping: Any = None,
    legend: bool = False, legend_handles: Any = None, rows: Any = None, cols: Any = None,
    data_format: Any = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Show images with their true and predicted boxes in a grid.

    Args:
        images: (batch, height, width, 3).
        bounding_box_format: the format of boxes.
        y_true, y_pred: dicts of boxes, as in `draw_bounding_boxes`.
        value_range: the lowest and highest value of pixels.
        true_color, pred_color: the colors of outlines.
        line_thickness, font_scale, text_thickness: as in `draw_bounding_boxes`.
        class_mapping: the names of labels; `ground_truth_mapping` and `prediction_mapping`
            replace it.
        legend: whether to draw a legend of the colors.
        legend_handles, rows, cols, **kwargs: as in `plot_image_gallery`.
        data_format: "channels_last" or "channels_first".
    """
    _, patches = _matplotlib("plot_bounding_box_gallery")
    images = _of_bytes(channels_last(images, data_format, "plot_bounding_box_gallery"), value_range)
    drawn = (
        (y_true, true_color, ground_truth_mapping or class_mapping, "Ground Truth"),
        (y_pred, pred_color, prediction_mapping or class_mapping, "Prediction"),
    )
    for boxes, color, names, _ in drawn:
        if boxes is not None:
            images = draw_bounding_boxes(
                images, boxes, bounding_box_format, names, color, line_thickness,
                text_thickness or line_thickness, font_scale,
            )  # fmt: skip
    if legend:
        if legend_handles:
            raise InvalidArgumentError(
                "plot_bounding_box_gallery: pass either `legend` or `legend_handles`."
            )
        legend_handles = [
            patches.Patch(color=np.array(color) / 255, label=name) for _, color, _, name in drawn
        ]
    plot_image_gallery(images, legend_handles=legend_handles, rows=rows, cols=cols, **kwargs)


def _of_bytes(images, value_range):
    """Return images with values scaled from `value_range` to the range from 0 to 255."""
    low, high = value_range
    scaled = (images.astype(np.float32) - low) / (high - low) * 255
    return np.clip(scaled, 0, 255).astype(np.uint8)


def plot_segmentation_mask_gallery(
    images: TensorLike, num_classes: int, value_range: Any = (0, 255), y_true: Any = None,
    y_pred: Any = None, color_mapping: Any = None, blend: bool = True, alpha: float = 0.8,
    ignore_index: int = -1, data_format: Any = None, **kwargs: Any,
) -> None:  # fmt: skip
    """Show images beside their true and predicted masks, one image in each row.

    Args:
        images: (batch, height, width, 3).
        num_classes: the number of classes.
        value_range: the lowest and highest value of pixels.
        y_true, y_pred: masks (batch, height, width, 1).
        color_mapping, blend, alpha, ignore_index: as in `draw_segmentation_masks`.
        data_format: "channels_last" or "channels_first".
        **kwargs: as in `plot_image_gallery`.
    """
    what = "plot_segmentation_mask_gallery"
    images = _of_bytes(channels_last(images, data_format, what), value_range)
    columns = [images]
    for masks in (y_true, y_pred):
        if masks is not None:
            masks = channels_last(masks, data_format, what).astype(np.int32)  # noqa: PLW2901
            columns.append(
                draw_segmentation_masks(
                    images, masks, num_classes, color_mapping, alpha, blend, ignore_index
                )
            )
    gallery = np.stack(columns, axis=1).reshape(-1, *images.shape[1:])
    plot_image_gallery(gallery, rows=len(images), cols=len(columns), **kwargs)
