"""Samples of Dense, activations, reshaping and merging layers."""

import numpy as np

from tests.samples.layers.arguments import real

BUILT_BY_CALL = {
    "Add", "Average", "Concatenate", "Dense", "Flatten", "Lambda", "Maximum", "Minimum", "Multiply",
    "PReLU", "Permute", "RepeatVector", "Rescaling", "Subtract", "ThresholdedReLU",
}  # fmt: skip
STOPS_MASKS = {"Flatten", "Reshape", "Permute", "RepeatVector", "Lambda"}
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
    "ThresholdedReLU": [({"theta": 0.5}, np.array([[-1.0, 0.3, 0.7], [0.2, 1.5, 2.0]]))],
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
    "Maximum": [({}, [real(2, 3), real(2, 3) + 0.03])],
    "Minimum": [({}, [real(2, 3), real(2, 3) + 0.03])],
    "Concatenate": [({}, [real(2, 3), real(2, 4)]), ({"axis": 1}, [real(2, 3, 4), real(2, 1, 4)])],
    "PReLU": [
        ({"alpha_initializer": "random_normal"}, real(2, 3)),
        ({"shared_axes": [1], "alpha_initializer": "ones"}, real(2, 3, 2)),
    ],
}
