"""Derivatives of ops on complex numbers, against central differences in both directions.

Vectors of complex matrices are known up to a phase: what is differentiated does not depend on it.
"""

import numpy as np
import pytest

from framework.autodiff.tape import GradientTape
from framework.core.tensor import Tensor
from framework.ops import complex as c
from framework.ops import elementwise as e
from framework.ops import linalg, spectral
from framework.ops.contraction import matmul
from framework.ops.reduction import reduce_sum

STEP = 1e-6
RNG = np.random.default_rng(11)


def matrix(m, n, shift=3.0):
    return RNG.normal(size=(m, n)) + 1j * RNG.normal(size=(m, n)) + shift * np.eye(m, n)


def positive(n):
    x = matrix(n, n)
    return x @ x.conj().T


def weighted(y, seed=0):
    """A real number that depends on all of `y`, real and imaginary parts alike."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=y.shape)
    total = c.real(y) * w + c.imag(y) * rng.normal(size=y.shape) if c.is_complex(y) else y * w
    return reduce_sum(total, axis=tuple(range(len(y.shape))), keepdims=False)


def parts_of_svd(x):
    s, u, v = spectral.svd(x)
    return _by_vectors(c.complex_(e.sin(s), s), u, v)


def _by_vectors(values, u, v):
    return matmul(u * linalg.as_columns(values), linalg.adjoint(v))


def parts_of_eigh(x):
    values, v = spectral.eigh(x)
    return _by_vectors(c.complex_(e.sin(values), values), v, v)


CASES = {
    "real": (c.real, matrix(2, 3)),
    "imag": (c.imag, matrix(2, 3)),
    "angle": (c.angle, matrix(2, 3)),
    "abs": (e.absolute, matrix(2, 3)),
    "conj": (e.conj, matrix(2, 3)),
    "adjoint": (linalg.adjoint, matrix(2, 3)),
    "solve": (lambda a: linalg.solve(a, a * a), matrix(3, 3)),
    "triangular_solve": (lambda a: linalg.triangular_solve(a, a * a, lower=True), matrix(3, 3)),
    "inverse": (linalg.inverse, matrix(3, 3)),
    "pinv": (lambda a: linalg.pinv(a, rcond=1e-10), matrix(3, 2)),
    "pinv of a wide one": (lambda a: linalg.pinv(a, rcond=1e-10), matrix(2, 3)),
    "det": (linalg.det, matrix(3, 3, 1.0)),
    "sign of det": (lambda a: linalg.slogdet(a)[0], matrix(3, 3, 1.0)),
    "log of det": (lambda a: linalg.slogdet(a)[1], matrix(3, 3, 1.0)),
    "cholesky": (lambda a: linalg.cholesky(matmul(a, linalg.adjoint(a))), matrix(3, 3)),
    "expm": (linalg.expm, matrix(3, 3, 0.5)),
    "sqrtm": (linalg.sqrtm, matrix(3, 3)),
    "qr": (lambda a: matmul(*map(e.square, spectral.qr(a))), matrix(3, 3)),
    "qr of a tall one": (lambda a: matmul(*map(e.square, spectral.qr(a))), matrix(4, 2)),
    "eigh": (parts_of_eigh, positive(3)),
    "eigvalsh": (lambda a: e.sin(spectral.eigvalsh(a)), positive(3)),
    "eigvals": (lambda a: spectral.eigvals(a), matrix(3, 3, 0.5)),
    "eig": (lambda a: e.absolute(spectral.eig(a)[1]), matrix(3, 3, 0.5)),
    "eig of a real one": (lambda a: e.absolute(spectral.eig(c.real(a))[1]), matrix(3, 3, 0.5)),
    "svd": (parts_of_svd, matrix(3, 3)),
    "svd of a tall one": (parts_of_svd, matrix(4, 2)),
    "svd of a wide one": (parts_of_svd, matrix(2, 4)),
    "singular_values": (spectral.singular_values, matrix(2, 3)),
}


def gradient(function, x):
    x = Tensor(x)
    with GradientTape() as tape:
        tape.watch(x)
        y = weighted(function(x))
    return tape.gradient(y, x).array


def slope(function, x, direction):
    up, down = (weighted(function(Tensor(x + h * direction))) for h in (STEP, -STEP))
    return (up.array - down.array) / (2 * STEP)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    """The change along dz is Re(conj(gradient) dz), as in TensorFlow."""
    function, x = CASES[name]
    g = gradient(function, x)
    assert g.dtype == x.dtype
    for unit in (1, 1j):
        direction = np.random.default_rng(5).normal(size=x.shape) * unit
        found = np.sum((g.conj() * direction).real)
        np.testing.assert_allclose(found, slope(function, x, direction), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    "name", ["inverse", "det", "qr", "eigh", "svd", "cholesky", "angle", "sign of det", "pinv"]
)
def test_second_derivatives(name):
    function, x = CASES[name]

    def first(x):
        with GradientTape() as tape:
            tape.watch(x)
            y = weighted(function(x))
        return tape.gradient(y, x)

    g = gradient(first, x)
    direction = np.random.default_rng(5).normal(size=x.shape) * (1 + 2j)
    found = np.sum((g.conj() * direction).real)
    np.testing.assert_allclose(found, slope(first, x, direction), rtol=2e-6, atol=1e-6)
