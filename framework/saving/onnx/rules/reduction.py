"""Translation rules for reductions and cumulative functions."""

import numpy as np

from framework.saving.onnx.rules import RULES, rule
from framework.saving.onnx.rules.operands import promoted, wide
from framework.saving.onnx.scans import scan
from framework.saving.onnx.sizes import product

_REDUCTIONS = {
    "reduce_logsumexp": "ReduceLogSumExp", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd", "reduce_sum": "ReduceSum",
}  # fmt: skip


def _reduced(b, op_type, x, axis, keepdims):
    if not axis:
        return x
    return b(op_type, x, b.constant(np.array(axis, np.int64)), keepdims=int(keepdims))


def _reduction(op_type):
    @wide
    def translate(b, x, *, axis, keepdims):
        if x.dtype == bool:
            y = _reduced(b, op_type, b.cast(x, np.int32), axis, keepdims)
            return b.cast(y, bool)
        return _reduced(b, op_type, x, axis, keepdims)

    return translate


RULES.update({name: _reduction(op_type) for name, op_type in _REDUCTIONS.items()})


@rule("reduce_mean")
def reduce_mean(b, x, *, axis, keepdims):
    if x.dtype.kind == "f":
        return _reduced(b, "ReduceMean", x, axis, keepdims)
    total = _reduced(b, "ReduceSum", b.cast(x, np.int64), axis, keepdims)
    count = b.squeeze(b.size(product(x.shape[i] for i in axis)), 0)
    # ONNX's Div of integers rounds towards zero, as this op does
    return b.cast(b("Div", total, count), x.dtype)


@rule("reduce_any")
def reduce_any(b, x, *, axis, keepdims):
    truth = b.cast(b.cast(x, bool), np.int32)
    return b.cast(_reduced(b, "ReduceMax", truth, axis, keepdims), bool)


@rule("reduce_all")
def reduce_all(b, x, *, axis, keepdims):
    truth = b.cast(b.cast(x, bool), np.int32)
    return b.cast(_reduced(b, "ReduceMin", truth, axis, keepdims), bool)


def _place(op_type):
    def translate(b, x, *, axis, dtype):
        x = b.cast(x, np.int32) if x.dtype.kind == "b" or x.dtype.itemsize < 4 else x
        x = b.cast(x, np.float64) if x.dtype in (np.int64, np.uint32) else x
        return b(op_type, x, axis=axis, keepdims=0, dtype=np.int64)

    return translate


RULES["argmax"], RULES["argmin"] = _place("ArgMax"), _place("ArgMin")


# ---- along an axis -------------------------------------------------------------------------------


@rule("cumsum")
@wide
def cumsum(b, x, *, axis, reverse):
    return b("CumSum", x, b.constant(np.int64(axis)), reverse=int(reverse))


def _scanned(b, sequences, axis, reverse, start, step):
    """Add a Scan along an axis with one state, whose initial value is the number `start`."""
    x = sequences[-1]
    shape = tuple(n for i, n in enumerate(x.shape) if i != axis)
    state = b.fill(start, shape, x.dtype)
    _, (steps,) = scan(
        b, [state], sequences, lambda inner, s, parts: ([y := step(inner, s[0], *parts)], [y]),
        axis=axis, reverse=reverse,
    )  # fmt: skip
    return steps


@rule("cumprod")
@wide
def cumprod(b, x, *, axis, reverse):
    return _scanned(b, [x], axis, reverse, 1, lambda inner, s, v: inner("Mul", s, v))


@rule("linear_scan")
def linear_scan(b, x, y, *, axis, reverse):
    def step(inner, state, factor, term):
        return inner("Add", inner("Mul", factor, state), term)

    return _scanned(b, promoted(b, x, y), axis, reverse, 0, step)


@rule("cumulative_logsumexp")
def cumulative_logsumexp(b, x, *, axis, reverse):
    return _scanned(b, [x], axis, reverse, -np.inf, RULES["logaddexp"])
