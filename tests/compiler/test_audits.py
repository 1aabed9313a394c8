"""Audits end plans that no longer do what their body does."""

import logging

import numpy as np
import pytest

import framework as tf
from framework import config, keras
from framework.compiler import audits

pytestmark = pytest.mark.usefixtures("kind")
X = tf.constant([1.0, -2.0])


def messages(caplog):
    return [r.getMessage() for r in caplog.records if "ends its plan" in r.getMessage()]


def changing(factors, runs):
    """A function of state that no guard sees: the items of a list that it goes over."""

    def f(x):
        runs.append(1)
        for factor in factors:
            x = x * factor
        return x

    return tf.function(f)


def test_an_audit_ends_a_plan_that_is_no_longer_right(caplog):
    factors, runs = [1.0, 2.0], []
    f = changing(factors, runs)
    found = []
    with caplog.at_level(logging.WARNING, "framework"):
        for n in range(40):
            if n == 15:
                factors[0] = 10.0
            found.append(float(f(X)[0]))
    assert found == [2.0] * 22 + [20.0] * 18  # two traced calls, then audits in 10 and 20
    (message,) = messages(caplog)
    assert f"{__file__}:" in message
    assert "a number that multiply computes with changed" in message
    assert "in Python" in f.explain()


def test_spacings_double():
    runs = []
    f = changing([2.0], runs)
    ran = []
    for n in range(350):
        before = len(runs)
        f(X)
        if len(runs) > before:
            ran.append(n - 2)
    assert ran == [-2, -1, 10, 20, 40, 80, 160, 320]


def test_python_effects_stand_and_others_are_undone():
    runs, total = [], tf.Variable(0.0)
    tf.random.set_seed(3)

    @tf.function
    def f(x):
        runs.append(1)
        total.assign_add(1.0)
        return tf.random.uniform([2]) + x

    with_audits = [f(X).numpy() for _ in range(30)]
    assert len(runs) == 4
    assert float(total) == 30.0
    tf.random.set_seed(3)
    in_python = [f.python_function(X).numpy() for _ in range(30)]
    np.testing.assert_array_equal(with_audits, in_python)


def test_audits_can_be_turned_off():
    runs = []
    f = changing([2.0], runs)
    config.set_audit(False)
    try:
        assert not config.get_audit()
        for _ in range(30):
            f(X)
    finally:
        config.set_audit()
    assert len(runs) == 2


def test_another_way_through_the_code_is_no_difference(caplog):
    @tf.function
    def f(x):
        return x * 2.0 if tf.reduce_sum(x) > 0 else x * 3.0

    with caplog.at_level(logging.WARNING, "framework"):
        for n in range(60):
            x = X if n % 7 else -X
            assert float(f(x)[0]) == float(f.python_function(x)[0])
    assert not caplog.records
    assert "2 plans" in f.explain()


def test_numbers_among_the_arguments(caplog):
    factors = [1.0]

    @tf.function
    def f(x, n):
        for factor in factors:
            x = x * factor * n
        return x

    with caplog.at_level(logging.WARNING, "framework"):
        found = [float(f(X, 0.5 * n)[0]) for n in range(30)]
        factors[0] = 4.0
        later = [float(f(X, 0.5 * n)[0]) for n in range(40)]
    assert found == [0.5 * n for n in range(30)]
    assert later[-1] == 2.0 * 39
    assert len(messages(caplog)) == 1


def test_under_a_tape(caplog):
    factors, w = [2.0], tf.Variable([1.0, 3.0])

    @tf.function
    def f(x):
        y = x
        for factor in factors:
            y = y * w * factor
        return tf.reduce_sum(y)

    def gradient():
        with tf.GradientTape() as tape:
            y = f(X)
        assert len(tape._edges) <= 12
        return tape.gradient(y, w).numpy()

    with caplog.at_level(logging.WARNING, "framework"):
        for _ in range(25):
            np.testing.assert_array_equal(gradient(), [2.0, -4.0])
        assert not messages(caplog)
        factors[0] = 5.0
        for _ in range(40):
            found = gradient()
    np.testing.assert_array_equal(found, [5.0, -10.0])
    assert len(messages(caplog)) == 1


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_training_is_the_same_with_audits(optimizer):
    def trained(wanted):
        config.set_audit(wanted)
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dropout(0.5)])
        model.compile(optimizer, "mse", metrics=["mae"])
        x = np.random.default_rng(0).normal(size=(60, 2)).astype("float32")
        history = model.fit(x, np.ones((60, 3), "float32"), 2, epochs=2, verbose=0)
        return history.history, [w.tobytes() for w in model.get_weights()]

    try:
        assert trained(True) == trained(False)
    finally:
        config.set_audit()


def test_the_calls_of_audits():
    audit = audits.Audits()
    reached = [call for call in range(200) if audit.reached(call) and (audit.done(call) or True)]
    assert reached == [10, 20, 40, 80, 160]
    assert not any(audits.Audits(never=True).reached(call) for call in range(200))
