"""Updates by compiled loops: the same numbers as by NumPy, in place, and when they are chosen."""

import os
import subprocess
import sys

import numpy as np
import pytest

import framework as tf
from framework.compiler import fused_backends
from framework.compiler.fused_backends import NumbaLoops
from framework.compiler.ir import GraphRecorder
from framework.compiler.loop_lowering import BYTE, CALL, TRIAL, calls_until_due
from framework.core.variable import KerasVariable
from framework.kernels import threads, tier
from framework.optimizers import SGD, Adam, updating
from tests.samples.optimizers import SAMPLES

pytest.importorskip("numba")

# Options that only change numbers or what is around the update share their loop with another case;
# Adafactor is not elementwise.
ALIKE = (
    "clip", "scale", "accumulation", "ema", "betas", "options", "accumulator", "rho", "lamb_",
    "adafactor", "_power", "all", "amsgrad_",
)  # fmt: skip
DISTINCT = [name for name in SAMPLES if not any(part in name for part in ALIKE)]


@pytest.fixture(autouse=True)
def numba_tier():
    before = tier.tier()
    tier.set_tier("numba")
    yield
    tier.set_tier(before)


def train(optimizer, dtype="float32", steps=12, shapes=((37, 53), (5,), (1, 1), (2, 3, 7, 3))):
    """Variables of odd sizes after some updates."""
    rng = np.random.default_rng(0)
    variables = [KerasVariable(rng.normal(size=s).astype(dtype)) for s in shapes]
    for _ in range(steps):
        grads = [tf.constant(rng.normal(size=s).astype(dtype)) for s in shapes]
        optimizer.apply_gradients(zip(grads, variables, strict=True))
    return variables


def made(name, loops):
    optimizer = SAMPLES[name].create()
    optimizer.use_loops(loops)
    return optimizer


def are_loops(optimizer):
    return {
        type(p.form) is NumbaLoops for p in optimizer._framework.programs.values() if p is not None
    }


@pytest.mark.parametrize("name", DISTINCT)
def test_loops_give_the_numbers_of_numpy(name):
    by_loops, by_numpy = made(name, True), made(name, False)
    found, expected = train(by_loops), train(by_numpy)
    assert are_loops(by_loops) == {True}
    assert are_loops(by_numpy) == {False}, "as NumPy, or as written"
    pairs = [*zip(found, expected), *zip(by_loops.variables, by_numpy.variables, strict=True)]
    for a, b in pairs:
        if name == "lamb":  # sums are taken in another order
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-6, atol=1e-7)
        else:
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_threads_share_an_update_without_a_change_of_bits(count, change):
    sizes, given = ((60_001,), (511,), (64, 8), (9, 57)), []
    team = tier.library("team").ThreadTeam

    def do(pool, most, *rest, real=team.do):
        given.append(most)
        return real(pool, most, *rest)

    change(team, do=do)
    threads.set_count(count)
    try:
        found = train(made("adam", True), shapes=sizes)
    finally:
        threads.set_count(None)
    expected = train(made("adam", False), shapes=sizes)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert given == ([] if count == 1 else [count] * 12), "all variables at once, at each update"


def test_more_variables_than_one_call_takes(change):
    shapes = [(5,), (2, 3), (700,), (1,), (4, 1, 2), (6,), (513,)]
    expected = train(made("adam", False), shapes=shapes)
    optimizer = made("adam", True)
    change(tier.library("team"), MOST=50)  # three of them
    change(fused_backends, _built={})
    found = train(optimizer, shapes=shapes)
    (loop,) = fused_backends._built.values()
    assert [len(sizes) for _, *sizes in loop._known] == [1, 3, 3]
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_lots_of_variables_that_change_are_not_kept(change):
    change(fused_backends, _built={})
    change(fused_backends, _MOST_KNOWN=3)
    found = []
    for loops in (True, False):
        optimizer = made("sgd_momentum", loops)
        variables = [KerasVariable(np.ones(n, np.float32)) for n in range(1, 9)]
        for count in (*range(1, 9), 2):
            grads = [tf.constant(np.full(v.shape, 0.5, np.float32)) for v in variables[:count]]
            optimizer.apply_gradients(zip(grads, variables[:count], strict=True))
        found.append(np.concatenate([v.numpy() for v in variables]))
    np.testing.assert_array_equal(*found)
    (loop,) = fused_backends._built.values()
    assert len(loop._known) <= 3


