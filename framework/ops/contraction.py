"""Contractions: matrix products over the last two axes, leading axes broadcast."""

import numpy as np

from framework.core.op import Op


def _turned(x):
    return np.swapaxes(x, -1, -2)


def _matmul(a, b, *, transpose_a=False, transpose_b=False):
    return np.matmul(_turned(a) if transpose_a else a, _turned(b) if transpose_b else b)


def _matmul_vjp_a(g, b, transpose_a, transpose_b):
    if transpose_a:
        return matmul(b, g, transpose_a=bool(transpose_b), transpose_b=True)
    return matmul(g, b, transpose_b=not transpose_b)


def _matmul_vjp_b(g, a, transpose_a, transpose_b):
    if transpose_b:
        return matmul(g, a, transpose_a=True, transpose_b=bool(transpose_a))
    return matmul(a, g, transpose_a=not transpose_a)


matmul = Op("matmul", _matmul, _matmul_vjp_a, _matmul_vjp_b, kind="contraction", broadcasts=True)
