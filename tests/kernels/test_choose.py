"""The maximum with 0: NumPy's bits for every size, dtype and layout."""

import numpy as np
import pytest

from framework.kernels import choose


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (64, 128), (65, 1027), (3, 4, 1024)], ids=str)
def test_the_maximum_with_zero(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    if x.dtype.kind == "f" and x.size > 6:
        x.reshape(-1)[-5:] = np.nan, -0.0, 0.0, np.inf, -np.inf
    for given in (x, x.T):
        found, kept = choose.positive(given), given.copy()
        assert np.shape(found) == given.shape
        assert not np.shares_memory(found, given)
        expected = np.maximum(given, np.zeros((), dtype))
        assert np.asarray(found).tobytes() == expected.tobytes()
        np.testing.assert_array_equal(given, kept)
