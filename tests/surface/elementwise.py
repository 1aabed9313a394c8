"""Values of TensorFlow's functions of one or a few arrays, element by element, and reductions."""

import numpy as np
from scipy import special

import framework as tf

X = np.array([-1.5, -0.25, 0.5, 2.0])
IN = np.array([-0.7, -0.1, 0.2, 0.9])  # inside of (-1, 1)
UP = np.array([0.3, 1.0, 1.5, 4.0])  # above 0
A, B = np.array([-7.0, 5.0, 6.0, 3.0]), np.array([2.0, -3.0, 4.0, 3.0])
M = np.array([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])
IDS, ROWS = [0, 0, 2], [[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]]
Z = np.array([1 + 2j, -0.5j, 3.0])

ONE = {  # name: (NumPy's or SciPy's, argument)
    "round": (np.round, X),
    "math.angle": (np.angle, Z),
    "math.conj": (np.conj, Z),
    "math.imag": (np.imag, Z),
    "math.is_finite": (np.isfinite, np.array([1.0, np.inf, np.nan])),
    "math.is_inf": (np.isinf, np.array([1.0, np.inf, np.nan])),
    "math.is_nan": (np.isnan, np.array([1.0, np.inf, np.nan])),
    "math.log_sigmoid": (special.log_expit, X),
    "math.real": (np.real, Z),
    "math.softplus": (lambda x: np.logaddexp(x, 0), X),
    "math.softsign": (lambda x: x / (1 + np.abs(x)), X),
    "nn.elu": (lambda x: np.where(x > 0, x, np.expm1(x)), X),
    "nn.gelu": (lambda x: x * special.ndtr(x), X),
    "nn.leaky_relu": (lambda x: np.where(x > 0, x, 0.2 * x), X),
    "nn.relu": (lambda x: np.maximum(x, 0), X),
    "nn.relu6": (lambda x: np.clip(x, 0, 6), 5 * X),
    "nn.selu": (lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772
                * np.expm1(x)), X),
    "nn.silu": (lambda x: x * special.expit(x), X),
}  # fmt: skip

TWO = {  # name: (NumPy's or SciPy's, arguments)
    "atan2": (np.arctan2, (A, B)), "divide": (np.divide, (A, B)),
    "truediv": (np.divide, (A, B)),
    "truncatediv": (lambda a, b: np.trunc(a / b), (A, B)), "truncatemod": (np.fmod, (A, B)),
    "math.logical_xor": (np.logical_xor, (A > B, A > 3)),
    "math.floordiv": (np.floor_divide, (A, B)), "math.floormod": (np.mod, (A, B)),
    "math.squared_difference": (lambda a, b: (a - b) ** 2, (A, B)),
    "complex": (lambda a, b: a + 1j * b, (A, B)),
    "scalar_mul": (np.multiply, (3.0, A)),
}  # fmt: skip

REDUCED = {  # name: NumPy's, along axis 1
    "reduce_max": np.max, "reduce_mean": np.mean, "reduce_min": np.min, "reduce_prod": np.prod,
    "reduce_sum": np.sum, "math.reduce_std": np.std, "math.reduce_variance": np.var,
    "reduce_logsumexp": lambda x, axis: np.log(np.sum(np.exp(x), axis)),
    "math.reduce_euclidean_norm": np.linalg.norm, "argmax": np.argmax, "argmin": np.argmin,
    "cumsum": np.cumsum, "math.cumprod": np.cumprod,
    "math.cumulative_logsumexp": lambda x, axis: np.logaddexp.accumulate(x, axis),
    "math.count_nonzero": lambda x, axis: np.count_nonzero(x, axis),
    "math.softmax": special.softmax, "math.log_softmax": special.log_softmax,
    "argsort": np.argsort, "sort": np.sort,
}  # fmt: skip

