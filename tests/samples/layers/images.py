"""Samples of image layers: resizing, cropping and augmentation, of images from 0 to 1."""

import numpy as np

_rng = np.random.default_rng(23)


def _images(*shape):
    """Return distinct values away from 0 and 1."""
    n = int(np.prod(shape))
    return _rng.permutation(np.linspace(0.08, 0.92, n)).reshape(shape)


_FIRST = {"data_format": "channels_first"}
_ONE = {"value_range": (0, 1)}
_SEED = {"seed": 3}
_X, _SMALL = _images(2, 4, 5, 3), _images(2, 3, 4, 3)


def _config(name, **config):
    return {"class_name": name, "config": config}


SAMPLES = {
    "Resizing": [
        ({"height": 3, "width": 2}, _X),
        ({"height": 3, "width": 5, "crop_to_aspect_ratio": True, "antialias": True}, _X),
        ({"height": 6, "width": 3, "pad_to_aspect_ratio": True, "fill_value": 0.5, **_FIRST},
         _images(2, 3, 4, 5)),
    ],
    "CenterCrop": [
        ({"height": 3, "width": 2}, _X),
        ({"height": 6, "width": 3, **_FIRST}, _images(1, 3, 4, 5)),
    ],
    "RandomBrightness": [({"factor": 0.05, **_SEED, **_ONE}, _X)],
    "RandomContrast": [({"factor": 0.05, **_SEED, **_ONE, **_FIRST}, _images(2, 3, 4, 5))],
    "RandomColorDegeneration": [({"factor": 0.5, **_SEED, **_ONE}, _X)],
    "RandomColorJitter": [
        ({"brightness_factor": 0.1, "contrast_factor": 0.1, "hue_factor": 0.2,
          "saturation_factor": (0.4, 0.45), **_ONE, **_SEED}, _images(2, 2, 3, 3)),
        ({}, _SMALL),
    ],
    "RandomCrop": [
        ({"height": 3, "width": 2, **_SEED}, _X),
        ({"height": 5, "width": 3, **_SEED, **_FIRST}, _images(1, 3, 4, 5)),
    ],
    "RandomElasticTransform": [({"factor": (1.0, 1.0), **_SEED, **_ONE}, _images(1, 6, 6, 2))],
    "RandomErasing": [
        ({"factor": (1.0, 1.0), "fill_value": [0.1, 0.2, 0.3], **_SEED, **_ONE}, _X),
        ({"factor": (1.0, 1.0), **_SEED, **_ONE, **_FIRST}, _images(2, 3, 4, 5)),
    ],
    "RandomFlip": [
        (_SEED, _X),
        ({"mode": "horizontal", **_SEED, **_FIRST}, _images(2, 3, 4, 5)),
    ],
    "RandomGaussianBlur": [
        ({"factor": (1.0, 1.0), "kernel_size": (3, 5), "sigma": (0.5, 0.9), **_SEED, **_ONE}, _X),
    ],
    "RandomGrayscale": [(_SEED, _X), ({"factor": 1.0, **_FIRST}, _images(2, 3, 4, 5))],
    "RandomHue": [({"factor": 0.2, **_SEED, **_ONE}, _SMALL)],
    "RandomInvert": [({"factor": 0.5, **_SEED, **_ONE}, _SMALL)],
    "RandomPerspective": [({"factor": (1.0, 1.0), "scale": 0.4, **_SEED}, _X)],
    "RandomPosterization": [({"factor": (3, 6), **_SEED, **_ONE}, _SMALL)],
    "RandomRotation": [
        ({"factor": 0.2, "fill_mode": "constant", "fill_value": 0.3, **_SEED}, _X),
        ({"factor": (0.1, 0.3), "interpolation": "nearest", **_SEED, **_FIRST},
         _images(2, 3, 4, 5)),
    ],
    "RandomSaturation": [({"factor": (0.3, 0.45), **_ONE, **_SEED}, _images(2, 2, 3, 3))],
    "RandomSharpness": [({"factor": (0.1, 0.4), **_SEED, **_ONE}, _X)],
    "RandomShear": [({"x_factor": 0.3, "y_factor": (0.1, 0.2), **_SEED}, _X)],
    "RandomTranslation": [
        ({"height_factor": 0.3, "width_factor": (0.1, 0.2), "fill_mode": "wrap", **_SEED}, _X),
    ],
    "RandomZoom": [
        ({"height_factor": 0.3, **_SEED}, _X),
        ({"height_factor": 0.3, "width_factor": (-0.2, 0.1), "fill_mode": "nearest", **_SEED}, _X),
    ],
    "Solarization": [({"addition_factor": 0.02, "threshold_factor": 0.3, **_SEED, **_ONE}, _SMALL)],
    "AutoContrast": [(_ONE, _SMALL), ({**_FIRST, **_ONE}, _images(2, 3, 2, 4))],
    "Equalization": [({"bins": 64, **_ONE}, _SMALL), ({**_FIRST, **_ONE}, _images(2, 3, 2, 4))],
    "ContrastLimitedAdaptiveHistogramEqualization": [({"tile_grid_size": (2, 3), **_ONE}, _SMALL)],
    "MixUp": [(_SEED, _SMALL)],
    "CutMix": [(_SEED, _X)],
    "RandAugment": [({"num_ops": 1, **_SEED, **_ONE}, _SMALL)],
    "AugMix": [({"num_chains": 1, "chain_depth": 1, **_SEED, **_ONE}, _SMALL)],
    "MaxNumBoundingBoxes": [({"max_number": 3}, _SMALL)],
    "Pipeline": [
        ({"layers": [_config("CenterCrop", height=2, width=3), _config("Rescaling", scale=0.5)]},
         _SMALL),
    ],
}  # fmt: skip
BUILT_BY_CALL = set(SAMPLES)
STOPS_MASKS = set(SAMPLES)
