"""Matrix functions that NumPy lacks; the last two axes hold a matrix, the others are a batch."""

import math

import numpy as np

# A [13/13] approximant is accurate up to this norm (Higham 2005, table 2.3).
_THETA = 5.371920351148152
_PADE = [
    math.factorial(26 - k) * math.factorial(13)
    / (math.factorial(26) * math.factorial(k) * math.factorial(13 - k)) for k in range(14)
]  # fmt: skip


def triangular_solve(a, b, *, lower):
    """Return x with a x = b by substitution, `a` triangular; inf or NaN if `a` is singular."""
    n = a.shape[-1]
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*shape, *b.shape[-2:])), np.result_type(a, b))
    with np.errstate(all="ignore"):
        for i in range(n) if lower else range(n - 1, -1, -1):
            known = slice(0, i) if lower else slice(i + 1, n)
            x[..., i, :] -= np.matmul(a[..., i : i + 1, known], x[..., known, :])[..., 0, :]
            x[..., i, :] /= a[..., i, i, None]
    return x


def expm(x):
    """Return the exponential of square matrices, by scaling, a Padé approximant, and squaring.

    Higham 2005, "The scaling and squaring method for the matrix exponential revisited".
    """
    if not x.size:
        return x.copy()
    norm = np.abs(x).sum(-2).max(-1)
    with np.errstate(all="ignore"):
        halvings = np.where(norm > _THETA, np.ceil(np.log2(norm / _THETA)), 0)
        halvings = np.where(np.isfinite(halvings), halvings, 0)[..., None, None]
        a = x * np.exp2(-halvings).astype(np.real(x).dtype)
        y = _pade(a)
        for k in range(int(halvings.max())):
            y = np.where(halvings > k, y @ y, y)
    return y


def _pade(a):
    """Return the [13/13] approximant: (V + U) / (V - U), U odd and V even in `a`."""
    one = np.eye(a.shape[-1], dtype=a.dtype)
    c = [p / _PADE[0] for p in _PADE]
    squared = a @ a
    u, v = one * c[13], one * c[12]
    for k in range(11, 0, -2):
        u, v = u @ squared + one * c[k], v @ squared + one * c[k - 1]
    u = a @ u
    return np.linalg.solve(v - u, v + u)


def sqrtm(x):
    """Return the principal square root of square matrices, NaN if none exists in their dtype.

    Hermitian matrices use eigenvalues; others the product form of the Denman-Beavers iteration with
    scaling (Higham 2008, "Functions of Matrices", equation 6.29), which needs matrices without
    eigenvalues on the closed negative real axis.
    """
    if not x.size:
        return x.copy()
    flat = x.reshape(-1, *x.shape[-2:])
    return np.stack([_root(a) for a in flat]).reshape(x.shape)


def _root(a):
    with np.errstate(all="ignore"):
        if not np.isfinite(a).all():
            return np.full_like(a, np.nan)
        if np.array_equal(a, a.conj().T):
            return _root_by_eigenvalues(a)
        return _root_by_iteration(a)


def _root_by_eigenvalues(a):
    e, v = np.linalg.eigh(a)
    tiny = np.finfo(e.dtype).eps * len(e) * max(abs(e[0]), abs(e[-1]))
    e = np.where(np.abs(e) <= tiny, 0, e)
    # If `a` is complex, roots of negative eigenvalues are complex.
    roots = np.sqrt(e.astype(a.dtype))
    return (v * roots) @ v.conj().T


def _root_by_iteration(a):
    n = len(a)
    one = np.eye(n, dtype=a.dtype)
    m, y = a, a
    scaled = True
    error = np.inf
    for _ in range(60):
        try:
            inverse = np.linalg.inv(m)
        except np.linalg.LinAlgError:
            return np.full_like(a, np.nan)
        mu = np.exp(-np.linalg.slogdet(m)[1] / (2 * n)) if scaled else 1
        scaled_m, scaled_inverse = m * mu**2, inverse / mu**2
        y = (y * mu) @ (one + scaled_inverse) / 2
        m = (one + (scaled_m + scaled_inverse) / 2) / 2
        last, error = error, np.abs(m - one).max()
        scaled = scaled and error > 0.1
        if error <= n * np.finfo(error.dtype).eps or (error < 1e-3 and error >= last):
            return y
    return np.full_like(a, np.nan)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def logm(x):
    """Return the principal logarithm of square matrices, NaN where none exists in their dtype.

    The function takes square roots until the matrix is near the identity, then adds the partial
    fractions of a Padé approximant (Higham 2008, "Functions of Matrices", sections 11.4 and 11.5),
    in 64 bits.
    """
    if not x.size:
        return x.copy()
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    flat = x.reshape(-1, *x.shape[-2:]).astype(wide)
    return np.stack([_logarithm(a) for a in flat]).astype(x.dtype).reshape(x.shape)


def _logarithm(a):
    one, roots = np.eye(len(a), dtype=a.dtype), 0
    with np.errstate(all="ignore"):
        if np.isfinite(a).all() and np.array_equal(a, a.conj().T):
            e, v = np.linalg.eigh(a)
            return (v * np.log(e.astype(a.dtype))) @ v.conj().T
        while np.abs(a - one).sum(0).max() > 0.25 and roots < 64:
            a, roots = _root(a), roots + 1
        if not np.isfinite(a).all():
            return np.full_like(a, np.nan)
        x = a - one
        total = np.zeros_like(a)
        for node, weight in zip((_NODES + 1) / 2, _WEIGHTS / 2):
            total += weight * np.linalg.solve(one + node * x, x)
    return total * 2.0**roots


def lu(x):
    """Return the packed factors of P x = L U, the permutation P and the pivots, as LAPACK does.

    Each step exchanges its row with the row below that has the largest element of the column; a
    column of zeros causes no exchange.
    """
    packed = np.array(x)
    rows, columns = packed.shape[-2:]
    batch = packed.reshape(-1, rows, columns)
    each, steps = np.arange(len(batch)), min(rows, columns)
    order = np.tile(np.arange(rows, dtype=np.int32), (len(batch), 1))
    pivots = np.zeros((len(batch), steps), np.int32)
    for k in range(steps):
        row = k + np.abs(batch[:, k:, k]).argmax(-1) if len(batch) else each
        pivots[:, k] = row
        batch[each, k], batch[each, row] = batch[each, row], batch[each, k].copy()
        order[each, k], order[each, row] = order[each, row], order[each, k].copy()
        pivot = batch[:, k, k, None]
        batch[:, k + 1 :, k] /= np.where(pivot == 0, 1, pivot)
        batch[:, k + 1 :, k + 1 :] -= batch[:, k + 1 :, k, None] * batch[:, k, None, k + 1 :]
    lead = packed.shape[:-2]
    return packed, order.reshape(*lead, rows), pivots.reshape(*lead, steps)
