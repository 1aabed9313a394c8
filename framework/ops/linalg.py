"""Linear systems, inverses, determinants and functions of square matrices.

The last two axes hold a matrix, leading axes are a batch. Derivative rules of holomorphic functions
multiply by transposes, for complex matrices too. The formulas of the other rules are for the usual
inner product, so `conjugated` conjugates the cotangent before and the result after.

Sources: Giles 2008, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation"; Murray 2016, arXiv:1602.07527 (Cholesky); Golub & Pereyra 1973 (pseudo-inverse);
Najfeld & Havel 1995 (derivatives of matrix functions).
"""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, no_derivative
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.kernels import matrices
from framework.ops.complex import complex_, conjugated, imag, is_complex
from framework.ops.contraction import matmul
from framework.ops.elementwise import masked, negative
from framework.ops.movement import concat, expand_axes, getitem, transpose
from framework.ops.reduction import np_dtype


def lapack(what, function, complaint):
    """Wrap `function`: a LinAlgError becomes an InvalidArgumentError that says `complaint`."""

    def forward(*arrays, **attrs):
        try:
            return function(*arrays, **attrs)
        except np.linalg.LinAlgError as error:
            raise InvalidArgumentError(f"{what}: {complaint} ({error})") from None

    return forward


def matrix_transpose(x):
    """Return `x` with its last two axes swapped."""
    n = len(x.shape)
    return transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def adjoint(x):
    """Return the transpose of `x`, conjugated if complex."""
    return conjugated(matrix_transpose(x))


def as_columns(x):
    """Insert an axis after the last, so that vectors broadcast along a matrix's columns."""
    return expand_axes(x, (len(x.shape) - 1,))


def as_rows(x):
    """Insert an axis before the last, so that the vectors in it broadcast along a matrix's rows."""
    return expand_axes(x, (len(x.shape),))


def on_diagonal(x):
    """Return matrices with `x` on their diagonal."""
    return masked(as_rows(x), np.eye(x.shape[-1], dtype=bool))


def diagonal(x):
    """Return the diagonal elements of the matrices in the last two axes of `x`."""
    along = np.arange(min(x.shape[-2:]))
    return getitem(x, index=(Ellipsis, along, along))


def lower_triangle(x, k=0):
    """Return `x` with zeros above the diagonal `k`."""
    return masked(x, np.tri(*x.shape[-2:], k=k, dtype=bool))


def upper_triangle(x, k=0):
    """Return `x` with zeros below the diagonal `k`."""
    return masked(x, ~np.tri(*x.shape[-2:], k=k - 1, dtype=bool))


def _like_input(x, **_):
    return x.shape, x.dtype


# ---- linear systems ------------------------------------------------------------------------------


def _solve_infer(a, b, **_):
    batches = [KerasTensor(tuple(v.shape[:-2])) for v in (a, b)]
    return (*broadcast_shapes("solve", batches), *b.shape[-2:]), b.dtype


def _solve_vjp_a(g, y, a):
    return negative(matmul(solve(matrix_transpose(a), g), y, transpose_b=True))


_SINGULAR = "the matrix is not invertible; use tf.linalg.lstsq or tf.linalg.pinv."

# `solve` returns the x with a x = b, for square matrices a and matrices b.
solve = Op(
    "solve", lapack("solve", lambda a, b: np.linalg.solve(a, b), _SINGULAR),
    _solve_vjp_a, lambda g, a: solve(matrix_transpose(a), g), broadcasts=True, infer=_solve_infer,
    inputs=("a", "b"), raises=True,
)  # fmt: skip


def _triangular_vjp_b(g, a, lower):
    return triangular_solve(matrix_transpose(a), g, lower=not lower)


def _triangular_vjp_a(g, y, a, lower):
    full = negative(matmul(_triangular_vjp_b(g, a, lower), y, transpose_b=True))
    return lower_triangle(full) if lower else upper_triangle(full)


# `triangular_solve` is `solve` for triangular a, by substitution. It reads only one triangle of a.
triangular_solve = Op(
    "triangular_solve", matrices.triangular_solve, _triangular_vjp_a, _triangular_vjp_b,
    broadcasts=True, infer=_solve_infer, raises=True,
)  # fmt: skip


def _inverse_vjp(g, y):
    return negative(matmul(matmul(y, g, transpose_a=True), y, transpose_b=True))


inverse = Op(
    "inverse", lapack("inv", lambda x: np.linalg.inv(x), _SINGULAR), _inverse_vjp,
    infer=_like_input, inputs=("x",), raises=True,
)  # fmt: skip


def _pinv(x, *, rcond):
    return np.linalg.pinv(x, rcond)


def _pinv_vjp(g, y, x):
    """Return the cotangent of x by Golub & Pereyra's differential, valid for constant rank."""
    g = conjugated(g)
    across, back = adjoint(g), adjoint(y)
    m, n = x.shape[-2:]
    dtype = np_dtype(x)
    outside = np.eye(m, dtype=dtype) - matmul(x, y)
    inside = np.eye(n, dtype=dtype) - matmul(y, x)
    total = negative(matmul(matmul(back, g), back))
    total = total + matmul(matmul(outside, across), matmul(y, back))
    total = total + matmul(matmul(back, y), matmul(across, inside))
    return conjugated(total)