@pytest.mark.parametrize("loops", [True, False])
def test_a_variable_twice_in_one_call_is_updated_twice(loops):
    found = []
    grads = [tf.constant(np.full(n, k, np.float32)) for n, k in ((3, 0.5), (4, 1.0), (3, 2.0))]
    for at_once in (True, False):
        w, b = (KerasVariable(np.ones(n, np.float32)) for n in (3, 4))
        pairs = [*zip(grads, (w, b, w), strict=True)]
        optimizer = made("sgd_momentum", loops)
        for each in [pairs] if at_once else [[pair] for pair in pairs]:
            optimizer.apply_gradients(each)
        found.append((w.numpy(), b.numpy()))
    for x, y in zip(*found, strict=True):
        np.testing.assert_array_equal(x, y)


def test_one_variable_that_is_seen_leaves_the_others_in_place():
    optimizer = made("adam", True)
    variables = [KerasVariable(np.ones(n, np.float32)) for n in (3, 4)]
    pairs = [(tf.constant(np.ones(v.shape, np.float32)), v) for v in variables]
    optimizer.apply_gradients(pairs)
    seen, other = variables
    read, buffer = seen.read(), other.array.ctypes.data
    before = read.numpy()
    optimizer.apply_gradients(pairs)
    np.testing.assert_array_equal(read.numpy(), before)
    assert other.array.ctypes.data == buffer
    np.testing.assert_array_equal(seen.numpy()[:3], other.numpy()[:3])
    assert seen.numpy()[0] < before[0]


def test_numbers_of_another_dtype_are_refused_not_read():
    optimizer = made("adam", True)
    w = train(optimizer, shapes=[(5,)])[0]
    form = optimizer._framework.plans[w.serial].program.form
    arrays = [np.ones(7, np.float32) for _ in range(4)]
    numbers = [np.ones((), np.float64) for _ in form.numbers.read]
    with pytest.raises(TypeError, match="float64"):
        form([(arrays, [arrays[0], *arrays[2:]])], numbers)


@pytest.mark.parametrize("name", ["adam", "ftrl"])
def test_loops_in_float64(name):
    found, expected = train(made(name, True), "float64"), train(made(name, False), "float64")
    for a, b in zip(found, expected):
        assert a.numpy().dtype == np.float64
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_float16_keeps_numpys_form():
    optimizer = made("adam", True)
    train(optimizer, "float16", steps=2)
    assert are_loops(optimizer) == {False}


def test_buffers_are_written_in_place_and_seen_ones_replaced():
    optimizer = made("adam", True)
    w = KerasVariable(np.ones((3, 4), np.float32))
    g = tf.constant(np.full((3, 4), 0.5, np.float32))
    optimizer.apply_gradients([(g, w)])
    buffer = w.array.ctypes.data
    optimizer.apply_gradients([(g, w)])
    assert w.array.ctypes.data == buffer
    read = w.read()
    before = read.numpy()
    optimizer.apply_gradients([(g, w)])
    np.testing.assert_array_equal(read.numpy(), before)
    assert not np.array_equal(w.numpy(), before)


def test_the_gradient_may_be_the_variable_itself():
    w, v = (KerasVariable(np.arange(6, dtype=np.float32).reshape(2, 3)) for _ in range(2))
    for variable, loops in ((w, True), (v, False)):
        optimizer = made("sgd_momentum", loops)
        for _ in range(3):
            optimizer.apply_gradients([(variable.read(), variable)])
    np.testing.assert_allclose(w.numpy(), v.numpy(), rtol=1e-6)


def test_arrays_in_fortrans_order():
    rng = np.random.default_rng(1)
    start, grad = rng.normal(size=(2, 5, 4)).astype(np.float32)
    w = KerasVariable(np.asfortranarray(start))
    v = KerasVariable(start)
    for variable, loops in ((w, True), (v, False)):
        made("adam", loops).apply_gradients([(tf.constant(np.asfortranarray(grad)), variable)])
    np.testing.assert_allclose(w.numpy(), v.numpy(), rtol=1e-6)


# ---- which form ----------------------------------------------------------------------------------


