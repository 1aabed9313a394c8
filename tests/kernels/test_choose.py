"""The maximum with 0: NumPy's bits for every size, dtype and layout."""

import ml_dtypes
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


@pytest.mark.parametrize("shape", [(), (3,)], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_choice_has_the_dtype_of_the_array(shape, dtype):
    dtype = getattr(ml_dtypes, dtype, np.dtype(dtype))
    x = np.full(shape, 0.5, dtype)
    for value in (x, x[()]):
        for condition in (np.True_, np.zeros(shape, bool)):
            for a, b in ((value, 2.0), (2.0, value)):
                found = choose.select(condition, a, b)
                assert found.dtype == dtype
                chosen = a if np.all(condition) else b
                assert np.all(found == chosen)


@pytest.mark.parametrize(
    "shape", [(5, 1, 1), (5, 7, 1), (1, 7, 1), (5, 7, 80), (5, 1, 80)], ids=str
)
@pytest.mark.parametrize("b", [0, 2.5, None])
def test_a_choice_of_whole_rows(shape, b):
    rng = np.random.default_rng(0)
    a, other = rng.normal(size=(2, 5, 7, 80)).astype(np.float32)
    condition, b = rng.random(shape) < 0.5, other if b is None else b
    for x in (a, a[..., ::-1], a[..., :3]):
        y, c = (v[..., : x.shape[-1]] if np.ndim(v) else v for v in (b, condition))
        kept = x.copy()
        found = choose.select(c, x, y)
        np.testing.assert_array_equal(found, np.where(c, x, y))
        assert found.dtype == np.float32
        assert not np.shares_memory(found, x)
        np.testing.assert_array_equal(x, kept)
