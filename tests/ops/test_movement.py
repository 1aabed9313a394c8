"""Indexing of unknown sizes, and indices out of range; the rest is in test_every_op.py."""

import numpy as np
import pytest

from framework.core.errors import OutOfRangeError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.ops.elementwise import add
from framework.ops.movement import broadcast_to, flip, gather, getitem, reshape, scatter_add
from framework.ops.reduction import cumprod, cumsum, cumulative_logsumexp


@pytest.mark.parametrize(("index", "shape"), [
    ((5,), (3, 4)),
    ((slice(0, 5),), (None, 3, 4)),
    ((slice(None, 1),), (None, 3, 4)),
    ((slice(None, None, -2), slice(1, 3)), (None, 2, 4)),
    ((Ellipsis, 0), (None, 3)),
    ((None,), (1, None, 3, 4)),
    ((slice(None), None, Ellipsis, None), (None, 1, 3, 4, 1)),
    ((0, Ellipsis, None), (3, 4, 1)),
    ((slice(None), np.array([0, 2, 2, 1, 0])), (None, 5, 4)),
    ((np.array([70, 80]),), (2, 3, 4)),
    ((np.array([[7], [8]]), np.array([0, 1])), (2, 2, 4)),
])  # fmt: skip
def test_what_is_taken_of_an_unknown_size_is_unknown(index, shape):
    assert getitem(KerasTensor((None, 3, 4)), index=index).shape == shape


def test_a_known_size_is_checked_in_a_symbolic_call():
    with pytest.raises(IndexError):
        getitem(KerasTensor((None, 3)), index=(0, 3))


def test_gather_from_an_unknown_size():
    x = KerasTensor((None, 3))
    assert gather(x, np.array([[70, 80]]), axis=0).shape == (1, 2, 3)
    assert gather(x, KerasTensor((None, 2), "int32"), axis=1).shape == (None, None, 2)


def test_reshape_with_unknown_sizes():
    x = KerasTensor((None, 3, 4))
    assert reshape(x, shape=(-1, 12)).shape == (None, 12)
    assert reshape(KerasTensor((2, 3, 4)), shape=(-1, 6)).shape == (4, 6)


@pytest.mark.parametrize("index", [4, -5])
def test_scatter_add_refuses_indices_outside(index):
    with pytest.raises(OutOfRangeError, match=f"index {index} .* axis of size 4"):
        scatter_add(np.ones((2, 3)), np.array([0, index]), shape=(4, 3), axis=0)


@pytest.mark.parametrize("shape", [(2,), (3, 3), (4, 2, 3)])
def test_broadcast_to_refuses_shapes_that_do_not_fit(shape):
    with pytest.raises(ValueError, match="broadcast"):
        broadcast_to(np.ones((2, 4, 3)), shape=shape)


def test_broadcast_to_of_any_layout_is_a_view():
    x = np.arange(24.0).reshape(2, 3, 4)
    for view in (x, x.T, x[:, ::2], x[::-1], x[:1], x[0, 0, 0:1]):
        wide = broadcast_to(view, shape=(5, *view.shape))
        assert np.shares_memory(wide, x)
        np.testing.assert_array_equal(wide, np.broadcast_to(view, (5, *view.shape)))


def test_a_size_that_does_not_fit_is_an_error_in_symbolic_calls_too():
    with pytest.raises(ShapeError, match="do not broadcast"):
        add(KerasTensor((None, 3)), KerasTensor((None, 4)))


def test_no_result_runs_backwards():
    """NumPy rounds functions of arrays with negative strides otherwise."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    results = {
        "flip": (flip(x, axis=(0, 1)), x[::-1, ::-1]),
        "flip of size 1": (flip(x[:1], axis=(0,)), x[:1]),
        "getitem": (getitem(x, index=(Ellipsis, slice(None, None, -2))), x[:, ::-2]),
        "cumsum": (cumsum(x, axis=1, reverse=True), np.cumsum(x[:, ::-1], 1)[:, ::-1]),
        "cumprod": (cumprod(x, axis=1, reverse=True), np.cumprod(x[:, ::-1], 1)[:, ::-1]),
        "cumulative_logsumexp": (cumulative_logsumexp(x[:, :1], axis=1, reverse=True), x[:, :1]),
    }
    for name, (found, expected) in results.items():
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert min(found.strides) > 0, name
    assert getitem(x, index=(slice(1, None),)).base is not None
