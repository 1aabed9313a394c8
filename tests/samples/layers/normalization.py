"""Samples of normalization layers."""

from tests.samples.layers.arguments import real

_VECTORS = {"beta_initializer": "random_normal", "gamma_initializer": "random_uniform"}

SAMPLES = {
    "BatchNormalization": [
        (_VECTORS, real(4, 3)),
        ({"axis": 1, "scale": False, **_VECTORS}, real(2, 3, 4)),
        ({"center": False, "renorm": True, "renorm_clipping": {"rmax": 3.0}}, real(2, 3, 2)),
    ],
    "LayerNormalization": [
        (_VECTORS, real(3, 4)),
        ({"axis": [1, 2], "center": False, "gamma_regularizer": "l2"}, real(2, 3, 4)),
        ({"axis": 1, **_VECTORS}, real(2, 3, 4)),
    ],
    "GroupNormalization": [
        ({"groups": 2, **_VECTORS}, real(2, 3, 4)),
        ({"groups": -1, "axis": 1, "scale": False}, real(2, 3, 4)),
    ],
    "RMSNormalization": [({}, real(3, 4)), ({"axis": [1]}, real(2, 3, 4))],
    "UnitNormalization": [({}, real(3, 4)), ({"axis": [1, 2]}, real(2, 3, 4))],
    "Normalization": [
        ({"mean": [1.0, 2.0, 3.0], "variance": [1.0, 4.0, 9.0]}, real(2, 3)),
        ({"axis": None, "mean": 2.0, "variance": 4.0, "invert": True}, real(2, 3)),
        ({"axis": 1}, real(2, 3, 2)),
    ],
    "SpectralNormalization": [
        ({"layer": {"class_name": "Dense", "config": {"units": 2}}}, real(2, 3)),
    ],
}
BUILT_BY_CALL = set(SAMPLES) - {"UnitNormalization"}
STOPS_MASKS = {"RMSNormalization", "SpectralNormalization"}
