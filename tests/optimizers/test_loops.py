"""Updates by compiled loops: the same numbers as by NumPy, in place, and when they are chosen."""

import os
import subprocess
import sys

import numpy as np
import pytest

import framework as tf
from framework import optimizers as all_optimizers
from framework.compiler.fused_loop import FusedLoop
from framework.compiler.trace import Trace
from framework.core.variable import KerasVariable
from framework.kernels import tier
from framework.optimizers import SGD, Adam
from framework.optimizers.updating import LARGE
from tests.optimizers.cases import CASES

pytest.importorskip("numba")

# Options that only change numbers or what is around the update share their loop with another case;
# Adafactor is not elementwise.
ALIKE = (
    "clip", "scale", "accumulation", "ema", "betas", "options", "accumulator", "rho", "lamb_",
    "adafactor", "_power", "all", "amsgrad_",
)  # fmt: skip
DISTINCT = [name for name in CASES if not any(part in name for part in ALIKE)]


@pytest.fixture(autouse=True)
def numba_tier():
    before = tier.tier()
    tier.set_tier("numba")
    yield
    tier.set_tier(before)


def train(optimizer, dtype="float32", steps=12):
    """Variables of odd sizes after some updates."""
    rng = np.random.default_rng(0)
    shapes = ((37, 53), (5,), (1, 1), (2, 3, 7, 3))
    variables = [KerasVariable(rng.normal(size=s).astype(dtype)) for s in shapes]
    for _ in range(steps):
        grads = [tf.constant(rng.normal(size=s).astype(dtype)) for s in shapes]
        optimizer.apply_gradients(zip(grads, variables, strict=True))
    return variables


def made(name, loops):
    kind, arguments = CASES[name]
    optimizer = getattr(all_optimizers, kind)(**arguments)
    optimizer.use_loops(loops)
    return optimizer


def are_loops(optimizer):
    return {type(p.form) is FusedLoop for p in optimizer._programs.values() if p is not None}


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


@pytest.mark.parametrize(
    ("sizes", "loops"), [((LARGE,), True), ((LARGE - 5, 5), True), ((LARGE - 1,), False)]
)
def test_the_total_size_decides(sizes, loops):
    optimizer = SGD(0.1)
    first_update(optimizer, *sizes)
    assert are_loops(optimizer) == {loops}


def test_the_size_at_build_decides():
    optimizer = SGD(0.1)
    optimizer.build([KerasVariable(np.zeros(LARGE, np.float32))])
    first_update(optimizer, 3)
    assert are_loops(optimizer) == {True}


def test_the_form_can_be_chosen_and_left_to_the_size_again():
    optimizer = SGD(0.1)
    first_update(optimizer, 4)
    for use, loops in ((True, True), (None, False), (False, False)):
        optimizer.use_loops(use)
        first_update(optimizer, 4)
        assert are_loops(optimizer) == {loops}


def test_a_recorded_update_compiles_no_loop():
    optimizer = SGD(0.1)
    with Trace():
        first_update(optimizer, LARGE)
    assert [p.form for p in optimizer._programs.values()] == [None]


def test_without_numba_updates_are_numpys():
    tier.set_tier("numpy")
    optimizer = Adam()
    first_update(optimizer, LARGE)
    assert are_loops(optimizer) == {False}


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
