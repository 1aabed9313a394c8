"""Samples and references of elementwise ops."""

import numpy as np
from scipy import special

from tests.samples.ops.arguments import booleans, call, integers, real

_UNARY = {  # op: (low, high) of its argument
    "negative": (-2, 2), "identity": (-2, 2), "abs": (-2, 2), "square": (-2, 2),
    "conj": (-2, 2),
    "reciprocal": (-2, 2), "sqrt": (0.3, 3), "rsqrt": (0.3, 3), "exp": (-2, 2), "expm1": (-2, 2),
    "log": (0.3, 3), "log1p": (-0.6, 3), "sin": (-2, 2), "cos": (-2, 2), "tan": (-1, 1),
    "asin": (-0.7, 0.7), "acos": (-0.7, 0.7), "atan": (-2, 2), "sinh": (-2, 2), "cosh": (-2, 2),
    "tanh": (-2, 2), "asinh": (-2, 2), "acosh": (1.2, 3), "atanh": (-0.7, 0.7), "relu": (-2, 2),
    "relu6": (-9, 9), "sigmoid": (-4, 4), "softplus": (-4, 4), "erf": (-2.5, 2.5), "sign": (-2, 2),
    "floor": (-2.1, 2.3), "ceil": (-2.1, 2.3), "round": (-2.1, 2.3), "trunc": (-2.1, 2.3),
    "stop_gradient": (-2, 2), "is_nan": (-2, 2), "is_inf": (-2, 2), "is_finite": (-2, 2),
}  # fmt: skip

_BINARY = {  # op: bounds of both arguments
    "add": (-2, 2), "subtract": (-2, 2), "multiply": (-2, 2), "divide": (-2, 2),
    "floor_mod": (-2, 2), "floor_divide": (-2, 2), "multiply_no_nan": (-2, 2),
    "divide_no_nan": (-2, 2), "maximum": (-2, 2), "minimum": (-2, 2), "power": (0.3, 2),
    "atan2": (-2, 2), "tanh_back": (-2, 2), "xlogy": (0.3, 3), "xlog1py": (0.3, 3),
    "xdivy": (-2, 2), "equal": (-2, 2),
    "not_equal": (-2, 2), "less": (-2, 2), "less_equal": (-2, 2), "greater": (-2, 2),
    "greater_equal": (-2, 2), "sigmoid_cross_entropy": (-3, 3),
}  # fmt: skip

SAMPLES = {name: [call(real(2, 3, low=lo, high=hi))] for name, (lo, hi) in _UNARY.items()}
SAMPLES |= {
    name: [call(real(2, 3, low=lo, high=hi), real(2, 3, low=lo, high=hi, off=0.22))]
    for name, (lo, hi) in _BINARY.items()
}
SAMPLES |= {name: [call(booleans(2, 3), booleans(2, 3))]
            for name in ("logical_and", "logical_or", "logical_xor")}  # fmt: skip
SAMPLES |= {name: [call(integers(2, 3, below=9), integers(2, 3, below=9))]
            for name in ("bitwise_and", "bitwise_or", "bitwise_xor")}  # fmt: skip
SAMPLES["power"] += [
    call(real(2, 3), 3), call(real(2, 3), 2), call(real(3, low=0.3, high=2), 0.5),
    call(real(3, low=0.3, high=2), -1), call(2.0, real(3)), call(-real(3, low=0.3, high=2), 2.0),
]  # fmt: skip
SAMPLES["multiply"] += [call(real(3), 2.0), call(2.0, real(3)), call(real(3), 2)]
SAMPLES["divide"] += [call(real(3), 2.0), call(2.0, real(3))]
SAMPLES["multiply_no_nan"] += [call(real(2, 3), 2.0), call(real(3), np.array([0.0, 2, 0]))]
SAMPLES["root"] = SAMPLES["sqrt"]
SAMPLES["erf"] += [call(real(3, 4, low=-0.9, high=0.9)), call(real(300, 30))]

SAMPLES |= {
    "cast": [call(real(2, 3), dtype=np.dtype("float64"), other_floats="")],
    "logical_not": [call(booleans(2, 3))],
    "invert": [call(integers(2, 3, below=9)), call(booleans(2, 3))],
    "gated": [call(real(2, 3), booleans(2, 3))],
    "masked": [call(real(2, 3), booleans(2, 3)), call(real(100, 90), booleans(100, 90))],
    "select": [
        call(booleans(2, 3), real(2, 3), real(2, 3)),
        call(booleans(100, 90), real(100, 90), real(100, 90)),
        call(booleans(100, 90), real(90), real(100, 1)),
        call(booleans(100, 90), real(100, 90), 0.5),
    ],
    "clip": [
        call(real(2, 3, low=-3, high=3), real(2, 3, low=-1.4, high=-0.8),
            real(2, 3, low=0.8, high=1.4)),
    ],
    "whole_divide": [call(np.array([[3, -4, 0], [1, 8, -7]]), np.array([[2, 3, 4], [-1, -2, 3]]))],
    "whole_mod": [call(np.array([[3, -4, 0], [1, 8, -7]]), np.array([[2, 3, 4], [-1, -2, 3]]))],
    # one element: tests call it with other orders of the elements, too
    "in_order": [call(np.array([7]), what="x"), call(np.zeros(0, np.int64), what="x")],
    "within": [call(np.array([[3, 0, 1], [2, 2, 0]]), what="x", size=4)],
    "class_indices": [call(integers(2, 3, below=4), classes=4), call(real(3) * 0 + 1, classes=4)],
}  # fmt: skip


def _where_nonzero(chosen, function, a, b):
    """function(a, b), 0 where `chosen` is 0."""
    a, b, chosen = np.broadcast_arrays(a, b, chosen)
    y = np.zeros(a.shape)
    y[chosen != 0] = function(a[chosen != 0], b[chosen != 0])
    return y


REFERENCES = {
    "abs": np.absolute,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cast": lambda x, dtype: x.astype(dtype),
    "class_indices": lambda x, classes: x.astype(np.int64),
    "clip": lambda x, low, high: np.clip(x, low, high),
    "divide_no_nan": lambda a, b: _where_nonzero(b, np.divide, a, b),
    "erf": special.erf,
    "floor_mod": np.remainder,
    "gated": lambda a, b: np.where(b, a, 0.0),
    "identity": np.positive,
    "is_finite": np.isfinite,
    "is_inf": np.isinf,
    "is_nan": np.isnan,
    "masked": lambda x, condition: np.where(condition, x, 0),
    "multiply_no_nan": lambda a, b: _where_nonzero(b, np.multiply, a, b),
    "relu": lambda x: np.where(x > 0, x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "root": np.sqrt,
    "round": np.rint,
    "rsqrt": lambda x: x**-0.5,
    "select": np.where,
    "sigmoid": special.expit,
    "sigmoid_cross_entropy": lambda x, y: (
        -y * special.log_expit(x) - (1 - y) * special.log_expit(-x)
    ),
    "softplus": lambda x: -special.log_expit(-x),
    "stop_gradient": np.positive,
    "tanh_back": lambda a, b: a * (1 - np.square(b)),
    "whole_divide": np.floor_divide,
    "whole_mod": np.remainder,
    "in_order": lambda x, what: x,
    "within": lambda x, what, size: x,
    "xdivy": lambda a, b: _where_nonzero(a, np.divide, a, b),
    "xlog1py": special.xlog1py,
    "xlogy": special.xlogy,
}  # fmt: skip
