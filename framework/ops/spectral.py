"""Factorizations by orthogonal matrices: QR, eigenvalues, singular values.

The last two axes hold a matrix, leading axes are a batch. The formulas of derivative rules are for
the usual inner product, so cotangents are conjugated before and after (see `ops.linalg`). The
vectors of equal eigenvalues or singular values have no derivative; the terms that would divide by
zero are left out.
"""

import numpy as np

from framework.core.cast import cast
from framework.core.errors import ShapeError
from framework.core.op import Op
from framework.core.symbolic import KerasTensor
from framework.ops.complex import conjugated, is_complex, real
from framework.ops.contraction import matmul
from framework.ops.elementwise import divide_no_nan, multiply
from framework.ops.linalg import (
    adjoint,
    as_columns,
    as_rows,
    diagonal,
    lapack,
    lower_triangle,
    matrix_transpose,
    on_diagonal,
    solve,
)
from framework.ops.reduction import np_dtype

_DIVERGED = "the iteration did not converge; look for NaN or inf in the input."


def _differences(values):
    """Return 1 / (v_j - v_i), or 0 where v_i and v_j are equal."""
    return divide_no_nan(np.ones((), np_dtype(values)), as_columns(values) - as_rows(values))


def _in_dtype_of(x, other):
    return cast(x, dtype=np_dtype(other)) if is_complex(other) else x


# ---- QR ------------------------------------------------------------------------------------------


def _mirrored_lower(x):
    """Return the Hermitian matrix with the lower triangle of `x`."""
    half = lower_triangle(x, k=-1)
    return half + adjoint(half) + on_diagonal(_in_dtype_of(real(diagonal(x)), x))


def _qr_backward(g, y):
    """Return the cotangent of x (Walter & Lehmann 2010, arXiv:1009.6112; Seeger et al. 2017,
    arXiv:1710.08717, section 4.3)."""
    (g_q, g_r), (q, r) = g, y
    if q.shape[-2] < r.shape[-1] or q.shape[-1] != r.shape[-1]:
        raise ShapeError(
            "qr: the derivative needs at least as many rows as columns, and full_matrices=False "
            f"unless square; got a matrix of shape {(*q.shape[:-1], r.shape[-1])}."
        )
    g_q, g_r = conjugated(g_q), conjugated(g_r)
    m = matmul(r, adjoint(g_r)) - matmul(adjoint(g_q), q)
    b = g_q + matmul(q, _mirrored_lower(m))
    return (conjugated(adjoint(solve(r, adjoint(b)))),)


def _qr(x, *, full=False):
    return tuple(np.linalg.qr(x, "complete" if full else "reduced"))


# `qr` returns a matrix with orthonormal columns, and an upper triangle. It has a derivative for
# square or tall matrices of full rank.
qr = Op("qr", _qr, outputs=2, backward=_qr_backward, raises=True)


# ---- Hermitian matrices --------------------------------------------------------------------------


def _eigh_backward(g, y):
    """Return the cotangent of the lower triangle, the only part `eigh` reads (Giles 2008, 3.1)."""
    (g_e, g_v), (e, v) = g, y
    g_v = conjugated(g_v)
    inner = multiply(_in_dtype_of(_differences(e), v), matmul(adjoint(v), g_v))
    inner = inner + on_diagonal(_in_dtype_of(g_e, v))
    full = matmul(matmul(v, inner), adjoint(v))
    half = lower_triangle(full + adjoint(full))
    return (conjugated(half - on_diagonal(diagonal(half)) * 0.5),)


# `eigh` returns ascending eigenvalues, and eigenvectors, of Hermitian matrices. It reads only the
# lower triangle.
eigh = Op(
    "eigh", lapack("eigh", lambda x: tuple(np.linalg.eigh(x)), _DIVERGED), outputs=2,
    backward=_eigh_backward, inputs=("x",), infer=lambda x: _eigen_infer(x, real_values=True),
    raises=True,
)  # fmt: skip


def _eigvalsh_vjp(g, x):
    _, v = eigh(x)
    full = matmul(v * _in_dtype_of(as_columns(g), v), adjoint(v))
    half = lower_triangle(full + adjoint(full))
    return conjugated(half - on_diagonal(diagonal(half)) * 0.5)


eigvalsh = Op(
    "eigvalsh", lapack("eigvalsh", lambda x: np.linalg.eigvalsh(x), _DIVERGED), _eigvalsh_vjp,
    inputs=("x",), infer=lambda x: _eigen_infer(x, real_values=True)[0], raises=True,
)  # fmt: skip


# ---- general square matrices ---------------------------------------------------------------------


def _dtype_of(x):
    return x.dtype.np if isinstance(x, KerasTensor) else x.dtype


def _complex_dtype(dtype):
    return np.result_type(dtype, np.complex64)