# `pinv` is the Moore-Penrose pseudo-inverse. Singular values of at most rcond times the largest
# count as 0.
pinv = Op("pinv", _pinv, _pinv_vjp, raises=True)


# ---- determinants --------------------------------------------------------------------------------


def _det_vjp(g, y, x):
    factor = expand_axes(g * y, (len(y.shape), len(y.shape) + 1))
    return factor * matrix_transpose(inverse(x))


def _det_infer(x):
    return tuple(x.shape[:-2]), x.dtype


det = Op("det", no_warnings(lambda x: np.linalg.det(x)), _det_vjp, infer=_det_infer)


def _slogdet_backward(g, y, x):
    """Return x's cotangent, by d log|det| = Re t and d sign = i sign Im t with t = tr(x⁻¹ dx)."""
    (g_sign, g_log), (sign, _) = g, y
    factor = g_log
    if is_complex(x):
        factor = complex_(g_log, imag(sign * g_sign))
    factor = expand_axes(factor, (len(sign.shape), len(sign.shape) + 1))
    return (factor * matrix_transpose(inverse(x)),)


@no_warnings
def _slogdet(x):
    sign, log = np.linalg.slogdet(x)
    return sign, log


def _slogdet_infer(x):
    shape = tuple(x.shape[:-2])
    dtype = np.dtype(getattr(x.dtype, "np", x.dtype))
    return [(shape, dtype), (shape, np.zeros((), dtype).real.dtype)]


# `slogdet` returns sign(det) and log|det|.
slogdet = Op("slogdet", _slogdet, outputs=2, backward=_slogdet_backward, infer=_slogdet_infer)


# ---- Cholesky ------------------------------------------------------------------------------------


def _cholesky_vjp(g, y):
    """Return the cotangent of x by equation 10 of Murray 2016, half of it in each triangle."""
    inner = matmul(adjoint(y), conjugated(lower_triangle(g)))
    inner = lower_triangle(inner) - on_diagonal(diagonal(inner)) * 0.5
    back = triangular_solve(adjoint(y), inner, lower=False)
    back = adjoint(triangular_solve(adjoint(y), adjoint(back), lower=False))
    return conjugated((back + adjoint(back)) * 0.5)


_INDEFINITE = (
    "the matrix is not positive definite; adding a small multiple of the identity may help."
)


def _cholesky(x):
    y = np.linalg.cholesky(x)
    # LAPACK accepts an infinite diagonal without an error, and returns zeros below it.
    if not np.isfinite(y).all():
        raise np.linalg.LinAlgError
    return y


# `cholesky` returns the lower triangle l with l lᴴ = x. It reads only the lower triangle of x.
cholesky = Op(
    "cholesky",
    lapack("cholesky", _cholesky, _INDEFINITE),
    _cholesky_vjp, infer=_like_input, inputs=("x",), raises=True,
)  # fmt: skip


# ---- functions of matrices -----------------------------------------------------------------------


def _by_block_matrix(function):
    """Return the vjp of a function f of square matrices, such as expm.

    The upper right block of f([[x, e], [0, x]]) is the derivative of f at x in direction e. The vjp
    is the derivative at the transpose of x in the direction of the cotangent.
    """

    def rule(g, x):
        n = x.shape[-1]
        turned = matrix_transpose(x)
        block = concat(
            concat(turned, g, axis=len(x.shape) - 1),
            concat(g * 0, turned, axis=len(x.shape) - 1), axis=len(x.shape) - 2,
        )  # fmt: skip
        return getitem(function(block), index=(Ellipsis, slice(0, n), slice(n, None)))

    return rule


expm = Op(
    "expm", matrices.expm, _by_block_matrix(lambda x: expm(x)), infer=_like_input, raises=True
)
sqrtm = Op(
    "sqrtm", matrices.sqrtm, _by_block_matrix(lambda x: sqrtm(x)), infer=_like_input, raises=True
)

logm = Op("logm", matrices.logm, _by_block_matrix(lambda x: logm(x)), infer=_like_input)


# ---- ops without a derivative --------------------------------------------------------------------


def _matrix_rank(x, tol=None):
    s = np.linalg.svd(x, compute_uv=False)
    if tol is None:
        eps = np.finfo(s.dtype).eps * max(x.shape[-2:])
        tol = eps * s.max(-1, initial=0)
    return np.count_nonzero(s > np.asarray(tol)[..., None], axis=-1).astype(np.int32)


matrix_rank = Op(
    "matrix_rank", _matrix_rank, no_derivative, inputs=("x", "tol"),
    infer=lambda x, *_: (tuple(x.shape[:-2]), np.dtype(np.int32)), raises=True,
)  # fmt: skip
