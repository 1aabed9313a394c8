"""Recurrent sequences: Numba against NumPy, with and without threads, and both against float64."""

import itertools

import numpy as np
import pytest

from framework.kernels import recurrent, threads, tier
from framework.kernels.tier import set_tier
from framework.ops.recurrent import gru, gru_back, lstm, lstm_back, simple_rnn, simple_rnn_back
from tests.changed import changed

OPS = {  # the op, its joint rule, blocks of columns, states
    "lstm": (lstm, lstm_back, 4, 2),
    "gru": (gru, gru_back, 3, 1),
    "simple_rnn": (simple_rnn, simple_rnn_back, 1, 1),
}
SIZES = [  # batch, steps, features, units
    (1, 1, 1, 1), (3, 4, 2, 5), (8, 3, 7, 32), (9, 5, 33, 17), (33, 2, 1, 65), (17, 6, 3, 40),
    (2, 0, 3, 4), (70, 4, 8, 16),
]  # fmt: skip
each_op = pytest.mark.parametrize("name", OPS)


@pytest.fixture(autouse=True)
def at_every_size(change):
    """Use Numba for the smallest sequences too."""
    change(recurrent, _COMPILED=0)
    yield
    set_tier()


def drawn(name, batch, steps, features, units, masked, dtype="float32"):
    """Return inputs of the op and cotangents of its outputs."""
    _, _, blocks, states = OPS[name]
    rng = np.random.default_rng(batch + units)

    def real(*shape, scale=1.0):
        return (rng.normal(size=shape) * scale).astype(dtype)

    columns = blocks * units
    weights = (
        real(features, columns, scale=features**-0.5), real(units, columns, scale=units**-0.5 / 2),
        real(*((2, columns) if blocks == 3 else (columns,))),
    )  # fmt: skip
    mask = rng.random((batch, steps)) < 0.6 if masked else None
    first = [real(batch, units) for _ in range(states)]
    cotangents = [real(batch, steps, units), *(real(batch, units) for _ in range(states))]
    return (real(batch, steps, features), *first, *weights, mask), cotangents


def computed(name, arguments, cotangents, needed=None, **how):
    """Return outputs and gradients, through the ops' functions."""
    op, back, _, states = OPS[name]
    how = {"reverse": False, "zero_output": False, "sequence": True, **how}
    outputs, saved = op.forward(*arguments, **how)
    if not how.pop("sequence"):
        cotangents = [None, *cotangents[1:]]
    needed = needed or (True,) * (4 + states) + (False,)
    kernels, mask = arguments[1 + states : 3 + states], arguments[-1]
    gradients = back.forward(*cotangents, *kernels, mask, *saved, needed=needed, **how)
    return [*outputs, *gradients]


def agree(found, expected, tolerance=4e-6):
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        assert a.dtype == np.float32
        size = max(1, np.abs(b).max(initial=0))
        np.testing.assert_allclose(a / size, b / size, rtol=0, atol=tolerance)


HOW = [
    {}, {"reverse": True, "sequence": False}, {"zero_output": True}, {"reverse": True},
]  # fmt: skip


@each_op
@pytest.mark.parametrize("tier_name", ["numpy", "numba"])
@pytest.mark.parametrize("masked", [False, True])
def test_numpy_and_numba_agree_with_float64(name, tier_name, masked):
    if tier_name == "numba":
        pytest.importorskip("numba")
    for sizes, how in zip(SIZES, itertools.cycle(HOW)):
        arguments, cotangents = drawn(name, *sizes, masked)
        precise = [a if a is None or a.dtype == bool else a.astype(float) for a in arguments]
        set_tier("numpy")
        expected = computed(name, precise, [g.astype(float) for g in cotangents], **how)
        set_tier(tier_name)
        agree(computed(name, arguments, cotangents, **how), expected)


@each_op
def test_threads_share_the_batch_and_change_no_state(name, change):
    pytest.importorskip("numba")
    set_tier("numba")
    change(threads, _count=3)
    for sizes, masked in (((33, 3, 5, 20), True), ((64, 4, 8, 16), False), ((5, 2, 3, 4), True)):
        arguments, cotangents = drawn(name, *sizes, masked)
        alone = computed(name, arguments, cotangents)
        with changed(recurrent, _SHARED=0):
            shared = computed(name, arguments, cotangents)
        states = 2 + 2 * OPS[name][3]  # outputs, and the gradients of x and the states
        for a, b in zip(shared[:states], alone[:states], strict=True):
            np.testing.assert_array_equal(a, b)
        agree(shared, alone, 1e-6)


@each_op
def test_only_what_is_needed(name):
    states = OPS[name][3]
    arguments, cotangents = drawn(name, 5, 3, 4, 6, True)
    for form in ("numpy", "auto"):
        set_tier(form)
        every = computed(name, arguments, cotangents)[1 + states :]
        for which in (0, 1, states + 1, states + 3):
            needed = tuple(i == which for i in range(5 + states))
            (found,) = computed(name, arguments, cotangents, needed)[1 + states :]
            np.testing.assert_array_equal(found, every[which])


@each_op
def test_the_backward_pass_may_use_the_other_backend(name):
    pytest.importorskip("numba")
    op, back, _, states = OPS[name]
    arguments, cotangents = drawn(name, 9, 4, 3, 18, True)
    how = {"reverse": False, "zero_output": False}
    set_tier("numpy")
    expected = computed(name, arguments, cotangents)
    set_tier("numba")
    _, saved = op.forward(*arguments, sequence=True, **how)
    set_tier("numpy")
    kernels = arguments[1 + states : 3 + states]
    needed = (True,) * (4 + states) + (False,)
    found = back.forward(*cotangents, *kernels, arguments[-1], *saved, needed=needed, **how)
    agree(found, expected[1 + states :])


@each_op
@pytest.mark.parametrize("form", ["numpy", "auto"])
def test_nan_stays_in_its_row_and_inf_saturates(name, form):
    set_tier(form)
    arguments, cotangents = drawn(name, 10, 3, 4, 5, False)
    arguments[0][3, 1, 2] = np.nan
    arguments[0][4, 1, 2] = np.inf
    steps = computed(name, arguments, cotangents)[0]
    assert np.isfinite(steps[3, 0]).all()
    assert np.isnan(steps[3, 1:]).all()
    assert np.isfinite(np.delete(steps, (3, 4), 0)).all()
    assert np.isfinite(steps[4, :2]).all()


def test_small_sequences_and_other_dtypes_use_numpy(change):
    pytest.importorskip("numba")
    change(tier, library=None)  # not to be called
    arguments, cotangents = drawn("lstm", 3, 2, 2, 2, False, "float64")
    computed("lstm", arguments, cotangents)
    change(recurrent, _COMPILED=1 << 17)
    arguments, cotangents = drawn("lstm", 3, 2, 2, 2, False)
    computed("lstm", arguments, cotangents)
