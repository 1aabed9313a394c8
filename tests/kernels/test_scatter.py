"""Scatter-add: NumPy and Numba give the bits of a loop in order."""

import numpy as np
import pytest

from framework.kernels import scatter, tier


@pytest.fixture(params=["numpy", "numba"])
def form(request, change):
    if request.param == "numba":
        pytest.importorskip("numba")
        if tier.library("scatter") is None:
            pytest.skip("the tier is without Numba")
    change(scatter, _FAST=0 if request.param == "numba" else np.inf)


def in_order(g, indices, shape, axis):
    result = np.zeros(shape, g.dtype)
    where = np.moveaxis(result, axis, 0)
    lead = g.reshape(*shape[:axis], np.size(indices), *shape[axis + 1 :])
    for k, i in enumerate(np.ravel(indices)):
        where[i] += lead[(slice(None),) * axis + (k,)]
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    ("shape", "axis", "of"), [((5, 3), 0, (2, 7)), ((4, 5, 3), 1, (6,)), ((3, 5), 1, (4,)),
                              ((5,), 0, (9,)), ((5, 0), 0, (3,)), ((5, 2), 0, (0,))]
)  # fmt: skip
def test_slices_are_added(form, shape, axis, of, dtype):
    rng = np.random.default_rng(0)
    indices = rng.integers(-5, 5, of)
    g = (rng.standard_normal((*shape[:axis], *of, *shape[axis + 1 :])) * 9).astype(dtype)
    g.flags.writeable = False
    found = scatter.scatter_add(g, indices, shape=shape, axis=axis)
    assert found.dtype == g.dtype
    np.testing.assert_array_equal(found, in_order(g, indices, shape, axis))


def test_elements_are_added(form):
    rng = np.random.default_rng(1)
    x = np.zeros((4, 6), np.float32)
    index = (np.array([3, 0, 3]), slice(1, 5))
    g = rng.standard_normal((3, 4)).astype(np.float32)
    np.add.at(x, index, g)
    np.testing.assert_array_equal(scatter.put(g, shape=(4, 6), index=index), x)
    indices = rng.integers(0, 6, (4, 9))
    g = rng.standard_normal((4, 9)).astype(np.float32)
    found = scatter.put_along_axis(g, indices, shape=(4, 6), axis=1)
    expected = np.zeros((4, 6), np.float32)
    np.add.at(expected, (np.arange(4)[:, None], indices), g)
    np.testing.assert_array_equal(found, expected)


def test_an_index_out_of_range_is_refused(form):
    with pytest.raises(IndexError, match="index 5 lies outside an axis of size 5"):
        scatter.scatter_add(np.ones((1, 3), np.float32), np.array([5]), shape=(5, 3), axis=0)
