"""float16 and bfloat16 over the whole op table: what float32 gives, to their own precision.

Results and gradients keep the dtype of the arguments. The arguments are rounded first, so that
what differs is the arithmetic: a few units of the last place of the largest number met.
"""

import numpy as np
import pytest

from framework.core import dtypes
from framework.core.op import table
from tests.looped import looped
from tests.ops import derivatives as d
from tests.samples.ops import NAMES, samples
from tests.samples.ops.arguments import generator

UNITS = 24  # of the last place
# NumPy's products of bfloat16 matrices, and with Python numbers, are float32: who calls these
# gives them float32
WIDE_IN_BFLOAT16 = {"lstm_cell", "lstm_cell_back", "moving_average"}
LAST_PLACE = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def dtype_of(name):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
    return dtypes.as_dtype(name).np


def narrow_samples(name, dtype):
    if dtype == "bfloat16" and name in WIDE_IN_BFLOAT16:
        return []
    return [s for s in samples(name) if "float16" in s.other_floats]


def rounded(op, sample, dtype):
    """The arguments in `dtype`, and the same in float32; Python numbers as operands adopt them."""
    numbers = (float, int) if op.kind == "elementwise" else float
    floats = [d.is_float(a) or isinstance(a, numbers) for a in sample.args]
    narrow = [_as(a, dtype) if f else a for a, f in zip(sample.args, floats)]
    wide = [_as(a, np.float32) if f else a for a, f in zip(narrow, floats)]
    return narrow, wide


def _as(array, dtype):
    return np.asarray(np.asarray(array).astype(dtype))


def _narrowed(array, dtype):
    """Weights of an output: in its dtype, if that is one of float32's."""
    return _as(array, dtype) if array.dtype == np.float32 else array


def close(found, expected, dtype, name):
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape
    if found.size:
        finite = np.abs(expected[np.isfinite(expected)])
        unit = LAST_PLACE[dtype] * max(1.0, finite.max(initial=0.0))
        np.testing.assert_allclose(found, expected, rtol=0, atol=UNITS * unit, err_msg=name)


@looped("dtype", LAST_PLACE)
@pytest.mark.parametrize("name", NAMES)
def test_results_are_float32s(name, dtype):
    op, kind = table[name], dtype_of(dtype)
    for sample in narrow_samples(name, dtype):
        args, wide = rounded(op, sample, kind)
        found = d.several(op(*args, **sample.attrs))
        for y, r in zip(found, d.several(op(*wide, **sample.attrs)), strict=True):
            follows = r.dtype == np.float32 and "dtype" not in sample.attrs
            assert y.dtype == (kind if follows else r.dtype)
            close(y, r, dtype, name)


@looped("dtype", LAST_PLACE)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_float32s(name, dtype):
    op, kind = table[name], dtype_of(dtype)
    for sample in narrow_samples(name, dtype):
        args, wide = rounded(op, sample, kind)
        outputs = d.several(op(*wide, **sample.attrs))
        positions = d.differentiable(op, wide)
        if not positions:
            continue
        weights = d.random_like(outputs, generator(name))
        narrow = [_narrowed(w, kind) for w in weights]
        weights = [_as(n, w.dtype) for n, w in zip(narrow, weights)]
        expected = d.gradients(op, wide, sample.attrs, weights)
        found = d.gradients(op, args, sample.attrs, narrow, positions=positions)
        for g, r in zip(found, expected, strict=True):
            assert g.array.dtype == kind
            close(g.array, r.array, dtype, name)


@pytest.mark.parametrize("dtype", LAST_PLACE)
@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean"])
def test_sums_are_rounded_once(name, axis, dtype):
    x = np.random.default_rng(0).normal(size=(300, 500)).astype(dtype_of(dtype))
    exact = x.astype(np.float64).sum(axis)
    exact = exact / (x.size / exact.size) if name == "reduce_mean" else exact
    found = table[name](x, axis=axis, keepdims=False)
    assert found.dtype == x.dtype
    error = np.abs(found.astype(np.float64) - exact)
    assert np.all(error <= 0.51 * LAST_PLACE[dtype] * np.abs(exact) + 1e-4)
