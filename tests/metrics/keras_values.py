"""Numbers of real Keras (3.15, JAX backend) for the samples beside this file, float32."""

# as the samples' IDS: after one batch, after the same with WEIGHTS, after both
METRICS = {
    "Accuracy-0": (0.66666669, 0.55555558, 0.60784316),
    "BinaryAccuracy-0": (0.66666669, 0.46913582, 0.56209153),
    "BinaryAccuracy-1": (0.72222215, 0.58024693, 0.64705884),
    "CategoricalAccuracy-0": (0.16666667, 0.44444445, 0.3137255),
    "SparseCategoricalAccuracy-0": (0.16666667, 0.44444445, 0.3137255),
    "SparseCategoricalAccuracy-1": (0.16666667, 0.44444445, 0.3137255),
    "TopKCategoricalAccuracy-0": (0.33333334, 0.44444445, 0.39215687),
    "SparseTopKCategoricalAccuracy-0": (0.16666667, 0.44444445, 0.3137255),
    "SparseTopKCategoricalAccuracy-1": (0.33333334, 0.44444445, 0.39215687),
    "SparseTopKCategoricalAccuracy-2": (0.33333334, 0.44444445, 0.39215687),
    "MeanSquaredError-0": (1.1209637, 1.1322718, 1.1269504),
    "MeanAbsoluteError-0": (0.97529274, 0.99573249, 0.98611373),
    "MeanAbsolutePercentageError-0": (167.53584, 193.68831, 181.38129),
    "MeanSquaredLogarithmicError-0": (0.211816, 0.2046842, 0.20804036),
    "LogCoshError-0": (0.45816508, 0.46583062, 0.46222332),
    "CosineSimilarity-0": (0.69097513, 0.57355291, 0.62881041),
    "Poisson-0": (1.2784568, 1.2292535, 1.252408),
    "KLDivergence-0": (2.6167128, 1.7898811, 2.1789784),
    "Hinge-0": (0.60695863, 0.95302314, 0.79016924),
    "SquaredHinge-0": (1.0519267, 1.7932348, 1.444384),
    "CategoricalHinge-0": (3.2092669, 2.1500678, 2.6485145),
    "BinaryCrossentropy-0": (0.5115425, 0.71451426, 0.61899811),
    "BinaryCrossentropy-1": (0.55276591, 0.73194963, 0.64762789),
    "CategoricalCrossentropy-0": (2.6167157, 1.7898837, 2.1789811),
    "CategoricalCrossentropy-1": (2.3943667, 1.7981644, 2.0787303),
    "SparseCategoricalCrossentropy-0": (2.6167157, 1.7898837, 2.1789811),
    "SparseCategoricalCrossentropy-1": (2.6167157, 1.7898841, 2.1789813),
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

ROOT = (1.0587558, 1.0615792)

IGNORING = (1.8157347, 1.5569304)  # without and with WEIGHTS

MASKED = (1.0863662, 0.88859993)  # without and with WEIGHTS
