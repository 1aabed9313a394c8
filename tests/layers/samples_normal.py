"""Samples of pooling, normalisation and noise layers: constructor arguments and inputs."""


def samples(real):
    """Names of layers and their samples; `real(*shape)` gives distinct numbers."""
    first = {"data_format": "channels_first"}
    same = {"padding": "same", "strides": 2}
    x1, x2, x3 = real(2, 5, 2), real(2, 4, 5, 2), real(1, 3, 4, 3, 2)
    drop = {"rate": 0.4, "seed": 3}
    pooling = {
        f"{kind}Pooling{n}D": [
            ({"pool_size": 2}, x),
            ({"pool_size": 3, **same}, x),
            ({"pool_size": (2,) * n, "strides": 1, **first}, x),
        ]
        for kind in ("Max", "Average")
        for n, x in ((1, x1), (2, x2), (3, real(1, 3, 4, 2, 2)))
    }
    pooling["MaxPooling3D"][2] = ({"strides": 1, **first}, real(1, 2, 3, 2, 3))
    pooling["AveragePooling3D"][2] = ({"pool_size": 2, **first}, real(1, 2, 3, 2, 3))
    pooling["MaxPooling1D"][2] = ({"strides": 1, **first}, real(2, 2, 5))
    pooling["AveragePooling1D"][2] = ({"pool_size": 2, "strides": 1, **first}, real(2, 2, 5))
    whole = {
        f"Global{kind}Pooling{n}D": [({}, x), ({"keepdims": True, **first}, x)]
        for kind in ("Max", "Average")
        for n, x in ((1, x1), (2, x2), (3, x3))
    }
    adaptive = {
        f"Adaptive{kind}Pooling{n}D": [
            ({"output_size": 2}, x),
            ({"output_size": tuple(range(3, 3 - n, -1)), **first}, x),
        ]
        for kind in ("Max", "Average")
        for n, x in ((1, real(2, 5, 3)), (2, real(2, 4, 5, 3)), (3, real(1, 3, 4, 3, 2)))
    }
    vectors = {"beta_initializer": "random_normal", "gamma_initializer": "random_uniform"}
    return {
        **pooling,
        **whole,
        **adaptive,
        "BatchNormalization": [
            (vectors, real(4, 3)),
            ({"axis": 1, "scale": False, **vectors}, real(2, 3, 4)),
            ({"center": False, "renorm": True, "renorm_clipping": {"rmax": 3.0}}, real(2, 3, 2)),
        ],
        "LayerNormalization": [
            (vectors, real(3, 4)),
            ({"axis": [1, 2], "center": False, "gamma_regularizer": "l2"}, real(2, 3, 4)),
            ({"axis": 1, **vectors}, real(2, 3, 4)),
        ],
        "GroupNormalization": [
            ({"groups": 2, **vectors}, real(2, 3, 4)),
            ({"groups": -1, "axis": 1, "scale": False}, real(2, 3, 4)),
        ],
        "RMSNormalization": [({}, real(3, 4)), ({"axis": [1]}, real(2, 3, 4))],
        "UnitNormalization": [({}, real(3, 4)), ({"axis": [1, 2]}, real(2, 3, 4))],
        "Normalization": [
            ({"mean": [1.0, 2.0, 3.0], "variance": [1.0, 4.0, 9.0]}, real(2, 3)),
            ({"axis": None, "mean": 2.0, "variance": 4.0, "invert": True}, real(2, 3)),
            ({"axis": 1}, real(2, 3, 2)),
        ],
        "GaussianNoise": [({"stddev": 0.4, "seed": 3}, real(2, 3))],
        "GaussianDropout": [(drop, real(2, 3)), ({"rate": 0.0}, real(2, 3))],
        "AlphaDropout": [(drop, real(2, 3)), ({**drop, "noise_shape": (None, 1)}, real(2, 3))],
        "SpatialDropout1D": [(drop, real(2, 3, 2))],
        "SpatialDropout2D": [(drop, real(2, 3, 2, 2)), ({**drop, **first}, real(2, 3, 2, 2))],
        "SpatialDropout3D": [(drop, real(1, 3, 2, 2, 2)), ({**drop, **first}, real(1, 3, 2, 2, 2))],
        "ActivityRegularization": [({"l2": 0.01}, real(2, 3))],
        "SpectralNormalization": [
            ({"layer": {"class_name": "Dense", "config": {"units": 2}}}, real(2, 3)),
        ],
        "PReLU": [
            ({"alpha_initializer": "random_normal"}, real(2, 3)),
            ({"shared_axes": [1], "alpha_initializer": "ones"}, real(2, 3, 2)),
        ],
    }


WITH_BUILD = {
    *("BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization"),
    *("Normalization", "PReLU", "SpectralNormalization"),
    *(f"Adaptive{kind}Pooling{n}D" for kind in ("Max", "Average") for n in (1, 2, 3)),
}
