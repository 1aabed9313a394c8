"""A trial of kernels, under a release of Numba that they were not tested with."""

from importlib import import_module

import numpy as np

from framework.kernels import rows, tier
from framework.kernels.fast import matmul


def run():
    """Compile or load some kernels, and compare what they compute with NumPy.

    Products take the thread team, tasks, routines and the micro-kernel; softmax the functions
    of vectors: together every place of Numba that is not public.

    Raises:
        Exception: whatever Numba raises; RuntimeError where numbers are wrong.
    """
    for name in tier.libraries():
        import_module(f"{__package__}.{name}")
    x = np.linspace(-2, 2, 37 * 40, dtype=np.float32).reshape(37, 40)
    y = np.empty_like(x)
    rows.softmax_task("softmax", *x.shape)(x, y)
    powers = np.exp(x)
    _compare("softmax", y, powers / powers.sum(axis=1, keepdims=True))
    _compare("a matrix product", matmul.dot(x, y.T), x @ y.T)


def _compare(name, found, expected):
    if not np.allclose(found, expected, rtol=1e-4, atol=1e-5):
        raise RuntimeError(f"{name} has wrong numbers")
