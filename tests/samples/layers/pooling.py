"""Samples of pooling layers."""

from tests.samples.layers.arguments import real

_FIRST = {"data_format": "channels_first"}
_SAME = {"padding": "same", "strides": 2}
_X1, _X2, _X3 = real(2, 5, 2), real(2, 4, 5, 2), real(1, 3, 4, 3, 2)
SAMPLES = {
    f"{kind}Pooling{n}D": [
        ({"pool_size": 2}, x),
        ({"pool_size": 3, **_SAME}, x),
        ({"pool_size": (2,) * n, "strides": 1, **_FIRST}, x),
    ]
    for kind in ("Max", "Average")
    for n, x in ((1, _X1), (2, _X2), (3, real(1, 3, 4, 2, 2)))
}
SAMPLES["MaxPooling3D"][2] = ({"strides": 1, **_FIRST}, real(1, 2, 3, 2, 3))
SAMPLES["AveragePooling3D"][2] = ({"pool_size": 2, **_FIRST}, real(1, 2, 3, 2, 3))
SAMPLES["MaxPooling1D"][2] = ({"strides": 1, **_FIRST}, real(2, 2, 5))
SAMPLES["AveragePooling1D"][2] = ({"pool_size": 2, "strides": 1, **_FIRST}, real(2, 2, 5))
SAMPLES |= {
    f"Global{kind}Pooling{n}D": [({}, x), ({"keepdims": True, **_FIRST}, x)]
    for kind in ("Max", "Average")
    for n, x in ((1, _X1), (2, _X2), (3, _X3))
}
SAMPLES |= {
    f"Adaptive{kind}Pooling{n}D": [
        ({"output_size": 2}, x),
        ({"output_size": tuple(range(3, 3 - n, -1)), **_FIRST}, x),
    ]
    for kind in ("Max", "Average")
    for n, x in ((1, real(2, 5, 3)), (2, real(2, 4, 5, 3)), (3, real(1, 3, 4, 3, 2)))
}
BUILT_BY_CALL = {name for name in SAMPLES if name.startswith("Adaptive")}
STOPS_MASKS = set(SAMPLES) - {"GlobalAveragePooling1D"}
