"""Means and sums of values with weights, and what Keras 3.15 on JAX gives in float32."""

import numpy as np

from tests.samples.metrics import WAVE

# values and weights of every fitting rank, for Mean and Sum
VALUES = {"number": 3.0, "row": WAVE[:4], "table": WAVE[:12].reshape(4, 3)}
VALUES["block"] = WAVE[:24].reshape(4, 3, 2)
VALUE_WEIGHTS = {
    "none": None,
    "number": 0.5,
    "samples": np.abs(WAVE[30:34]),
    "samples_1": np.abs(WAVE[30:34])[:, None],
    "table": np.abs(WAVE[30:42]).reshape(4, 3),
}
# by values and weights; those that Keras refuses are left out
REDUCED = {
    ("number", "none"): (3.0, 3.0),
    ("number", "number"): (3.0, 1.5),
    ("row", "none"): (0.076105587, 0.30442235),
    ("row", "number"): (0.076105587, 0.15221117),
    ("row", "samples"): (0.17338175, 0.49767661),
    ("row", "samples_1"): (0.17338175, 0.49767661),
    ("table", "none"): (0.07751637, 0.93019646),
    ("table", "number"): (0.077516377, 0.46509823),
    ("table", "samples"): (0.063276768, 0.54489064),
    ("table", "samples_1"): (0.063276768, 0.5448907),
    ("table", "table"): (0.090099625, 0.68771797),
    ("block", "none"): (0.037435859, 0.89846063),
    ("block", "number"): (0.037435856, 0.44923025),
    ("block", "samples"): (0.073705032, 1.2693818),
    ("block", "samples_1"): (0.07370504, 1.2693818),
    ("block", "table"): (0.20502265, 3.1298189),
}

# root mean squared error of Y and P
ROOT = (1.0587558, 1.0615792)

IGNORING = (1.8157347, 1.5569304)  # without and with WEIGHTS

MASKED = (1.0863662, 0.88859993)  # without and with WEIGHTS
