"""A mistake of the compiler's own ends no run: the results are Python's, and it is told once."""

import logging
import sys
import threading

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler import (
    fused_backends,
    fused_function,
    loop_kernels,
    loop_lowering,
    plan,
    plan_cache,
    symbolic_plans,
)
from framework.compiler.arena import Arena
from framework.compiler.ir import GraphRecorder
from framework.compiler.loop_cache import LoopMachineCode
from framework.compiler.numpy_codegen import NumpyCodegen
from framework.kernels import tier
from tests.compiler import interpreted

MISTAKE = LookupError("a mistake\nof ours")


@pytest.fixture
def no_failures_of_the_compiler():
    """Here it does fail."""


@pytest.fixture(autouse=True)
def with_loops():
    with interpreted.loops():
        yield
    tier.set_tier(None)


def raising(*_args, **_kwargs):
    raise MISTAKE


def fail(change, *names):
    """Let the texts of these programs be there, and their runs fail after they have written."""
    for name in names:
        change(plan, **{name: failing(getattr(plan, name))})


def failing(kind):
    class Failing(kind):
        def compiled(self):
            make = super().compiled()

            def made(*buffers):
                run = make(*buffers)

                def fails(*arrays):
                    run(*arrays)
                    raise MISTAKE

                return fails

            return made

    return Failing


# Where it goes wrong: what is broken, and what is said.
IN_PYTHON = {
    "optimized": (lambda change: change(plan, optimized=raising), "generating its plan"),
    "grouped": (lambda change: change(plan, grouped=raising), "generating its plan"),
    "program": (lambda change: change(plan, NumpyCodegen=raising), "generating its plan"),
    "text": (lambda change: change(NumpyCodegen, compiled=raising), "generating its plan"),
    "graph": (lambda change: change(GraphRecorder, graph=raising), "generating its plan"),
    "difference": (
        lambda change: [
            change(module, difference=raising) for module in (plan_cache, symbolic_plans)
        ],
        "generating its plan",
    ),
    "memory": (lambda change: change(Arena, make=raising), "running its plan"),
    "run": (lambda change: fail(change, "NumpyCodegen", "NumbaCodegen"), "running its plan"),
}
WITHOUT_LOOPS = {
    "fits": (lambda change: change(plan, fits_loop=raising), "generating its loops"),
    "loop": (lambda change: change(loop_kernels, LoopCodegen=raising), "generating its loops"),
    "compile": (lambda change: change(LoopMachineCode, compile=raising), "compiling its loops"),
    "library": (lambda change: change(tier, library=raising), "compiling its loops"),
    "run": (lambda change: fail(change, "NumbaCodegen"), "running its loops"),
}
BROKEN = [
    *(pytest.param(*way, "runs eagerly", id=f"plan: {name}") for name, way in IN_PYTHON.items()),
    *(
        pytest.param(*way, "stays with NumPy calls", id=f"loops: {name}")
        for name, way in WITHOUT_LOOPS.items()
    ),
]


def told(caplog):
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


