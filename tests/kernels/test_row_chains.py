"""Rows read and scaled in one pass: the bits of NumPy's separate passes."""

import numpy as np
import pytest

from framework.kernels import row_chains
from framework.kernels.deferred import Deferred
from framework.kernels.row_chains import RowChain, steps_of
from tests import kernel_forms

RNG = np.random.default_rng(0)
SPECIAL = np.float32([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 1e38, 1e-44])
NUMPY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}


@pytest.fixture(autouse=True)
def numba(change):
    kernel_forms.use("numba", row_chains, change)


def expected(array, numbers, steps):
    found = array[numbers].astype(np.float32)
    with np.errstate(all="ignore"):
        for name, number, first in steps:
            pair = (np.float32(number), found) if first else (found, np.float32(number))
            found = NUMPY[name](*pair)
    return found


def found(array, numbers, steps):
    chain = RowChain([s for each in steps for s in steps_of(*each)], array.shape[1:])
    return chain.bound(array)(numbers)


def sources():
    every = np.arange(256, dtype=np.uint8).repeat(2).reshape(8, 8, 8)
    floats = RNG.normal(size=(8, 5, 13)).astype(np.float32)
    floats[1, 0, :8] = SPECIAL
    return [every, floats]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", NUMPY)
def test_one_operation(name, first):
    for array in sources():
        for number in (255.0, 127.5, 3.0, -0.3081, 0.0, np.inf, 1e-40, 1e38, 7):
            steps, numbers = [(name, number, first)], np.array([3, 0, 1, 1, 7])
            got, right = found(array, numbers, steps), expected(array, numbers, steps)
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got, right)
            assert (np.signbit(got) == np.signbit(right))[~np.isnan(right)].all()


def test_quotients_of_bytes_by_many_divisors():
    every = np.arange(256, dtype=np.uint8).reshape(1, 256)
    divisors = [*range(1, 300), *RNG.normal(size=300).tolist(), *(2.0 ** RNG.normal(size=99) * 50)]
    for divisor in divisors:
        steps = [("divide", divisor, False)]
        right = expected(every, [0], steps)
        assert found(every, np.array([0]), steps).tobytes() == right.tobytes()


def test_several_operations():
    names = list(NUMPY)
    for _ in range(200):
        steps = [
            (names[RNG.integers(4)], float(np.float32(RNG.normal() * 9)), bool(RNG.integers(2)))
            for _ in range(RNG.integers(0, 5))
        ]
        for array in sources():
            numbers = RNG.integers(0, 8, 6)
            right = expected(array, numbers, steps)
            np.testing.assert_array_equal(found(array, numbers, steps), right)


@pytest.mark.parametrize("size", [1, 15, 63, 64, 76, 130, 784])
def test_rows_of_many_sizes(size):
    """A row begins at any place of a cache line; whole blocks and the rest are separate loops."""
    numbers = RNG.permutation(9)
    floats = RNG.normal(size=(9, size)).astype(np.float32)
    floats[:, 0] = -0.0
    for array in (RNG.integers(0, 256, (9, size), dtype=np.uint8), floats):
        for names in (["divide"], ["multiply"], ["multiply", "add"], ["divide", "subtract"],
                      ["add", "multiply", "add"], ["multiply", "divide", "multiply"]):  # fmt: skip
            steps = [(name, 0.3 * k + 2.5, False) for k, name in enumerate(names)]
            right = expected(array, numbers, steps)
            assert found(array, numbers, steps).tobytes() == right.tobytes()
            assert found(array, numbers[:2], steps).tobytes() == right[:2].tobytes()


def test_ranges_of_rows_of_an_array_that_cannot_be_written():
    array = sources()[0]
    array.flags.writeable = False
    for numbers in (range(2, 7), range(0, 8, 3), range(4, 4)):
        steps = [("divide", 255.0, False), ("subtract", 0.5, False)]
        got = found(array, numbers, steps)
        assert got.flags.writeable
        assert got.tobytes() == expected(array, list(numbers), steps).tobytes()


def test_a_row_may_get_another_shape():
    array = sources()[0]
    chain = RowChain(steps_of("multiply", 2.0, False), (4, 16, 1))
    assert chain.bound(array)(np.array([5])).shape == (1, 4, 16, 1)


def test_other_ops_have_no_step():
    assert steps_of("power", 2.0, False) is None


def test_numba_is_not_imported_for_a_few_elements(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "numba")
    late = Deferred("row_chains", 100)
    assert late.library(60) is None
    assert late.library(60) is None
    assert late.library(60) is not None
