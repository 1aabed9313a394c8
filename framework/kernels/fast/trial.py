"""A trial run of the kernels, for releases of Numba with which they have not been tested."""

from importlib import import_module

import numpy as np

from framework.kernels import rows, tier
from framework.kernels.fast import matmul


def run():
    """Compile or load some kernels, and compare their results with NumPy.

    Products use the thread team, tasks, routines and the micro-kernel; softmax uses the vector
    functions. Together they use every private part of Numba that the kernels need.

    Raises:
        Exception: any error of Numba; RuntimeError if results are wrong.
    """
    for name in tier.libraries():
        import_module(f"{__package__}.{name}")
    x = np.linspace(-2, 2, 37 * 40, dtype=np.float32).reshape(37, 40)
    y = np.empty_like(x)
    rows.softmax_task("softmax", *x.shape)(x, y)
    powers = np.exp(x)
    _compare("softmax", y, powers / powers.sum(axis=1, keepdims=True))
    _compare("a matrix product", matmul.dot(x, y.T), x @ y.T)


def _compare(name, got, expected):
    if not np.allclose(got, expected, rtol=1e-4, atol=1e-5):
        raise RuntimeError(
            f"trial run of the Numba kernels: {name} has wrong values, unlike NumPy's"
        )