def _eigen_infer(x, real_values=False):
    """Return the (shape, dtype) of the eigenvalues and of the eigenvectors."""
    dtype = _dtype_of(x)
    if real_values:
        return [(tuple(x.shape[:-1]), np.zeros((), dtype).real.dtype), (tuple(x.shape), dtype)]
    dtype = _complex_dtype(dtype)
    return [(tuple(x.shape[:-1]), dtype), (tuple(x.shape), dtype)]


def _eig(x):
    dtype = _complex_dtype(x.dtype)
    e, v = np.linalg.eig(x)
    return e.astype(dtype), v.astype(dtype)


def _eig_backward(g, y, x_dtype):
    """Return the cotangent of x for eigenvectors of length 1 and any phase (Giles 2008, 3.1)."""
    (g_e, g_v), (e, v) = g, y
    g_e, g_v = conjugated(g_e), conjugated(g_v)
    back = adjoint(v)
    along = matmul(back, g_v)
    length = on_diagonal(_in_dtype_of(real(diagonal(along)), v))
    inner = conjugated(_differences(e)) * (along - matmul(matmul(back, v), length))
    inner = inner + on_diagonal(g_e)
    return (cast(conjugated(solve(back, matmul(inner, back))), dtype=x_dtype),)


# `eig` returns eigenvalues, in no particular order, and eigenvectors. Both are always complex.
eig = Op(
    "eig", lapack("eig", _eig, _DIVERGED), outputs=2, backward=_eig_backward, inputs=("x",),
    infer=_eigen_infer, raises=True,
)  # fmt: skip


def _eigvals_vjp(g, x):
    _, v = eig(x)
    back = matrix_transpose(v)
    found = solve(back, as_rows(g) * back)
    return cast(found, dtype=np_dtype(x))


eigvals = Op(
    "eigvals",
    lapack("eigvals", lambda x: np.linalg.eigvals(x).astype(_complex_dtype(x.dtype)), _DIVERGED),
    _eigvals_vjp, inputs=("x",), infer=lambda x: _eigen_infer(x)[0], raises=True,
)  # fmt: skip


# ---- singular values -----------------------------------------------------------------------------


def _svd(x, *, full=False):
    u, s, vh = np.linalg.svd(x, full_matrices=full)
    return s, u, vh.conj().swapaxes(-1, -2)


def _outside(g, basis):
    """Return the part of the columns of `g` that is orthogonal to those of `basis`."""
    return g - matmul(basis, matmul(adjoint(basis), g))


def _svd_backward(g, y):
    """Return the cotangent of x (Townsend 2016, "Differentiating the singular value decomposition";
    for the phase of complex vectors Wan & Zhang 2019, arXiv:1909.02659)."""
    (g_s, g_u, g_v), (s, u, v) = g, y
    if u.shape[-1] != v.shape[-1]:
        raise ShapeError(
            "svd: with full_matrices the derivative needs square matrices, got shape "
            f"{(*u.shape[:-1], v.shape[-1])}. Use full_matrices=False."
        )
    g_u, g_v = conjugated(g_u), conjugated(g_v)
    gaps = _in_dtype_of(_differences(s * s), u)
    wide = _in_dtype_of(s, u)
    inverse = divide_no_nan(np.ones((), np_dtype(wide)), wide)
    of_u, of_v = matmul(adjoint(u), g_u), matmul(adjoint(v), g_v)
    turned_u, turned_v = of_u - adjoint(of_u), of_v - adjoint(of_v)
    inner = gaps * turned_u * as_columns(wide) + as_rows(wide) * (gaps * turned_v)
    inner = inner + on_diagonal(_in_dtype_of(g_s, u))
    if is_complex(u):
        inner = inner + on_diagonal(diagonal(turned_u) * inverse * 0.5)
    found = matmul(matmul(u, inner), adjoint(v))
    if u.shape[-2] > u.shape[-1]:
        found = found + matmul(_outside(g_u, u) * as_columns(inverse), adjoint(v))
    if v.shape[-2] > v.shape[-1]:
        found = found + matmul(u, adjoint(_outside(g_v, v) * as_columns(inverse)))
    return (conjugated(found),)


# `svd` returns s, u, v with x = u diag(s) vᴴ and descending s.
svd = Op(
    "svd", lapack("svd", _svd, _DIVERGED), outputs=3, backward=_svd_backward, inputs=("x",),
    raises=True,
)  # fmt: skip


def _singular_values_vjp(g, x):
    _, u, v = svd(x)
    return conjugated(matmul(u * _in_dtype_of(as_columns(g), u), adjoint(v)))


singular_values = Op(
    "singular_values",
    lapack("svd", lambda x: np.linalg.svd(x, compute_uv=False), _DIVERGED),
    _singular_values_vjp, inputs=("x",), raises=True,
)  # fmt: skip