@pytest.mark.parametrize(("break_it", "step", "outcome"), BROKEN)
def test_a_function_goes_on(break_it, step, outcome, change, caplog):
    def body(x):
        v.assign_add(tf.tanh(x) * 2.0 + x)
        return v * 1.0 + tf.random.normal([2], seed=1)

    found = {}
    for name in ("broken", "eager"):
        v = tf.Variable([1.0, 2.0])
        tf.random.set_seed(3)
        if name == "broken":
            break_it(change)
        f = tf.function(body) if name == "broken" else body
        found[name] = [f(tf.constant([n, 1.0])).numpy() for n in range(6)] + [v.numpy()]
        if name == "broken":
            explained = f.explain()
    for a, b in zip(found["broken"], found["eager"], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    (sentence,) = told(caplog)
    reason = f"{step} failed (LookupError: a mistake)."
    assert sentence == f"body {outcome}: {reason}"
    assert reason in explained


@pytest.mark.parametrize(("break_it", "step", "outcome"), BROKEN)
def test_fit_goes_on(break_it, step, outcome, change, caplog):
    x = np.random.default_rng(0).normal(size=(12, 3)).astype("float32")

    def trained(**options):
        keras.utils.set_random_seed(2)
        layers = keras.layers.Dense(4, "tanh"), keras.layers.Dropout(0.5), keras.layers.Dense(1)
        model = keras.Sequential(layers)
        model.compile("adam", "mse", **options)
        history = model.fit(x, x[:, :1], batch_size=4, epochs=3, verbose=0, shuffle=False)
        return history.history["loss"], model.get_weights()

    losses, weights = trained(run_eagerly=True)
    break_it(change)
    found, after = trained()
    np.testing.assert_allclose(found, losses, rtol=1e-5)
    for a, b in zip(after, weights, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    (sentence,) = told(caplog)
    assert sentence == f"step {outcome}: {step} failed (LookupError: a mistake)."


@pytest.mark.parametrize(("break_it", "step", "outcome"), BROKEN)
def test_numbers_among_the_arguments_go_on(break_it, step, outcome, change, caplog):
    break_it(change)
    f = tf.function(lambda x, n: tf.tanh(x) * n + x)
    x = tf.constant([1.0, 2.0])
    for n in range(12):
        np.testing.assert_allclose(
            f(x, 0.1 * n).numpy(), f.python_function(x, 0.1 * n).numpy(), rtol=1e-6
        )
    (sentence,) = told(caplog)
    assert sentence == f"<lambda> {outcome}: {step} failed (LookupError: a mistake)."


@pytest.mark.parametrize("name", ["fits", "loop", "compile", "library"])
def test_updates_of_a_raw_loop_go_on(name, change, caplog):
    def trained():
        w = tf.Variable([1.0, 2.0])
        optimizer = keras.optimizers.Adam(0.1)
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * w)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return w.numpy()

    expected = trained()
    change(loop_kernels, _built={})
    change(fused_function, _told=set())
    break_it, step = WITHOUT_LOOPS[name]
    break_it(change)
    change(fused_backends, fits_loop=plan.fits_loop)
    np.testing.assert_allclose(trained(), expected, rtol=1e-6)
    (sentence,) = told(caplog)
    assert sentence == (
        f"The optimizer's update stays with NumPy calls: {step} failed (LookupError: a mistake)."
    )


def test_an_error_of_the_users_in_the_first_run_is_not_the_plans(caplog):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    calls = []
    f = tf.function(lambda y, p: calls.append(1) or loss(y, p))
    good, bad = tf.constant([0, 1]), tf.constant([0, 7])
    for _ in range(2):
        f(good, tf.ones([2, 3]))
    for _ in range(2):
        with pytest.raises(ValueError, match="label 7"):
            f(bad, tf.ones([2, 3]))
    made = len(calls)
    for _ in range(2):
        f(good, tf.ones([2, 3]))
    assert len(calls) == made  # by the plan, which is none the worse
    assert not told(caplog)


def backend(function):
    """Which code the only plan runs."""
    ((entry,),) = function._plan_cache.plans.values()
    return entry.plan.tier


def test_an_error_of_the_users_in_the_first_run_with_loops_is_not_the_loops(caplog, change):
    change(tier, _tier="auto")
    change(plan, TRIAL=3)
    change(loop_lowering, _TO_LOAD=0.0, _TO_COMPILE=0.0)

    @tf.function
    def f(x, labels):
        x = tf.tanh(x) * 2.0 + x
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, x)

    for label in (0, 1, 2, 1, 0):
        f(tf.ones([1, 3]), tf.constant([label]))
    assert backend(f) == "numpy"
    with pytest.raises(ValueError, match="label 7"):
        f(tf.ones([1, 3]), tf.constant([7]))
    f(tf.ones([1, 3]), tf.constant([1]))
    assert backend(f) == "numba"
    assert not told(caplog)


def test_threads_that_call_at_once_make_no_mistakes(caplog, change):
    """Recording, making a plan and moving on to loops, all at the same time."""
    change(tier, _tier="auto")
    change(plan, TRIAL=3)
    change(loop_lowering, _TO_LOAD=0.0)
    wrong = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for _ in range(10):
        f = tf.function(lambda x, n: tf.tanh(x) * 2.0 + x * n)
        barrier = threading.Barrier(4)

        def work(k, f=f, barrier=barrier):
            barrier.wait()
            for i in range(12):
                x = tf.constant([float(k), float(i)])
                try:
                    found = f(x, 0.5 + i % 3).numpy()
                    if not np.allclose(found, f.python_function(x, 0.5 + i % 3)):
                        wrong.append(found)
                except Exception as error:
                    wrong.append(error)

        threads = [threading.Thread(target=work, args=[k]) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    sys.setswitchinterval(interval)
    assert not wrong
    assert not told(caplog)
