"""Image layers with a fixed transformation, on which this package and Keras are compared.

A case is (layer, constructor arguments, transformation, parts); parts are those that the layer
changes besides the images.
"""

import math

import numpy as np

IMAGES = (np.arange(2 * 6 * 7 * 3) * 37 % 251).reshape(2, 6, 7, 3).astype("float32")
FIRST = np.ascontiguousarray(IMAGES.transpose(0, 3, 1, 2))
MASKS = (np.arange(2 * 6 * 7) * 5 % 7 % 4).reshape(2, 6, 7, 1).astype("uint8")
LABELS = np.eye(2, dtype="float32")
BOXES = np.float32(
    [[[1, 1, 4, 5], [0, 2, 3, 3], [2, 0, 7, 6]], [[3, 1, 5, 4], [0, 0, 0, 0], [1, 2, 6, 5]]]
)
NAMES = np.int32([[1, 2, 3], [4, 5, 6]])
FORMATS = {  # boxes in other formats than "xyxy"
    "xyxy": BOXES,
    "rel_xyxy": BOXES / np.float32([7, 6, 7, 6]),
    "xywh": np.concatenate([BOXES[..., :2], BOXES[..., 2:] - BOXES[..., :2]], -1),
}
SHAPE = IMAGES.shape
UNIT = {"value_range": (0, 1)}
CHANNELS_FIRST = {"data_format": "channels_first"}


def each(*values):
    """One number for each image, (2, 1, 1, 1)."""
    return np.float32(values).reshape(2, 1, 1, 1)


def pairs(*values):
    return np.float32(values).reshape(2, 2)


def _turned(*degrees):
    """The transformation of RandomRotation for these angles."""
    rows = []
    for a in map(math.radians, degrees):
        c, s, x, y = math.cos(a), math.sin(a), 3.0, 2.5
        rows.append([c, -s, x - c * x + s * y, s, c, y - s * x - c * y, 0, 0])
    return {
        "angle": np.float32(degrees), "rotation_matrix": np.float32(rows), "image_height": 6,
        "image_width": 7, "batch_size": 2,
    }  # fmt: skip


START = np.float32([[[0, 0], [6, 0], [0, 5], [6, 5]]] * 2)
END = START * (1 + 0.15 * np.cos(np.arange(16, dtype="float32")).reshape(2, 4, 2))
CORNERS = {"start_points": START, "end_points": END, "input_shape": SHAPE}
PART = (np.arange(IMAGES.size) * 7 % 11 < 5).reshape(SHAPE)
OTHER = np.array([1, 0])

COLORS = [
    ("RandomBrightness", {"factor": 0.3}, {"rgb_delta": each(40, -70)}),
    ("RandomContrast", {"factor": 0.3}, {"contrast_factor": each(1.2, 0.7)}),
    ("RandomContrast", {"factor": 0.3, **CHANNELS_FIRST}, {"contrast_factor": each(1.2, 0.7)}),
    ("RandomColorDegeneration", {"factor": 0.3}, {"factor": each(0.3, -0.8)}),
    ("RandomColorDegeneration", {"factor": 0.3, **CHANNELS_FIRST}, {"factor": each(0.3, -0.8)}),
    ("RandomGrayscale", {}, each(1, 0) > 0),
    ("RandomHue", {"factor": 0.3}, {"factor": np.float32([0.4, -0.3])}),
    ("RandomHue", {"factor": 0.3, **UNIT, **CHANNELS_FIRST}, {"factor": np.float32([0.1, -0.2])}),
    ("RandomInvert", {}, {"apply_inversion": np.array([True, False])}),
    ("RandomSaturation", {"factor": 0.3, **UNIT}, {"factor": np.float32([0.4, 1.7])}),
    ("RandomSaturation", {"factor": 0.3, **CHANNELS_FIRST}, {"factor": np.float32([0.4, 0.7])}),
    ("RandomPosterization", {"factor": 4}, {"shift_factor": np.uint8([4, 6])}),
    ("RandomPosterization", {"factor": 4, **UNIT}, {"shift_factor": np.uint8([4, 6])}),
    ("Solarization", {}, {"additions": each(30, 1), "thresholds": each(100, 200)}),
    ("Solarization", UNIT, {"additions": each(30, 1), "thresholds": each(100, 200)}),
    ("AutoContrast", {}, None),
    ("AutoContrast", UNIT, None),
    ("Equalization", {}, None),
    ("Equalization", {"bins": 16, **UNIT}, None),
    ("Equalization", CHANNELS_FIRST, None),
    ("ContrastLimitedAdaptiveHistogramEqualization", {"tile_grid_size": (2, 3)}, None),
    ("ContrastLimitedAdaptiveHistogramEqualization",
     {"tile_grid_size": (4, 2), "clip_limit": 0, **UNIT, **CHANNELS_FIRST}, None),
    ("RandomGaussianBlur", {"kernel_size": 3},
     {"should_apply_blur": np.array([True, False]), "blur_factor": np.float32([0.7, 0.9])}),
    ("RandomGaussianBlur", {"kernel_size": 5},
     {"should_apply_blur": np.array([True, True]), "blur_factor": np.float32([0.4, 1.0])}),
    ("RandomSharpness", {"factor": 0.3}, {"factor": np.float32([0.1, 0.9])}),
    ("RandomSharpness", {"factor": 0.3, **CHANNELS_FIRST}, {"factor": np.float32([0.1, 0.9])}),
    ("RandomErasing", {},
     {"apply_erasing": np.array([True, False]), "batch_masks": PART, "fill_value": IMAGES / 3}),
]  # fmt: skip

