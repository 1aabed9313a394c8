"""Audits drop plans that no longer match their body."""

import logging

import numpy as np
import pytest

import framework as tf
from framework import config, keras
from framework.compiler import audits, ir
from framework.optimizers import updating

pytestmark = pytest.mark.usefixtures("kind")
X = tf.constant([1.0, -2.0])


def messages(caplog):
    return [r.getMessage() for r in caplog.records if "drops its plan" in r.getMessage()]


def changing(factors, runs):
    """A function of state without guards: the items of a list in a loop."""

    def f(x):
        runs.append(1)
        for factor in factors:
            x = x * factor
        return x

    return tf.function(f)


def test_an_audit_drops_a_plan_that_is_no_longer_valid(caplog):
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
    assert "a constant argument of multiply changed" in message
    assert "runs eagerly" in f.explain()


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


def test_python_side_effects_remain_and_others_are_undone():
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


def test_another_path_is_no_difference(caplog):
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


def optimized(optimizer, factors=(1.0,)):
    """(a function that updates a variable and returns its value, the variable)"""
    w = tf.Variable([1.0, 3.0])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = x
            for factor in factors:
                y = y * w * factor
            loss = tf.reduce_sum(y * y)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return w * 2.0

    return f, w


def ran_by_ops(change):
    """A list of the optimizer updates that run as ops; audits need none."""
    made, whole = [], updating._whole_update

    def watched(optimizer, param, *rest):
        made.extend([1] if isinstance(param, tf.Tensor) else [])
        return whole(optimizer, param, *rest)

    change(updating, _whole_update=watched)
    return made


def test_an_optimizer_update_is_compared_as_one_block(change, caplog):
    f, _ = optimized(keras.optimizers.Adam(0.1))
    by_ops = ran_by_ops(change)
    for _ in range(3):
        f(X)
    traced = len(by_ops)
    with caplog.at_level(logging.WARNING, "framework"):
        found = [f(X).numpy().tolist() for _ in range(30)]
    assert len(by_ops) == traced
    assert not messages(caplog)
    g, _ = optimized(keras.optimizers.Adam(0.1))
    expected = [g.python_function(X).numpy().tolist() for _ in range(33)][3:]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_changed_optimizer_setting_is_found(caplog):
    optimizer = keras.optimizers.SGD(0.1, momentum=0.5)
    f, _ = optimized(optimizer)
    for _ in range(5):
        f(X)
    optimizer.momentum = 0.9
    with caplog.at_level(logging.WARNING, "framework"):
        for _ in range(20):
            f(X)
    (message,) = messages(caplog)
    assert "changed" in message


def test_a_users_update_is_compared_op_by_op(caplog):
    factors = [1.0]

    class Mine(keras.optimizers.SGD):
        def update(self, param, grad, slot, lr, step):
            for factor in factors:
                param = param - lr * factor * grad
            return param

    f, _ = optimized(Mine(0.1))
    for _ in range(5):
        f(X)
    factors[0] = 2.0
    with caplog.at_level(logging.WARNING, "framework"):
        for _ in range(20):
            f(X)
    assert len(messages(caplog)) == 1


def test_the_state_after_an_audit_that_drops_a_plan():
    found = []
    for wanted in (True, False):
        factors, optimizer = [1.0], keras.optimizers.Adam(0.1)
        f, w = optimized(optimizer, factors)
        f = f if wanted else f.python_function
        results = []
        for n in range(25):
            if n == 12:
                factors[0] = 2.0  # the audit is in this call
            results.append(f(X).numpy())
        found.append([*results, w.numpy(), *[v.numpy() for v in optimizer.variables]])
    for ours, expected in zip(*found, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5)


def test_lines_are_looked_up_only_at_a_difference(change):
    factors = [1.0]
    f = changing(factors, [])
    for _ in range(5):
        f(X)
    asked, position = [], ir.user_position
    change(ir, user_position=lambda *a: asked.append(1) or position(*a))
    for _ in range(20):
        f(X)
    assert not asked
    factors[0] = 3.0
    for _ in range(20):
        f(X)
    assert len(asked) == 1


def test_results_of_several_ops_and_shapes_are_compared(caplog):
    sizes = [2]

    @tf.function
    def f(x):
        for size in sizes:
            first, second = tf.split(x, [size, 4 - size])
        values, places = tf.nn.top_k(x, k=2)
        kept, _ = tf.unique(x)
        return first, second, values, places, kept

    x = tf.constant([1.0, -1.0, 2.0, 3.0])
    with caplog.at_level(logging.WARNING, "framework"):
        for _ in range(25):
            f(x)
        assert not messages(caplog)
        sizes[0] = 1
        for _ in range(30):
            found = f(x)
    assert found[0].shape == (1,)
    assert len(messages(caplog)) == 1


def test_constant_results_and_assigned_constants_are_compared(caplog):
    numbers, v = [np.float32(1.0)], tf.Variable(0.0)

    @tf.function
    def f(x):
        for number in numbers:
            v.assign(number)
        return x + 1.0, list(numbers)

    for _ in range(5):
        f(X)
    numbers[0] = np.float32(7.0)
    with caplog.at_level(logging.WARNING, "framework"):
        for _ in range(20):
            found = f(X)
    assert float(v) == 7.0
    assert float(found[1][0]) == 7.0
    assert "a constant that the function returns or assigns" in messages(caplog)[0]


def test_the_calls_of_audits():
    audit = audits.Audits()
    reached = [call for call in range(200) if audit.reached(call) and (audit.done(call) or True)]
    assert reached == [10, 20, 40, 80, 160]
    assert not any(audits.Audits(never=True).reached(call) for call in range(200))
