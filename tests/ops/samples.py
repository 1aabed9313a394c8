"""For every op the arguments it is tested with: float64, away from kinks and ties.

`test_every_op.py` makes more of the elementwise ones itself: 0-d, empty and broadcast arguments.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Sample:
    """Arguments and attributes of one call.

    `any_batch`: whether the call fits a leading dimension of another size; or the positions of the
    arguments that have one.
    `other_floats`: whether the same call works on float32 and float16.
    `symmetric`: the arguments are symmetric matrices, and derivatives are taken among such.
    """

    args: tuple
    attrs: dict = field(default_factory=dict)
    any_batch: bool | tuple = True
    other_floats: str = "float32 float16"
    symmetric: bool = False


_rng = np.random.default_rng(2024)


def real(*shape, low=-2.0, high=2.0, off=0.15):
    """Random numbers, none nearer to zero than `off`, nor to each other than a hundredth of it."""
    n = int(np.prod(shape))
    spread = np.linspace(low, high, n + 2)[1:-1] if n else np.zeros(0)
    values = _rng.permutation(spread).reshape(shape)
    return np.asarray(values + np.where(values < 0, -off, off) if low < 0 < high else values)


def whole(*shape, below):
    return _rng.integers(0, below, shape)


def true(*shape):
    return np.asarray(_rng.random(shape) < 0.5)


def one(*args, any_batch=True, other_floats="float32 float16", **attrs):
    return Sample(args, attrs, any_batch, other_floats)


def fixed(*args, **attrs):
    """A call whose attributes fit this leading dimension only."""
    return Sample(args, attrs, any_batch=False)


def lapack(*args, **attrs):
    """A call that NumPy computes in float32 and float64 only."""
    return Sample(args, attrs, other_floats="float32")


def over_axes(**more):
    """A reduction over one axis, several, none and all, kept or not, and of nothing."""
    return [
        one(real(2, 3, 4), axis=(1,), keepdims=False, **more),
        one(real(2, 3, 4), axis=(0, 2), keepdims=True, **more),
        one(real(2, 3), axis=(0, 1), keepdims=False, **more),
        one(real(2, 3), axis=(), keepdims=False, **more),
        one(real(), axis=(), keepdims=False, **more),
        one(real(0, 3), axis=(0,), keepdims=False, **more),
        one(real(2, 0), axis=(0,), keepdims=True, **more),
    ]


def bools_over_axes():
    return [Sample((true(*s.args[0].shape),), s.attrs) for s in over_axes()]


def along_axis(**more):
    return [
        one(real(3, 4), axis=0, **more),
        one(real(2, 3, 2), axis=1, **more),
        one(real(1), axis=0, **more),
        one(real(0, 3), axis=0, **more),
    ]


def rows(**more):
    return [one(real(3, 4), axis=1, **more), one(real(2, 3, 2), axis=1, **more),
            one(real(3, 2, 2), axis=0, **more), one(real(0, 3), axis=1, **more)]  # fmt: skip


def wide_matrix_row(n):
    return np.eye(n) * 3 + real(n, n, low=-0.5, high=0.5)


_UNARY = {  # op: (low, high) of its argument
    "negative": (-2, 2), "identity": (-2, 2), "abs": (-2, 2), "square": (-2, 2),
    "conj": (-2, 2),
    "reciprocal": (-2, 2), "sqrt": (0.3, 3), "rsqrt": (0.3, 3), "exp": (-2, 2), "expm1": (-2, 2),
    "log": (0.3, 3), "log1p": (-0.6, 3), "sin": (-2, 2), "cos": (-2, 2), "tan": (-1, 1),
    "asin": (-0.7, 0.7), "acos": (-0.7, 0.7), "atan": (-2, 2), "sinh": (-2, 2), "cosh": (-2, 2),
    "tanh": (-2, 2), "asinh": (-2, 2), "acosh": (1.2, 3), "atanh": (-0.7, 0.7), "relu": (-2, 2),
    "sigmoid": (-4, 4), "softplus": (-4, 4), "erf": (-2.5, 2.5), "sign": (-2, 2),
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

SAMPLES = {name: [one(real(2, 3, low=lo, high=hi))] for name, (lo, hi) in _UNARY.items()}
SAMPLES |= {
    name: [one(real(2, 3, low=lo, high=hi), real(2, 3, low=lo, high=hi, off=0.22))]
    for name, (lo, hi) in _BINARY.items()
}
SAMPLES |= {name: [one(true(2, 3), true(2, 3))]
            for name in ("logical_and", "logical_or", "logical_xor")}  # fmt: skip
SAMPLES |= {name: [one(whole(2, 3, below=9), whole(2, 3, below=9))]
            for name in ("bitwise_and", "bitwise_or", "bitwise_xor")}  # fmt: skip
SAMPLES["power"] += [
    one(real(2, 3), 3), one(real(2, 3), 2), one(real(3, low=0.3, high=2), 0.5),
    one(real(3, low=0.3, high=2), -1), one(2.0, real(3)), one(-real(3, low=0.3, high=2), 2.0),
]  # fmt: skip
SAMPLES["multiply"] += [one(real(3), 2.0), one(2.0, real(3)), one(real(3), 2)]
SAMPLES["divide"] += [one(real(3), 2.0), one(2.0, real(3))]
SAMPLES["multiply_no_nan"] += [one(real(2, 3), 2.0), one(real(3), np.array([0.0, 2, 0]))]
SAMPLES["root"] = SAMPLES["sqrt"]
SAMPLES["erf"] += [one(real(3, 4, low=-0.9, high=0.9)), one(real(300, 30))]

SAMPLES |= {
    "cast": [one(real(2, 3), dtype=np.dtype("float64"), other_floats="")],
    "logical_not": [one(true(2, 3))],
    "invert": [one(whole(2, 3, below=9)), one(true(2, 3))],
    "gated": [one(real(2, 3), true(2, 3))],
    "masked": [one(real(2, 3), true(2, 3)), one(real(100, 90), true(100, 90))],
    "select": [
        one(true(2, 3), real(2, 3), real(2, 3)), one(true(100, 90), real(100, 90), real(100, 90)),
        one(true(100, 90), real(90), real(100, 1)), one(true(100, 90), real(100, 90), 0.5),
    ],
    "clip": [
        one(real(2, 3, low=-3, high=3), real(2, 3, low=-1.4, high=-0.8),
            real(2, 3, low=0.8, high=1.4)),
    ],
    "whole_divide": [one(np.array([[3, -4, 0], [1, 8, -7]]), np.array([[2, 3, 4], [-1, -2, 3]]))],
    "whole_mod": [one(np.array([[3, -4, 0], [1, 8, -7]]), np.array([[2, 3, 4], [-1, -2, 3]]))],
    "within": [one(np.array([[3, 0, 1], [2, 2, 0]]), what="x", size=4)],
    "class_indices": [one(whole(2, 3, below=4), classes=4), one(real(3) * 0 + 1, classes=4)],
    # ---- movement
    "reshape": [
        one(real(2, 6), shape=(-1, 3)), fixed(real(2, 6), shape=(3, 4)),
        fixed(real(), shape=(1, 1)),
        fixed(real(0, 3), shape=(3, 0)), fixed(real(1), shape=()),
    ],
    "transpose": [
        one(real(2, 3, 4), perm=(2, 0, 1)), one(real(2, 3), perm=(1, 0)), one(real(), perm=()),
        one(real(0, 3), perm=(1, 0)),
    ],
    "broadcast_to": [
        fixed(real(3), shape=(2, 3)), fixed(real(2, 1, 3), shape=(2, 4, 3)),
        fixed(real(), shape=(2, 2)), fixed(real(1, 3), shape=(0, 3)), fixed(real(2), shape=(2,)),
        fixed(real(0, 3), shape=(2, 0, 3)),
    ],
    "sum_to": [
        fixed(real(2, 3), shape=(3,)), fixed(real(2, 4, 3), shape=(2, 1, 3)),
        fixed(real(2, 2), shape=()), fixed(real(0, 3), shape=(1, 3)), fixed(real(2), shape=(2,)),
    ],
    "flip": [one(real(2, 3), axis=(1,)), one(real(2, 3), axis=(0, 1)), one(real(0, 2), axis=(0,))],
    "roll": [
        one(real(2, 3), shift=(1,), axis=(1,)), one(real(2, 3), shift=(1, -2), axis=(0, 1)),
        one(real(0, 2), shift=(1,), axis=(0,)),
    ],
    "concat": [
        one(real(2, 3), real(2, 1), real(2, 2), axis=1), one(real(2, 3), real(1, 3), axis=0),
        one(real(2, 3), axis=0), one(real(0, 3), real(2, 3), axis=0),
    ],
    "split": [
        one(real(2, 6), sizes=(1, 3, 2), axis=1), one(real(2, 6), sizes=(6, 0), axis=1),
        one(real(0, 2), sizes=(1, 1), axis=1),
    ],
    "stack": [
        one(real(2, 3), real(2, 3), axis=1), one(real(), real(), axis=0), one(real(2), axis=1),
        one(real(0, 2), real(0, 2), axis=0),
    ],
    "unstack": [one(real(2, 3), axis=1), one(real(0, 2), axis=1), fixed(real(3), axis=0)],
    "getitem": [
        one(real(4, 3), index=(slice(1, None),)), one(real(4, 3), index=(slice(None, None, -2), 1)),
        one(real(4, 3), index=(Ellipsis, None, 2)), one(real(4, 3), index=(2,)),
        one(real(4, 3), index=(np.array([3, 0, 3]),)),
        one(real(4, 3), index=(slice(None), np.array([[0, 2], [2, 2]]))),
        one(real(4, 3), index=(np.array([1, 1]), np.array([0, 2]))),
        fixed(real(4, 3), index=(np.array([True, False, True, True]),)),
        one(real(), index=()), one(real(), index=(None,)), one(real(4, 3), index=(slice(0, 0),)),
        one(real(0, 3), index=(slice(None, None, -1),)),
    ],
    "put": [
        fixed(real(3, 3), shape=(4, 3), index=(slice(1, None),)),
        fixed(real(2), shape=(4, 3), index=(slice(None, None, -2), 1)),
        fixed(real(3, 3), shape=(4, 3), index=(np.array([3, 0, 3]),)),
        fixed(real(2), shape=(4, 3), index=(np.array([1, 1]), np.array([2, 2]))),
        fixed(real(0, 3), shape=(4, 3), index=(slice(0, 0),)),
    ],
    "gather": [
        one(real(4, 3), np.array([3, 0, 3, -1]), axis=0),
        one(real(2, 4), whole(2, 2, below=4), axis=1),
        one(real(2, 4, 3), np.array([-1, 1, 1]), axis=1), one(real(4), np.array(2), axis=0),
        one(real(4, 3), np.zeros(0, int), axis=0), one(real(3, 0), np.array([1]), axis=0),
    ],
    "gather_rows": [
        one(real(4, 3), np.array([3, 0, 3, -1])), one(real(4, 2), np.array([[1, 1], [0, 3]])),
        one(real(4), np.array(2)), one(real(4, 3), np.zeros(0, int)),
        one(real(3, 0), np.array([1])), one(real(2, 0, 3), np.array([[1, 0]])),
    ],
    "scatter_add": [
        fixed(real(4, 3), np.array([3, 0, 3, -1]), shape=(4, 3), axis=0),
        fixed(real(2, 2, 2), whole(2, 2, below=4), shape=(2, 4), axis=1),
        fixed(real(2, 3, 3), np.array([-1, 1, 1]), shape=(2, 4, 3), axis=1),
        fixed(real(), np.array(2), shape=(4,), axis=0),
        fixed(real(0, 3), np.zeros(0, int), shape=(4, 3), axis=0),
    ],
    "take_along_axis": [
        one(real(2, 4), whole(2, 3, below=4), axis=1),
        one(real(2, 3), np.array([[0, 1, 1]]), axis=0),
        one(real(0, 3), np.zeros((0, 2), int), axis=1),
    ],
    "put_along_axis": [
        fixed(real(2, 3), np.array([[0, 3, 3], [1, 1, 1]]), shape=(2, 4), axis=1),
        fixed(real(1, 3), np.array([[0, 1, 1]]), shape=(2, 3), axis=0),
        fixed(real(0, 2), np.zeros((0, 2), int), shape=(0, 3), axis=1),
    ],
    "pad": [
        one(real(2, 3), widths=((0, 0), (1, 2))), one(real(2), widths=((3, 0),)),
        one(real(), widths=()), one(real(0, 2), widths=((1, 1), (0, 0))),
    ],
    "one_hot": [
        one(whole(2, 3, below=4), depth=4, dtype=np.dtype("float32")),
        one(np.array(5), depth=4, dtype=np.dtype("int32")),
        one(np.zeros(0, int), depth=3, dtype=np.dtype("float32")),
    ],
    "argsort": [
        one(real(3, 4), axis=1), one(real(3, 4), axis=0, descending=True),
        one(np.array([1.0, 2, 1, 2]), axis=0, descending=True), one(real(0, 3), axis=1),
    ],
    # ---- contraction
    "matmul": [
        one(real(2, 3), real(3, 4), any_batch=(0,)), one(real(2, 2, 3), real(2, 3, 2)),
        one(real(2, 2, 3), real(3, 2), any_batch=(0,)),
        one(real(2, 3), real(4, 3, 2), any_batch=(1,)),
        one(real(2, 1, 2, 3), real(3, 3, 1), any_batch=(0,)),
        one(real(3, 2), real(3, 4), transpose_a=True),
        one(real(2, 3), real(4, 3), transpose_b=True, any_batch=(0,)),
        fixed(real(3, 2), real(4, 3), transpose_a=True, transpose_b=True),
        one(real(2, 3, 2), real(4, 3), transpose_a=True, transpose_b=True, any_batch=(0,)),
        one(real(0, 3), real(3, 2), any_batch=(0,)), one(real(2, 0), real(0, 2), any_batch=(0,)),
    ],
    # ---- reduction
    "reduce_sum": over_axes(), "reduce_mean": over_axes(), "reduce_max": over_axes(),
    "reduce_min": over_axes(), "reduce_logsumexp": over_axes(),
    "reduce_prod": [*over_axes(),
    one(np.array([[2.0, 0, 3], [0, 1, 0]]), axis=(1,), keepdims=False)],
    "reduce_any": bools_over_axes(), "reduce_all": bools_over_axes(),
    "argmax": [one(real(3, 4), axis=1, dtype=np.dtype("int64")),
               one(real(3, 4), axis=0, dtype=np.dtype("int32")),
               one(real(0, 4), axis=1, dtype=np.dtype("int64"))],
    "argmin": [one(real(3, 4), axis=1, dtype=np.dtype("int64")),
               one(real(3, 4), axis=0, dtype=np.dtype("int32")),
               one(real(0, 4), axis=1, dtype=np.dtype("int64"))],
    "cumsum": along_axis(reverse=False) + along_axis(reverse=True),
    "cumprod": [*along_axis(reverse=False), *along_axis(reverse=True),
                one(np.array([2.0, 0, 3, 0, 1]), axis=0, reverse=False)],
    "linear_scan": [
        one(real(2, 4), real(2, 4), axis=1, reverse=False),
        one(real(4), real(4), axis=0, reverse=True),
        one(real(3, 0), real(3, 0), axis=1, reverse=False),
    ],
    # ---- rows
    "softmax": rows(), "log_softmax": rows(), "sparsemax": rows(),
    "softmax_cross_entropy": [
        one(real(3, 4), real(3, 4, low=0.1, high=1)), one(real(2, 3, 2), real(2, 3, 2)),
        one(real(4), real(4)), one(real(0, 3), real(0, 3)),
    ],
    "cross_entropy_back": [one(real(3), real(3, 4), real(3, 4), real(3, 1)),
                           one(real(0), real(0, 4), real(0, 4), real(0, 1))],
    "sparse_softmax_cross_entropy": [
        one(real(3, 4), whole(3, below=4)), one(real(2, 3, 4), whole(2, 3, below=4)),
        one(real(4), np.array(2)), one(real(0, 3), np.zeros(0, int)),
    ],
    "sparse_cross_entropy_back": [one(real(3), whole(3, below=4), real(3, 4), real(3)),
                                  one(real(0), whole(0, below=4), real(0, 4), real(0))],
    # ---- the rest
    "dropout": [
        one(real(3, 4), real(3, 4, low=0, high=1), rate=0.4),
        one(real(2, 3), real(2, 3, low=0), rate=0.0),
        one(real(2, 3), real(2, 3, low=0, high=1), rate=1),
        one(real(3, 4), real(3, 1, low=0, high=1), rate=0.4), one(real(0, 2), real(0, 2), rate=0.5),
        one(real(), real(), rate=0.5),
    ],
    "lstm_cell": [
        one(real(3, 4), real(3, 2), real(3, 2), real(4, 8), real(2, 8), real(8),
            any_batch=(0, 1, 2)),
        one(real(0, 4), real(0, 2), real(0, 2), real(4, 8), real(2, 8), real(8),
            any_batch=(0, 1, 2)),
    ],
    "lstm_cell_back": [
        one(*[real(3, 2)] * 2, real(3, 4), real(3, 2), real(3, 2), real(4, 8), real(2, 8),
            real(3, 8),
            real(3, 2), needed=(True, False, True, True, False, True),
                any_batch=(0, 1, 2, 3, 4, 7, 8)),
        one(*[real(0, 2)] * 2, real(0, 4), real(0, 2), real(0, 2), real(4, 8), real(2, 8),
            real(0, 8),
            real(0, 2), needed=(True,) * 6, any_batch=(0, 1, 2, 3, 4, 7, 8)),
    ],
}  # fmt: skip
