"""Generated loops: every op against its NumPy forward, layouts, sums, in place, files."""

import os
import subprocess
import sys

import numpy as np
import pytest

from framework.compiler import loop_files, loops
from framework.compiler.loops import Program, build, column, full, layout_of, number, row
from framework.core.op import table
from framework.ops import losses, special  # noqa: F401 (the whole op table)
from framework.kernels import scalars, tier

pytest.importorskip("numba")


@pytest.fixture(autouse=True, scope="module")
def numba_tier():
    before = tier.tier()
    tier.set_tier("numba")
    yield
    tier.set_tier(before)


# ---- every op ------------------------------------------------------------------------------------

INF, NAN = np.inf, np.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, INF, -INF, NAN, 1e-30, -1e-30, 3.5, -2.5, 90.0]
SPECIAL += [-90.0, 1e-42, 1e30, -1e30, 0.9999, -0.9999, 20.0, -20.0]
# ulp: most units in the last place by which a loop may differ from NumPy on ordinary values
ULP = {
    "exp": 3, "expm1": 4, "log": 3, "log1p": 4, "tanh": 8, "sigmoid": 6, "softplus": 6, "erf": 6,
    "sigmoid_cross_entropy": 4, "tanh_back": 2, "xlogy": 4, "xlog1py": 5, "power": 3,
}  # fmt: skip
LIBRARY_ULP = 4  # the C library's functions, and NumPy's own
# Differences of terms that may cancel: by their sizes, of which the ulps are counted
TERMS = {
    "tanh_back": lambda a, b: np.abs(a) + np.abs(a * b * b),
    "sigmoid_cross_entropy": lambda logits, labels: 1 + np.abs(logits) + np.abs(logits * labels),
}


def values(dtype, seed):
    rng = np.random.default_rng(seed)
    ordinary = np.concatenate([
        rng.normal(size=300), 10 * rng.normal(size=100), 1e-4 * rng.normal(size=50)
    ])  # fmt: skip
    a, b = (side.ravel() for side in np.meshgrid(SPECIAL, SPECIAL))
    return np.concatenate([ordinary, a if seed % 2 else b]).astype(dtype)


def operands_of(name, dtype):
    """Arrays for an op: ordinary values, then every pair of special ones."""
    count = len(table[name].inputs)
    code = scalars.CODES[name]
    arrays = [values(dtype, seed) for seed in range(count)]
    if count == 3 and name == "clip":
        arrays[1:] = [np.full_like(arrays[0], -0.7), np.full_like(arrays[0], 0.7)]
    return [a > 0 if i in code.conditions else a for i, a in enumerate(arrays)]


def close(found, expected, ulp, terms=0):
    assert found.dtype == expected.dtype
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    tiny = np.finfo(expected.dtype).tiny
    eps = np.finfo(expected.dtype).eps
    room = np.where(np.isfinite(terms), terms, 0) * eps + tiny
    off = np.abs(found - expected) > ulp * room
    found = np.where(off, found, expected)
    np.testing.assert_allclose(found, expected, rtol=ulp * eps, atol=0)


def in_loops(names_and_arrays):
    """The results of several ops by one loop, which is compiled faster than one for each."""
    operands, steps, arrays = [], [], []
    for op, given in names_and_arrays:
        names = []
        for array in given:
            names.append(f"{op}{len(operands)}")
            operands.append(full(names[-1], array.dtype, 1))
            arrays.append(array)
        steps.append((op, op, tuple(names)))
    loop = build(Program(operands, steps, {op: None for op, *_ in steps}))
    results = [
        np.empty(arrays[0].size, scalars.resolve(op, [a.dtype for a in given], {})[1])
        for op, given in names_and_arrays
    ]
    loop(*arrays, *results)
    return dict(zip([op for op, _ in names_and_arrays], results))


FLOATING = [name for name, code in scalars.CODES.items() if "f" in code.kinds]
OTHERS = [name for name, code in scalars.CODES.items() if "f" not in code.kinds]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("part", range(6))
def test_ops_give_what_numpy_gives(part, dtype):
    names = FLOATING[part::6]
    given = [(name, operands_of(name, dtype)) for name in names]
    found = in_loops(given)
    with np.errstate(all="ignore"):
        for name, arrays in given:
            expected = np.asarray(table[name].forward(*arrays))
            exact = not scalars.CODES[name].slow
            try:
                terms = TERMS[name](*arrays) if name in TERMS else 0
                close(found[name], expected, ULP.get(name, 1 if exact else LIBRARY_ULP), terms)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None
