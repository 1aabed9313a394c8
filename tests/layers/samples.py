"""For every built-in layer: constructor arguments and inputs, away from kinks and ties."""

import numpy as np

from tests.layers import samples_attention, samples_normal, samples_recurrent

_rng = np.random.default_rng(7)


def real(*shape):
    """Return distinct numbers of magnitude 0.1 or more."""
    n = int(np.prod(shape))
    values = _rng.permutation(np.linspace(-2, 2, n)).reshape(shape)
    return values + np.where(values < 0, -0.1, 0.1)


SAMPLES = {
    "Dense": [
        ({"units": 3, "activation": "tanh", "bias_initializer": "random_normal"}, real(4, 5)),
        ({"units": 2, "use_bias": False, "kernel_regularizer": "l2"}, real(2, 3, 2, 4)),
        ({"units": 2, "kernel_constraint": "non_neg", "bias_regularizer": "l1"}, real(2, 3, 4)),
    ],
    "Activation": [({"activation": "silu"}, real(2, 3))],
    "ReLU": [
        ({}, real(2, 3)),
        ({"max_value": 1.05, "negative_slope": 0.2, "threshold": 0.3}, real(3, 4)),
    ],
    "LeakyReLU": [({"negative_slope": 0.2}, real(2, 3))],
    "ELU": [({"alpha": 0.7}, real(2, 3))],
    "Softmax": [({}, real(2, 3)), ({"axis": (1, 2)}, real(2, 3, 4))],
    "Dropout": [({"rate": 0.4, "seed": 3}, real(2, 3)), ({"rate": 0.0}, real(2, 3))],
    "Flatten": [
        ({}, real(2, 3, 4)),
        ({}, real(2)),
        ({"data_format": "channels_first"}, real(2, 3, 4)),
    ],
    "Reshape": [({"target_shape": (4, 3)}, real(2, 12)), ({"target_shape": (-1, 2)}, real(2, 8))],
    "Permute": [({"dims": (3, 1, 2)}, real(2, 3, 4, 5))],
    "RepeatVector": [({"n": 3}, real(2, 4))],
    "Rescaling": [
        ({"scale": 2.0, "offset": -1.0}, real(2, 3)),
        ({"scale": [1.0, 3.0]}, real(3, 2)),
    ],
    "Identity": [({}, real(2, 3))],
    "Lambda": [({"function": np.tanh}, real(2, 3))],
    "Add": [({}, [real(2, 3), real(2, 3), real(2, 3)]), ({}, [real(2, 3), real(2, 4, 3)])],
    "Subtract": [({}, [real(2, 3), real(2, 1)])],
    "Multiply": [({}, [real(2, 3), real(2, 3)])],
    "Average": [({}, [real(2, 3), real(2, 3), real(2, 3)])],
    "Maximum": [({}, [real(2, 3), real(2, 3)])],
    "Minimum": [({}, [real(2, 3), real(2, 3)])],
    "Concatenate": [({}, [real(2, 3), real(2, 4)]), ({"axis": 1}, [real(2, 3, 4), real(2, 1, 4)])],
    "Conv1D": [
        ({"filters": 3, "kernel_size": 2, "bias_initializer": "random_normal"}, real(2, 5, 2)),
        ({"filters": 2, "kernel_size": 2, "padding": "causal", "dilation_rate": 2}, real(2, 5, 2)),
        (
            {
                "filters": 4,
                "kernel_size": 3,
                "padding": "same",
                "strides": 2,
                "groups": 2,
                "use_bias": False,
                "data_format": "channels_first",
            },
            real(2, 4, 5),
        ),
    ],
    "Conv2D": [
        ({"filters": 2, "kernel_size": (2, 3), "activation": "tanh"}, real(2, 4, 4, 2)),
        (
            {
                "filters": 4,
                "kernel_size": 2,
                "strides": (1, 2),
                "padding": "SAME",
                "groups": 2,
                "kernel_regularizer": "l2",
            },
            real(2, 3, 3, 2),
        ),
        (
            {
                "filters": 2,
                "kernel_size": 2,
                "dilation_rate": (2, 1),
                "activation": "softmax",
                "bias_initializer": "random_normal",
                "data_format": "channels_first",
            },
            real(2, 2, 4, 3),
        ),
    ],
    "Conv3D": [({"filters": 2, "kernel_size": (1, 2, 2), "padding": "same"}, real(1, 2, 3, 3, 2))],
    "Conv1DTranspose": [
        ({"filters": 3, "kernel_size": 2, "strides": 3}, real(2, 3, 2)),
        (
            {
                "filters": 2,
                "kernel_size": 3,
                "padding": "same",
                "data_format": "channels_first",
                "bias_initializer": "random_normal",
            },
            real(2, 2, 4),
        ),
    ],
    "Conv2DTranspose": [
        ({"filters": 2, "kernel_size": 3, "strides": 2, "padding": "same"}, real(2, 2, 2, 2)),
        (
            {
                "filters": 2,
                "kernel_size": (2, 3),
                "strides": 2,
                "output_padding": (0, 1),
                "use_bias": False,
            },
            real(1, 2, 3, 2),
        ),
        (
            {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "activation": "tanh"},
            real(1, 2, 3, 2),
        ),
    ],
    "Conv3DTranspose": [({"filters": 1, "kernel_size": 2, "strides": 2}, real(1, 2, 1, 2, 2))],
    "DepthwiseConv1D": [({"kernel_size": 2, "depth_multiplier": 2}, real(2, 4, 3))],
    "DepthwiseConv2D": [
        ({"kernel_size": 2, "padding": "same", "activation": "tanh"}, real(2, 3, 3, 2)),
        (
            {
                "kernel_size": 2,
                "strides": 2,
                "depth_multiplier": 2,
                "use_bias": False,
                "data_format": "channels_first",
            },
            real(1, 2, 4, 5),
        ),
    ],
    "SeparableConv1D": [
        ({"filters": 3, "kernel_size": 2, "padding": "same", "dilation_rate": 2}, real(2, 4, 2))
    ],
    "SeparableConv2D": [
        ({"filters": 2, "kernel_size": 2, "depth_multiplier": 2}, real(1, 3, 4, 2)),
        (
            {"filters": 3, "kernel_size": 2, "strides": 2, "data_format": "channels_first"},
            real(1, 2, 4, 4),
        ),
    ],
    "ZeroPadding1D": [
        ({"padding": 2}, real(2, 3, 2)),
        ({"padding": (0, 1), "data_format": "channels_first"}, real(2, 3, 2)),
    ],
    "ZeroPadding2D": [
        ({"padding": ((0, 1), (2, 0))}, real(2, 2, 3, 2)),
        ({"padding": (2, 1), "data_format": "channels_first"}, real(2, 2, 3, 2)),
    ],
    "ZeroPadding3D": [({}, real(1, 1, 2, 1, 2))],
    "Cropping1D": [({}, real(2, 4, 2)), ({"cropping": (2, 0)}, real(2, 4, 2))],
    "Cropping2D": [
        ({"cropping": ((0, 1), (2, 0))}, real(2, 3, 3, 2)),
        ({"cropping": 1, "data_format": "channels_first"}, real(2, 2, 3, 4)),
    ],
    "Cropping3D": [({}, real(1, 3, 4, 3, 2))],
    "UpSampling1D": [({"size": 3}, real(2, 3, 2))],
    "UpSampling2D": [
        ({"size": (2, 3)}, real(2, 2, 2, 2)),
        ({"data_format": "channels_first"}, real(2, 2, 2, 3)),
        ({"interpolation": "bicubic"}, real(1, 2, 3, 2)),
    ],
    "UpSampling3D": [({"size": (1, 2, 3)}, real(1, 2, 1, 2, 2))],
}
SAMPLES |= samples_normal.samples(real) | samples_attention.samples(real)
SAMPLES |= samples_recurrent.samples(real)
