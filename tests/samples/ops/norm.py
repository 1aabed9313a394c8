"""Samples and references of normalisation and of the other fused ops along rows."""

import numpy as np
from scipy import special

from tests.samples.ops.arguments import call, real


def _over(x, axis):
    others = tuple(i for i in range(x.ndim) if i != axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    return others, shape


def _batch_norm(x, gamma, beta, axis, epsilon, relu=False):
    others, shape = _over(x, axis)
    if not x.size:
        nothing = np.full(x.shape[axis], np.nan)
        return x, nothing, nothing
    mean, variance = x.mean(others), x.var(others)
    normal = (x - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + epsilon)
    y = normal * gamma.reshape(shape) + beta.reshape(shape)
    return np.clip(y, 0, 6 if relu == 6 else np.inf) if relu else y, mean, variance


def _batch_norm_back(
    g, g_mean, g_variance, x, gamma, mean, rstd, beta=None, *, axis, needed, most=np.inf
):
    """By the chain rule, step by step: through the variance, then the mean."""
    others, shape = _over(x, axis)
    n = max(x.size // x.shape[axis], 1)
    centred = x - mean.reshape(shape)
    normal = centred * rstd.reshape(shape)
    if beta is not None:
        y = normal * gamma.reshape(shape) + beta.reshape(shape)
        g = np.where((y > 0) & (y < most), g, 0)
    d_normal = g * gamma.reshape(shape)
    d_variance = g_variance - 0.5 * (d_normal * centred).sum(others) * rstd**3
    d_mean = g_mean - d_normal.sum(others) * rstd
    d = d_normal * rstd.reshape(shape) + d_mean.reshape(shape) / n
    d = d + 2 * centred * d_variance.reshape(shape) / n
    found = d, (g * normal).sum(others), g.sum(others)
    return tuple(v for v, wanted in zip(found, needed, strict=True) if wanted)


def _last(vector):
    return tuple(range(-vector.ndim, 0))


def _layer_norm(x, gamma, beta, epsilon):
    if not x.size:
        return x
    axes = _last(gamma)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def _layer_norm_back(g, x, gamma, mean, rstd, needed):
    axes, lead = _last(gamma), tuple(range(x.ndim - gamma.ndim))
    size = (*x.shape[: len(lead)], *(1,) * gamma.ndim)
    normal = (x - mean.reshape(size)) * rstd.reshape(size)
    d = g * gamma
    d = d - d.mean(axes, keepdims=True) - normal * (d * normal).mean(axes, keepdims=True)
    found = d * rstd.reshape(size), (g * normal).sum(lead), g.sum(lead)
    return tuple(v for v, wanted in zip(found, needed, strict=True) if wanted)


def _rms_norm(x, scale, epsilon):
    if not x.size:
        return x
    return x / np.sqrt(np.mean(x**2, _last(scale), keepdims=True) + epsilon) * scale


def _rms_norm_back(g, x, scale, rstd, needed):
    axes, lead = _last(scale), tuple(range(x.ndim - scale.ndim))
    normal = x * rstd.reshape(*x.shape[: len(lead)], *(1,) * scale.ndim)
    d = g * scale
    d = d - normal * (d * normal).mean(axes, keepdims=True)
    d = d * rstd.reshape(*x.shape[: len(lead)], *(1,) * scale.ndim)
    found = d, (g * normal).sum(lead)
    return tuple(v for v, wanted in zip(found, needed, strict=True) if wanted)


def _rows(shape, size):
    lead = int(np.prod(shape[: len(shape) - len(size)]))
    return real(*shape), real(*size), real(lead), real(lead, low=0.5)


_BATCHES = [((4, 3), 1), ((2, 3, 2, 3), 3), ((2, 3, 4), 1), ((3, 2, 2), 0)]
_ROWS = [((3, 5), (5,)), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 4)), ((0, 3), (3,))]


def _softmax_back(g, y, axis):
    return np.stack([
        np.diag(p) @ d - np.outer(p, p) @ d
        for p, d in zip(*(np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis]) for a in (y, g)))
    ]).reshape(np.moveaxis(y, axis, -1).shape).swapaxes(axis, -1) if y.size else y  # fmt: skip


