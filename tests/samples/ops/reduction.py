"""Samples and references of reductions and scans."""

import numpy as np

from tests.samples.ops.arguments import Sample, booleans, call, real


def over_axes(**more):
    """A reduction over one axis, several, none and all, kept or not, and of nothing."""
    return [
        call(real(2, 3, 4), axis=(1,), keepdims=False, **more),
        call(real(2, 3, 4), axis=(0, 2), keepdims=True, **more),
        call(real(2, 3), axis=(0, 1), keepdims=False, **more),
        call(real(2, 3), axis=(), keepdims=False, **more),
        call(real(), axis=(), keepdims=False, **more),
        call(real(0, 3), axis=(0,), keepdims=False, **more),
        call(real(2, 0), axis=(0,), keepdims=True, **more),
    ]


def bools_over_axes():
    return [Sample((booleans(*s.args[0].shape),), s.attrs) for s in over_axes()]


def along_axis(**more):
    return [
        call(real(3, 4), axis=0, **more),
        call(real(2, 3, 2), axis=1, **more),
        call(real(1), axis=0, **more),
        call(real(0, 3), axis=0, **more),
    ]


def _falling(x):
    """The nearest falling sequences by their definition: the least of the largest means."""
    y, steps = np.empty(x.shape), np.zeros(x.shape, np.int32)
    for row in np.ndindex(x.shape[:-1]):
        values = x[row]
        n = len(values)
        y[row] = [
            min(max(values[a : b + 1].mean() for b in range(k, n)) for a in range(k + 1))
            for k in range(n)
        ]
        steps[row] = np.cumsum(np.append(False, ~np.isclose(np.diff(y[row]), 0)))[:n]
    return y, steps


SAMPLES = {
    "isotonic": [
        Sample((real(2, 3),)), Sample((real(3, 2, 6),)), Sample((np.zeros((0, 2)),)),
    ],
    "reduce_sum": over_axes(), "reduce_mean": over_axes(), "reduce_max": over_axes(),
    "reduce_min": over_axes(), "reduce_logsumexp": over_axes(),
    "reduce_prod": [*over_axes(),
    call(np.array([[2.0, 0, 3], [0, 1, 0]]), axis=(1,), keepdims=False)],
    "reduce_any": bools_over_axes(), "reduce_all": bools_over_axes(),
    "argmax": [call(real(3, 4), axis=1, dtype=np.dtype("int64")),
               call(real(3, 4), axis=0, dtype=np.dtype("int32")),
               call(real(0, 4), axis=1, dtype=np.dtype("int64"))],
    "argmin": [call(real(3, 4), axis=1, dtype=np.dtype("int64")),
               call(real(3, 4), axis=0, dtype=np.dtype("int32")),
               call(real(0, 4), axis=1, dtype=np.dtype("int64"))],
    "cumsum": along_axis(reverse=False) + along_axis(reverse=True),
    "cumprod": [*along_axis(reverse=False), *along_axis(reverse=True),
                call(np.array([2.0, 0, 3, 0, 1]), axis=0, reverse=False)],
    "linear_scan": [
        call(real(2, 4), real(2, 4), axis=1, reverse=False),
        call(real(4), real(4), axis=0, reverse=True),
        call(real(3, 0), real(3, 0), axis=1, reverse=False),
    ],
}  # fmt: skip


def _running(function):
    def reference(x, axis, reverse):
        return np.flip(function(np.flip(x, axis), axis), axis) if reverse else function(x, axis)

    return reference


def _linear_scan(a, b, axis, reverse):
    if reverse:
        return np.flip(_linear_scan(np.flip(a, axis), np.flip(b, axis), axis, False), axis)
    y = np.zeros(b.shape)
    for k in range(b.shape[axis]):
        here = (slice(None),) * axis + (k,)
        before = (slice(None),) * axis + (k - 1,)
        y[here] = b[here] + (a[here] * y[before] if k else 0)
    return y


def _reduced(function):
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims)


def _logsumexp(x, axis, keepdims):
    with np.errstate(divide="ignore"):
        return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def _empty_safe(function, worst):
    return lambda x, axis, keepdims: function(x, axis=axis, keepdims=keepdims, initial=worst)


def _mean(x, axis, keepdims):
    total = np.sum(x, axis=axis, keepdims=keepdims)
    with np.errstate(invalid="ignore"):
        return total / np.float64(np.prod([x.shape[i] for i in axis]))


REFERENCES = {
    "isotonic": _falling,
    "argmax": lambda x, axis, dtype: np.argmax(x, axis).astype(dtype),
    "argmin": lambda x, axis, dtype: np.argmin(x, axis).astype(dtype),
    "cumprod": _running(np.cumprod),
    "cumsum": _running(np.cumsum),
    "linear_scan": _linear_scan,
    "reduce_all": _reduced(np.all),
    "reduce_any": _reduced(np.any),
    "reduce_logsumexp": _logsumexp,
    "reduce_max": _empty_safe(np.max, -np.inf),
    "reduce_mean": _mean,
    "reduce_min": _empty_safe(np.min, np.inf),
    "reduce_prod": _reduced(np.prod),
    "reduce_sum": _reduced(np.sum),
}  # fmt: skip
