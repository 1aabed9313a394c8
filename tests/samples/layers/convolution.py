"""Samples of convolutions, padding, cropping and upsampling."""

from tests.samples.layers.arguments import real

SAMPLES = {
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
BUILT_BY_CALL = {
    name for name in SAMPLES
    if any(part in name for part in ("Conv", "Cropping", "Padding", "UpSampling"))
}  # fmt: skip
STOPS_MASKS = set(SAMPLES)