def _gelu(x, approximate):
    if approximate:  # Hendrycks & Gimpel 2016
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def _gelu_back(g, x, approximate):
    """By central differences of higher order."""
    h = 1e-3
    f = [_gelu(x + k * h, approximate) for k in (-3, -2, -1, 1, 2, 3)]
    return g * (f[5] - f[0] - 9 * (f[4] - f[1]) + 45 * (f[3] - f[2])) / (60 * h)


_ALL, _SOME = (True, True, True), (False, True, False)


def _two(*shape, **attrs):
    return call(real(*shape), real(*shape), **attrs)


SAMPLES = {
    "gelu": [call(real(2, 3), approximate=a) for a in (False, True)],
    "gelu_back": [_two(2, 3, approximate=a) for a in (False, True)],
    "gelu_slope": [call(real(2, 3), approximate=a) for a in (False, True)],
    "softmax_back": [_two(2, 3, axis=1), _two(3, 2, axis=0), _two(2, 3, 4, axis=1),
                     _two(0, 3, axis=1)],
    "log_softmax_back": [_two(2, 3, axis=1), _two(3, 2, axis=0), _two(0, 3, axis=1)],
    "moving_average": [call(real(2, 3), real(2, 3), momentum=0.9)],
    "batch_norm": [
        *(
            call(real(*shape), real(shape[axis]), real(shape[axis]), axis=axis, epsilon=1e-2,
                any_batch=(0,) if axis else False, **cut)
            for cut in ({}, {"relu": True}, {"relu": 6}) for shape, axis in _BATCHES
        ),
        call(real(0, 3), real(3), real(3), axis=1, epsilon=0.1, any_batch=(0,), other_floats=""),
    ],
    "batch_norm_back": [
        call(real(*shape), real(n), real(n), real(*shape), real(n), real(n), real(n, low=0.5),
            *[real(n)] * cut, axis=axis, needed=needed, any_batch=False)
        for shape, axis in [*_BATCHES, ((0, 2), 1)] for cut in (False, True)
        for n in [shape[axis]] for needed in (_ALL, _SOME)
    ] + [
        call(real(4, 3), real(3), real(3), real(4, 3), 9 * real(3), real(3), real(3, low=0.5),
            real(3), axis=1, needed=_ALL, most=6.0, any_batch=False)
    ],
    "layer_norm": [
        call(real(*shape), real(*size), real(*size), epsilon=1e-2, any_batch=(0,))
        for shape, size in _ROWS
    ],
    "layer_norm_back": [
        call(real(*shape), x, gamma, mean, rstd, needed=needed, any_batch=False)
        for shape, size in _ROWS
        for x, gamma, mean, rstd in [_rows(shape, size)] for needed in (_ALL, _SOME)
    ],
    "rms_norm": [
        call(real(*shape), real(*size), epsilon=1e-2, any_batch=(0,)) for shape, size in _ROWS
    ],
    "rms_norm_back": [
        call(real(*shape), x, scale, rstd, needed=needed, any_batch=False)
        for shape, size in _ROWS
        for x, scale, _, rstd in [_rows(shape, size)] for needed in ((True, True), (False, True))
    ],
}  # fmt: skip

REFERENCES = {
    "batch_norm": _batch_norm,
    "batch_norm_back": _batch_norm_back,
    "gelu": _gelu,
    "gelu_back": _gelu_back,
    "gelu_slope": lambda x, approximate: _gelu_back(1.0, x, approximate),
    "layer_norm": _layer_norm,
    "layer_norm_back": _layer_norm_back,
    "log_softmax_back": lambda g, p, axis: g - np.exp(p) * g.sum(axis, keepdims=True),
    "moving_average": lambda a, b, momentum: a * momentum + b * (1 - momentum),
    "rms_norm": _rms_norm,
    "rms_norm_back": _rms_norm_back,
    "softmax_back": _softmax_back,
}
