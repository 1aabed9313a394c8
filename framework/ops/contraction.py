"""Contractions: matrix products over the last two axes, leading axes broadcast."""

import numpy as np
from numpy import ndarray

from framework.core.errors import ShapeError
from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.kernels.matmul import dot, stacked
from framework.kernels.products import LEAST
from framework.ops.movement import expand_axes, getitem
from framework.ops.reduction import np_dtype


@no_warnings
def _matmul(a, b, *, transpose_a=False, transpose_b=False):
    # Multiply 16-bit floats in float32, because NumPy has no BLAS routine for them.
    if a.itemsize == 2 and a.dtype.kind in "fV":
        wide = a.astype(np.float32), b.astype(np.float32)
        return _matmul(*wide, transpose_a=transpose_a, transpose_b=transpose_b).astype(a.dtype)
    a = a.swapaxes(-1, -2) if transpose_a else a
    b = b.swapaxes(-1, -2) if transpose_b else b
    if a.ndim == b.ndim == 2:
        # The method `dot` calls the same BLAS routine as np.matmul, with 1 µs less overhead.
        return a.dot(b) if len(b) > 1 and len(a) * b.size < LEAST else dot(a, b)
    return _stacked(a, b)


def _stacked(a, b):
    """Return a batch of matrix products; an operand used in all of them is made contiguous."""
    if a.ndim <= 2:
        if a.ndim < 2 or b.ndim < 2:
            refuse_vectors(a.shape, b.shape)
        a = np.ascontiguousarray(a)
    elif b.ndim <= 2:
        if b.ndim < 2:
            refuse_vectors(a.shape, b.shape)
        b = np.ascontiguousarray(b)
    return stacked(a, b)


def refuse_vectors(a_shape, b_shape):
    raise ShapeError(
        f"matmul: expected operands of rank 2 or more, got shapes {a_shape} and {b_shape}. "
        "Use tf.linalg.matvec for a vector, tf.tensordot for two vectors."
    )


def _matmul_vjp_a(g, b, transpose_a, transpose_b):
    product = _matmul if type(g) is type(b) is ndarray else matmul
    if transpose_a:
        return product(b, g, transpose_a=bool(transpose_b), transpose_b=True)
    return product(g, b, transpose_b=not transpose_b)


def _matmul_vjp_b(g, a, transpose_a, transpose_b):
    product = _matmul if type(g) is type(a) is ndarray else matmul
    if transpose_b:
        return product(g, a, transpose_a=True, transpose_b=bool(transpose_a))
    return product(a, g, transpose_a=not transpose_a)


def _matmul_infer(a, b, *, transpose_a=False, transpose_b=False):
    shapes = tuple(a.shape), tuple(b.shape)
    if min(map(len, shapes)) < 2:
        refuse_vectors(*shapes)
    (rows, inner), (other, columns) = (
        shape[:-3:-1] if transposed else shape[-2:]
        for shape, transposed in zip(shapes, (transpose_a, transpose_b))
    )
    if inner != other and None not in (inner, other):
        raise ShapeError(
            f"matmul: the shapes {shapes[0]}, {shapes[1]} do not fit: the inner sizes {inner} and "
            f"{other} differ."
        )
    batches = [KerasTensor(shape[:-2]) for shape in shapes]
    dtype = a.dtype if a.dtype == b.dtype else np.result_type(np_dtype(a), np_dtype(b))
    return (*broadcast_shapes("matmul", batches), rows, columns), dtype


matmul = Op(
    "matmul", _matmul, _matmul_vjp_a, _matmul_vjp_b, kind="contraction", broadcasts=True,
    infer=_matmul_infer,
)  # fmt: skip


def matmul_with_vectors(a, b):
    """Return `a @ b` by NumPy's rule: a vector `a` is one row, a vector `b` one column."""
    row, column = a.ndim == 1, b.ndim == 1
    a = expand_axes(a, (0,)) if row else a
    b = expand_axes(b, (1,)) if column else b
    product, full = matmul(a, b), slice(None)
    if not row and not column:
        return product
    return getitem(product, index=(Ellipsis, 0 if row else full, 0 if column else full))