MIXTURES = [
    ("MixUp", {}, {"mix_weight": np.float32([0.3, 0.8]), "permutation_order": OTHER}),
    ("CutMix", {},
     {"permutation_order": OTHER, "batch_masks": PART, "mix_weight": each(0.3, 0.8)}),
]  # fmt: skip

MOVES = [
    *(
        ("RandomFlip", {"mode": mode}, {"flips": each(1, 0) > 0, "input_shape": SHAPE})
        for mode in ("horizontal", "vertical", "horizontal_and_vertical")
    ),
    *(
        ("RandomRotation", {"factor": 0.3, "fill_mode": mode, "fill_value": 3.0}, _turned(30, -75))
        for mode in ("reflect", "wrap", "constant", "nearest")
    ),
    ("RandomRotation", {"factor": 0.3, "interpolation": "nearest"}, _turned(100, -9)),
    ("RandomShear", {"x_factor": 0.3, "y_factor": 0.2},
     {"shear_factor": pairs(0.3, -0.2, -0.15, 0.25), "input_shape": SHAPE}),
    ("RandomTranslation", {"height_factor": 0.3, "width_factor": 0.2},
     {"translations": pairs(1.5, -2, -3, 0.25), "input_shape": SHAPE}),
    ("RandomZoom", {"height_factor": 0.3},
     {"height_zoom": np.float32([[1.3], [0.6]]), "width_zoom": np.float32([[0.8], [1.2]]),
      "input_shape": SHAPE}),
    ("RandomPerspective", {}, {"apply_perspective": np.array([True, True]), **CORNERS}),
    ("RandomPerspective", {"interpolation": "nearest", "fill_value": 9.0},
     {"apply_perspective": np.array([True, False]), **CORNERS}),
    ("CenterCrop", {"height": 3, "width": 4}, {"input_shape": SHAPE}),
    ("CenterCrop", {"height": 9, "width": 5}, {"input_shape": SHAPE}),
    ("Resizing", {"height": 3, "width": 4}, (6, 7)),
    ("Resizing", {"height": 3, "width": 6, "crop_to_aspect_ratio": True}, (6, 7)),
    ("Resizing", {"height": 8, "width": 3, "interpolation": "nearest"}, (6, 7)),
    ("MaxNumBoundingBoxes", {"max_number": 2}, None),
    ("MaxNumBoundingBoxes", {"max_number": 5, "fill_value": -2}, None),
]  # fmt: skip

CROPS = [
    ("RandomCrop", {"height": 3, "width": 4}, (2, 1)),
    ("RandomCrop", {"height": 6, "width": 4}, (0, 1)),
    ("RandomCrop", {"height": 8, "width": 5}, (0, 1)),
    ("Resizing", {"height": 8, "width": 3, "pad_to_aspect_ratio": True, "fill_value": 2.0}, (6, 7)),
    ("Resizing", {"height": 2, "width": 2, "antialias": True, "interpolation": "lanczos3"}, (6, 7)),
]

CASES = [
    *((*case, ()) for case in COLORS),
    *((*case, ("labels",)) for case in MIXTURES),
    *((*case, ("masks", "boxes")) for case in MOVES),
    *((*case, ()) for case in CROPS),
]

ONLY_XYXY = {"RandomRotation", "RandomPerspective"}
"""Layers whose boxes are right in Keras in the format "xyxy" only."""


def results(layers, case, array, given):
    """What a layer makes of the images and the other parts of a case.

    Args:
        layers: the namespace of layers.
        case: a case.
        array: makes an array of a result.
        given: makes a tensor of an array.
    """
    name, arguments, transformation, parts = case
    if isinstance(transformation, dict):
        transformation = {
            k: given(v) if isinstance(v, np.ndarray) else v for k, v in transformation.items()
        }
    images = FIRST if "data_format" in arguments else IMAGES
    images = images / 255 if "value_range" in arguments else images
    layer = getattr(layers, name)(**arguments, bounding_box_format="xyxy")
    found = {"images": array(layer.transform_images(given(images), transformation))}
    if "labels" in parts:
        found["labels"] = array(layer.transform_labels(given(LABELS), transformation))
    if "masks" in parts:
        masks = layer.transform_segmentation_masks(given(MASKS), transformation)
        found["masks"] = array(masks)
    if "boxes" in parts:
        for form, boxes in FORMATS.items():
            if form != "xyxy" and name in ONLY_XYXY:
                continue
            layer = getattr(layers, name)(**arguments, bounding_box_format=form)
            data = {"boxes": given(boxes), "labels": given(NAMES)}
            data = layer.transform_bounding_boxes(data, transformation)
            found[form], found[f"{form} labels"] = array(data["boxes"]), array(data["labels"])
    return found


def summary(array):
    """Two numbers that every element changes: the mean, and the sum weighted by cosines."""
    flat = np.asarray(array, "float64").ravel()
    return [flat.mean(), flat @ np.cos(np.arange(flat.size))]
