"""Solutions of banded linear systems on arrays; leading axes are a batch.

The loops run over the rows; each iteration computes one row of all systems in the batch.
"""

import numpy as np


def banded_solve(bands, rhs):
    """Return x with A x = rhs for a lower triangular A, by substitution.

    Args:
        bands: (..., k, n); bands[..., d, i] is A[i, i - d], with d = 0 for the diagonal.
        rhs: (..., n, columns).
    """
    lead = np.broadcast_shapes(bands.shape[:-2], rhs.shape[:-2])
    bands = np.broadcast_to(bands, (*lead, *bands.shape[-2:]))
    x = np.array(np.broadcast_to(rhs, (*lead, *rhs.shape[-2:])))
    with np.errstate(all="ignore"):
        for i in range(x.shape[-2]):
            for d in range(1, min(bands.shape[-2], i + 1)):
                x[..., i, :] -= bands[..., d, i, None] * x[..., i - d, :]
            x[..., i, :] /= bands[..., 0, i, None]
    return x


def tridiagonal_solve(diagonals, rhs):
    """Return x with A x = rhs for a tridiagonal A, by elimination with row exchanges.

    Args:
        diagonals: (..., 3, n): above, on and below the diagonal, each by the row of A; the last
            element above it and the first below it are ignored.
        rhs: (..., n, columns).
    """
    lead = np.broadcast_shapes(diagonals.shape[:-2], rhs.shape[:-2])
    dtype = np.result_type(diagonals, rhs)
    wide = np.broadcast_to(diagonals, (*lead, *diagonals.shape[-2:])).astype(dtype)
    above, on, below = (wide[..., k, :] for k in range(3))
    x = np.array(np.broadcast_to(rhs, (*lead, *rhs.shape[-2:])), dtype)
    n = x.shape[-2]
    # the second superdiagonal, which row exchanges can make nonzero
    far = np.zeros_like(above)
    if n:
        above[..., -1] = 0
    with np.errstate(all="ignore"):
        for i in range(n - 1):
            exchange = np.abs(below[..., i + 1]) > np.abs(on[..., i])
            one = on[..., i], above[..., i], np.zeros_like(far[..., i])
            two = below[..., i + 1], on[..., i + 1], above[..., i + 1]
            top = [np.where(exchange, b, a) for a, b in zip(one, two)]
            low = [np.where(exchange, a, b) for a, b in zip(one, two)]
            factor = low[0] / top[0]
            on[..., i], above[..., i], far[..., i] = top
            on[..., i + 1] = low[1] - factor * top[1]
            above[..., i + 1] = low[2] - factor * top[2]
            swap = exchange[..., None]
            upper = np.where(swap, x[..., i + 1, :], x[..., i, :])
            lower = np.where(swap, x[..., i, :], x[..., i + 1, :])
            x[..., i, :] = upper
            x[..., i + 1, :] = lower - factor[..., None] * upper
        for i in range(n - 1, -1, -1):
            if i + 1 < n:
                x[..., i, :] -= above[..., i, None] * x[..., i + 1, :]
            if i + 2 < n:
                x[..., i, :] -= far[..., i, None] * x[..., i + 2, :]
            x[..., i, :] /= on[..., i, None]
    return x
