"""Rows: layer and root-mean-square normalisation.

Arrays are seen as (rows, size): what is normalised lies in the last axis.
"""

import numpy as np

from framework.core.quiet import quiet
from framework.kernels.windows import wide_enough

_BLOCK = 1 << 15  # elements: a block stays in the cache from one pass to the next


def as_rows(x, size):
    """`x` as contiguous (rows, size)."""
    return np.ascontiguousarray(x).reshape(-1 if size else 0, size)


def _blocks(x):
    step = max(_BLOCK // max(x.shape[1], 1), 1)
    return [slice(i, i + step) for i in range(0, len(x), step)]


# ---- layer normalisation -------------------------------------------------------------------------


@quiet
def layer_norm(x, gamma, beta, *, epsilon):
    """Each row of the size of `gamma` brought to mean 0 and variance 1, times gamma plus beta.

    Saved: the rows' mean and 1 / sqrt(variance + epsilon).
    """
    narrow, dtype = x.dtype, wide_enough(x.dtype)
    rows = as_rows(x.astype(dtype, copy=False), gamma.size)
    gamma, beta = (v.reshape(-1).astype(dtype, copy=False) for v in (gamma, beta))
    y = np.empty_like(rows)
    mean, rstd = np.empty(len(rows), dtype), np.empty(len(rows), dtype)
    for at in _blocks(rows):
        out = y[at]
        mean[at] = np.add.reduce(rows[at], axis=1) / dtype.type(rows.shape[1])
        np.subtract(rows[at], mean[at, None], out=out)
        variance = np.vecdot(out, out) / dtype.type(rows.shape[1])
        rstd[at] = 1 / np.sqrt(variance + dtype.type(epsilon))
        out *= rstd[at, None]
        out *= gamma
        out += beta
    return y.reshape(x.shape).astype(narrow, copy=False), (mean, rstd)


@quiet
def layer_norm_back(g, x, gamma, mean, rstd, *, needed):
    """The cotangents of x, gamma and beta, those in `needed`."""
    narrow, dtype = x.dtype, mean.dtype
    size = gamma.size
    g, rows = (as_rows(a.astype(dtype, copy=False), size) for a in (g, x))
    flat = gamma.reshape(-1).astype(dtype, copy=False)
    d = np.empty_like(rows)
    d_gamma, d_beta = np.zeros(size, dtype), np.zeros(size, dtype)
    for at in _blocks(rows):
        normal = rows[at] - mean[at, None]
        normal *= rstd[at, None]
        d_beta += np.add.reduce(g[at], axis=0)
        out = np.multiply(g[at], normal, out=d[at])
        d_gamma += np.add.reduce(out, axis=0)
        if needed[0]:
            np.multiply(g[at], flat, out=out)
            normal *= (np.vecdot(out, normal) / dtype.type(size))[:, None]
            out -= (np.add.reduce(out, axis=1) / dtype.type(size))[:, None]
            out -= normal
            out *= rstd[at, None]
    made = d.reshape(x.shape), d_gamma.reshape(gamma.shape), d_beta.reshape(gamma.shape)
    return tuple(v.astype(narrow, copy=False) for v, n in zip(made, needed, strict=True) if n)


# ---- root-mean-square normalisation --------------------------------------------------------------


@quiet
def rms_norm(x, scale, *, epsilon):
    """Each row of the size of `scale` divided by its root mean square, times scale.

    Saved: 1 / sqrt(mean square + epsilon) of the rows.
    """
    narrow, dtype = x.dtype, wide_enough(x.dtype)
    rows = as_rows(x.astype(dtype, copy=False), scale.size)
    scale = scale.reshape(-1).astype(dtype, copy=False)
    y = np.empty_like(rows)
    rstd = np.empty(len(rows), dtype)
    for at in _blocks(rows):
        square = np.vecdot(rows[at], rows[at]) / dtype.type(rows.shape[1])
        rstd[at] = 1 / np.sqrt(square + dtype.type(epsilon))
        np.multiply(rows[at], rstd[at, None], out=y[at])
        y[at] *= scale
    return y.reshape(x.shape).astype(narrow, copy=False), (rstd,)


@quiet
def rms_norm_back(g, x, scale, rstd, *, needed):
    """The cotangents of x and scale, those in `needed`."""
    narrow, dtype = x.dtype, rstd.dtype
    size = scale.size
    g, rows = (as_rows(a.astype(dtype, copy=False), size) for a in (g, x))
    flat = scale.reshape(-1).astype(dtype, copy=False)
    d = np.empty_like(rows)
    d_scale = np.zeros(size, dtype)
    for at in _blocks(rows):
        normal = rows[at] * rstd[at, None]
        out = np.multiply(g[at], normal, out=d[at])
        d_scale += np.add.reduce(out, axis=0)
        if needed[0]:
            np.multiply(g[at], flat, out=out)
            normal *= (np.vecdot(out, normal) / dtype.type(size))[:, None]
            out -= normal
            out *= rstd[at, None]
    made = d.reshape(x.shape), d_scale.reshape(scale.shape)
    return tuple(v.astype(narrow, copy=False) for v, n in zip(made, needed, strict=True) if n)