VALUES = {
    "add_n": (lambda f: f([A, B, A]), A + B + A),
    "cast": (lambda f: f([1.7, -1.7], tf.int32), [1, -1]),
    "saturate_cast": (lambda f: f([300.0, -3.0, 7.5], tf.uint8), [255, 0, 7]),
    "clip_by_value": (lambda f: f(X, -1.0, 1.0), np.clip(X, -1, 1)),
    "clip_by_norm": (lambda f: f([3.0, 4.0], 1.0), [0.6, 0.8]),
    "clip_by_global_norm": (lambda f: f([[3.0], [[4.0]]], 2.5), ([[1.5], [[2.0]]], 5.0)),
    "reduce_all": (lambda f: f([[True, False], [True, True]], 1), [False, True]),
    "reduce_any": (lambda f: f([[True, False], [False, False]], 1), [True, False]),
    "math.divide_no_nan": (lambda f: f([1.0, 3.0], [0.0, 2.0]), [0.0, 1.5]),
    "math.multiply_no_nan": (lambda f: f([np.inf, 3.0], [0.0, 2.0]), [0.0, 6.0]),
    "math.reciprocal_no_nan": (lambda f: f([0.0, 4.0]), [0.0, 0.25]),
    "math.betainc": (lambda f: f(UP, UP[::-1], UP / 9), special.betainc(UP, UP[::-1], UP / 9)),
    "math.igamma": (lambda f: f(UP, UP[::-1]), special.gammainc(UP, UP[::-1])),
    "math.igammac": (lambda f: f(UP, UP[::-1]), special.gammaincc(UP, UP[::-1])),
    "math.nextafter": (lambda f: f(UP, X) - UP, np.nextafter(UP, X) - UP),
    "math.polygamma": (lambda f: f([0.0, 1, 2, 3], UP), special.polygamma([0, 1, 2, 3], UP)),
    "math.zeta": (lambda f: f(UP + 1, UP[::-1]), special.zeta(UP + 1, UP[::-1])),
    "math.lbeta": (lambda f: f([[2.0, 3.0], [1.0, 1.5]]), special.betaln([2, 1], [3, 1.5])),
    "math.polyval": (lambda f: f([2.0, -1.0, 3.0], UP), np.polyval([2, -1, 3], UP)),
    "math.is_non_decreasing": (lambda f: [f([1, 1, 2]), f([2, 1])], [True, False]),
    "math.is_strictly_increasing": (lambda f: [f([1, 2, 3]), f([1, 1, 2])], [True, False]),
    "math.invert_permutation": (lambda f: f([2, 0, 1]), [1, 2, 0]),
    "math.in_top_k": (lambda f: f([0, 1], [[0.1, 0.9, 0.5]] * 2, 2), [False, True]),
    "math.top_k": (lambda f: f(M, 2), ([[3.0, 2.0], [4.0, 0.5]], [[0, 2], [1, 0]])),
    "math.zero_fraction": (lambda f: f([0.0, 1.0, 0.0, 0.0]), 0.75),
    "math.bincount": (lambda f: f([1, 3, 3, 0]), [1, 1, 0, 2]),
    "math.confusion_matrix": (lambda f: f([0, 1, 1], [0, 0, 1]), [[1, 0], [1, 1]]),
    "math.segment_max": (lambda f: f(ROWS, IDS), [[3.0, 2.0], [0.0, 0.0], [5.0, 6.0]]),
    "math.segment_mean": (lambda f: f(ROWS, IDS), [[2.0, -1.0], [0.0, 0.0], [5.0, 6.0]]),
    "math.segment_min": (lambda f: f(ROWS, IDS), [[1.0, -4.0], [0.0, 0.0], [5.0, 6.0]]),
    "math.segment_prod": (lambda f: f(ROWS, IDS), [[3.0, -8.0], [1.0, 1.0], [5.0, 6.0]]),
    "math.segment_sum": (lambda f: f(ROWS, IDS), [[4.0, -2.0], [0.0, 0.0], [5.0, 6.0]]),
    "math.unsorted_segment_max": (lambda f: f(ROWS, [1, 0, 1], 2), [[3.0, -4.0], [5.0, 6.0]]),
    "math.unsorted_segment_mean": (lambda f: f(ROWS, [1, 0, 1], 2), [[3.0, -4.0], [3.0, 4.0]]),
    "math.unsorted_segment_min": (lambda f: f(ROWS, [1, 0, 1], 2), [[3.0, -4.0], [1.0, 2.0]]),
    "math.unsorted_segment_prod": (lambda f: f(ROWS, [1, 0, 1], 2), [[3.0, -4.0], [5.0, 12.0]]),
    "math.unsorted_segment_sum": (lambda f: f(ROWS, [1, 0, 1], 2), [[3.0, -4.0], [6.0, 8.0]]),
    "math.unsorted_segment_sqrt_n": (
        lambda f: f(ROWS, [1, 0, 1], 2),
        [[3.0, -4.0], [6.0 / 2**0.5, 8.0 / 2**0.5]],
    ),
}


def _called(*args):
    return lambda f: f(*args)


VALUES |= {name: (_called(x), np_f(x)) for name, (np_f, x) in ONE.items()}
VALUES |= {name: (_called(*xs), np_f(*xs)) for name, (np_f, xs) in TWO.items()}
VALUES |= {name: (_called(M, 1), np_f(M, axis=1)) for name, np_f in REDUCED.items()}