def first_update(optimizer, *sizes):
    variables = [KerasVariable(np.zeros(n, np.float32)) for n in sizes]
    grads = [tf.constant(np.zeros(n, np.float32)) for n in sizes]
    optimizer.apply_gradients(zip(grads, variables, strict=True))
    return variables


def forms_of_updates(optimizer, count, *sizes):
    """Whether each update was by loops."""
    found = []
    variables = [KerasVariable(np.zeros(n, np.float32)) for n in sizes]
    grads = [tf.constant(np.zeros(n, np.float32)) for n in sizes]
    for _ in range(count):
        optimizer.apply_gradients(zip(grads, variables, strict=True))
        (form,) = are_loops(optimizer)
        found.append(form)
    return found


def test_the_numba_tier_uses_loops_at_once():
    assert forms_of_updates(SGD(0.1), 2, 3) == [True, True]


def test_loops_take_over_after_a_trial_where_they_are_there():
    tier.set_tier("auto")
    forms_of_updates(made("sgd", True), 1, 3)  # has them compiled
    found = forms_of_updates(made("sgd", None), TRIAL + 2, 3)
    assert found == [False] * TRIAL + [True] * 2


def test_loops_that_are_not_there_wait_until_they_pay(change):
    asked = []

    def due(cost, missing):
        asked.append((cost, missing))
        return TRIAL + 5

    tier.set_tier("auto")
    change(updating, calls_until_due=due)
    found = forms_of_updates(SGD(0.1), TRIAL + 7, 1000, 24)
    assert found == [False] * (TRIAL + 5) + [True] * 2
    ((cost, _),) = asked
    steps, moved = 2, 6 * 4  # lr * grad, param - that: each reads one or two arrays and makes one
    assert cost == pytest.approx(2 * steps * CALL + BYTE * (moved - 4) * 1024)


def test_what_is_not_there_costs_calls(monkeypatch):
    tier.set_tier("auto")
    assert calls_until_due(1e-3, 0) == 0  # Numba is loaded
    assert calls_until_due(1e-3, 2) == 1400
    monkeypatch.delitem(sys.modules, "numba")
    assert calls_until_due(1e-3, 2) == 1500
    tier.set_tier("numba")
    assert calls_until_due(1e-3, 2) == 0


def test_large_updates_look_at_once(change):
    tier.set_tier("auto")
    change(updating, calls_until_due=lambda cost, missing: 0)
    change(updating, LARGE=8 * 1000)
    assert forms_of_updates(SGD(0.1), 1, 1000) == [False]
    assert forms_of_updates(SGD(0.1), 1, 1001) == [True]


def test_the_form_can_be_chosen_and_left_open_again():
    tier.set_tier("auto")
    optimizer = SGD(0.1)
    for use, loops in ((True, True), (None, False), (True, True), (False, False)):
        optimizer.use_loops(use)
        assert forms_of_updates(optimizer, 2, 4) == [loops] * 2


def test_a_field_that_changes_is_a_new_loop():
    optimizer = made("sgd_momentum", True)
    w = first_update(optimizer, 4)[0]
    optimizer.momentum = 0.5
    optimizer.apply_gradients([(tf.ones(4), w)])
    optimizer.apply_gradients([(tf.ones(4), w)])
    assert are_loops(optimizer) == {True}
    rate = float(optimizer.learning_rate)
    np.testing.assert_allclose(w.numpy(), np.full(4, -rate * (1 + 1.5)), rtol=1e-6)


def test_a_recorded_update_compiles_no_loop():
    optimizer = SGD(0.1)
    with GraphRecorder(()):
        first_update(optimizer, 4)
    assert are_loops(optimizer) == {False}


def test_without_numba_updates_are_numpys():
    tier.set_tier("numpy")
    assert forms_of_updates(Adam(), TRIAL + 2, 4) == [False] * (TRIAL + 2)


def test_small_models_do_not_import_numba():
    program = """
import sys, numpy as np, framework as tf
from framework import keras
shapes = (784, 128), (128,), (128, 10), (10,)
variables = [tf.Variable(np.zeros(s, np.float32)) for s in shapes]
grads = [tf.constant(np.zeros(s, np.float32)) for s in shapes]
keras.optimizers.Adam().apply_gradients(zip(grads, variables))
assert "numba" not in sys.modules
"""
    environment = {k: v for k, v in os.environ.items() if k != "FRAMEWORK_COMPILE"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
