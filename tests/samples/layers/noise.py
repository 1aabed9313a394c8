"""Samples of noise, dropout and activity regularization."""

from tests.samples.layers.arguments import real

_FIRST = {"data_format": "channels_first"}
_DROP = {"rate": 0.4, "seed": 3}

SAMPLES = {
    "GaussianNoise": [({"stddev": 0.4, "seed": 3}, real(2, 3))],
    "GaussianDropout": [(_DROP, real(2, 3)), ({"rate": 0.0}, real(2, 3))],
    "AlphaDropout": [(_DROP, real(2, 3)), ({**_DROP, "noise_shape": (None, 1)}, real(2, 3))],
    "SpatialDropout1D": [(_DROP, real(2, 3, 2))],
    "SpatialDropout2D": [(_DROP, real(2, 3, 2, 2)), ({**_DROP, **_FIRST}, real(2, 3, 2, 2))],
    "SpatialDropout3D": [(_DROP, real(1, 3, 2, 2, 2)), ({**_DROP, **_FIRST}, real(1, 3, 2, 2, 2))],
    "ActivityRegularization": [({"l2": 0.01}, real(2, 3))],
}
