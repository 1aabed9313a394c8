"""check_gradients: right gradients pass, wrong ones are found and named."""

import inspect

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.op import Op

check = tf.debugging.check_gradients
RANDOM = np.random.default_rng(0)
X, W = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=(4, 2))
V = RANDOM.normal(size=(4,))


@tf.custom_gradient
def wrong_exp(x):
    return tf.exp(x) * 2.0, lambda dy: dy * tf.exp(x)


@tf.custom_gradient
def right_exp(x):
    return tf.exp(x) * 2.0, lambda dy: dy * tf.exp(x) * 2.0


WEIGHT = tf.Variable(V.astype("float32"), name="weight")


@tf.custom_gradient
def wrong_for_its_variable(x):
    def grad(dy, variables):
        return dy * WEIGHT * 2.0, [dy * x * 3.0]

    return x * WEIGHT * 2.0, grad


@tf.custom_gradient
def swapped(a, b):
    return a * b, lambda dy: (dy * a, dy * b)


def wrong_op():
    return Op(
        "cube_of_the_test", lambda x: x * x * x, lambda g, x: g * x * x * 3.03,
        kind="elementwise", listed=False,
    )  # fmt: skip


def wrong_joint_op():
    return Op(
        "halves_of_the_test", lambda x: (x[:2], x[2:]),
        backward=lambda g: (tf.concat([g[1], g[0]], 0),) if hasattr(g[0], "serial")
        else (np.concatenate([g[1], g[0]]),),
        outputs=2, listed=False,
    )  # fmt: skip


RIGHT = [
    ("matmul", lambda a, b: tf.nn.softmax(a @ b), [X, W]),
    ("mixed dtypes", lambda a, b: tf.tanh(a @ b), [X, W.astype("float32")]),
    ("nests", lambda d, c: d["x"] * d["y"][0] + c, [{"x": V, "y": [V, 3]}, V]),
    ("several outputs", lambda a: {"s": tf.sin(a), "p": [a * a, tf.argmax(a)]}, [V]),
    ("custom gradient", lambda a: right_exp(tf.sin(a)), [V]),
    ("step functions", lambda a: tf.round(a * 3.0) * a, [V]),
    ("reductions", lambda a: tf.reduce_max(a, 0) * tf.reduce_sum(a, 1)[:2, None], [X[:2]]),
    ("recomputed", tf.recompute_grad(lambda a: tf.exp(tf.sin(a))), [V]),
    ("integers beside", lambda a, i: tf.gather(a, i), [V, np.array([0, 2, 2])]),
    ("empty", lambda a: tf.reduce_sum(a * a), [np.zeros((0, 3))]),
]


@pytest.mark.parametrize(("function", "args"), [r[1:] for r in RIGHT], ids=[r[0] for r in RIGHT])
def test_right_gradients_pass(function, args):
    report = check(function, args)
    assert report, report
    assert report.wrong == ""
    assert all(row.error < 1e-6 for row in report.rows)


WRONG = [
    ("custom gradient", lambda a: tf.reduce_sum(wrong_exp(tf.sin(a)) ** 2), [V],
     "the custom gradient wrong_exp"),
    ("its variable", lambda a: wrong_for_its_variable(tf.sin(a)), [V],
     "the custom gradient wrong_for_its_variable"),
    ("swapped", lambda a, b: swapped(tf.sin(a), b), [V, V * 2], "the custom gradient swapped"),
    ("one per cent", lambda a: tf.reduce_sum(tf.exp(wrong_op()(a))), [V],
     "the rule of the op cube_of_the_test"),
    ("joint rule", lambda a: tf.reduce_sum(wrong_joint_op()(a)[0] * 3.0), [V],
     "the rule of the op halves_of_the_test"),
    ("the first of two", lambda a: wrong_exp(wrong_op()(tf.sin(a))), [V], "cube_of_the_test"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "named"), [w[1:] for w in WRONG],
                         ids=[w[0] for w in WRONG])  # fmt: skip
def test_the_first_wrong_rule_is_named(function, args, named):
    report = check(function, args)
    assert not report
    assert named in report.wrong
    assert "test_gradient_check.py:" in report.wrong
    assert "WRONG" in repr(report)


def test_the_line_is_that_of_the_call():
    def function(a):
        return wrong_exp(a)  # MARK

    lines, start = inspect.getsourcelines(test_the_line_is_that_of_the_call)
    (offset,) = [i for i, line in enumerate(lines) if line.rstrip().endswith("# MARK")]
    assert f"test_gradient_check.py:{start + offset}" in check(function, [V]).wrong


def test_only_what_is_wrong_is_marked():
    @tf.custom_gradient
    def half_right(a, b):
        return a * b, lambda dy: (dy * b, dy * b)

    report = check(half_right, [V, V * 2])
    assert [row.ok for row in report.rows] == [True, False]
    assert [row.name for row in report.rows] == ["args[0]", "args[1]"]


def test_kinks_are_left_out():
    (row,) = check(tf.nn.relu, [np.zeros(4)]).rows
    assert (row.ok, row.checked, row.kinks) == (True, 0, 5)
    (row,) = check(tf.nn.relu, [np.array([1.0, -1.0])]).rows
    assert (row.ok, row.checked, row.kinks) == (True, 5, 0)


def test_a_sharp_bend_is_no_kink():
    (row,) = check(lambda x: tf.exp(x * 40.0), [np.array([0.2])], n=3).rows
    assert (row.ok, row.checked) == (True, 3)


def test_a_stop_gradient_is_named():
    report = check(lambda a: tf.stop_gradient(a) * a, [V])
    assert not report
    assert "stop_gradient cuts the path" in report.wrong


def test_a_value_that_left_the_tape_is_named():
    report = check(lambda a: tf.constant(np.tanh(a.numpy())) * a, [V])
    assert not report
    assert ".numpy()" in report.wrong


def test_variables_that_the_function_reads():
    v = tf.Variable(V.astype("float32"), name="read")
    frozen = tf.Variable(1.0, trainable=False)
    report = check(lambda a: tf.exp(a * v) * frozen, [V])
    assert [row.name for row in report.rows] == ["args[0]", "read:0"]
    assert report
    assert v.dtype == "float32"
    np.testing.assert_array_equal(v, V.astype("float32"))
    assert keras.config.floatx() == "float32"


def test_chosen_variables():
    v, w = tf.Variable(2.0, name="v"), tf.Variable(3.0, name="w")
    report = check(lambda: v * w, variables=[w])
    assert [row.name for row in report.rows] == ["w:0"]


def test_nothing_changes_by_a_check():
    v = tf.Variable(V.astype("float32"))
    count = tf.Variable(0, trainable=False)
    dropout = keras.layers.Dropout(0.5, seed=1)
    before = dropout.seed_generator.state.numpy()

    def function(a):
        count.assign_add(1)
        return dropout(a * v, training=True)

    assert check(function, [V])
    assert count.numpy() == 0
    np.testing.assert_array_equal(dropout.seed_generator.state, before)


def test_functions_that_compute_in_float32_are_checked_more_coarsely():
    c = tf.constant(V.astype("float32"))
    report = check(lambda a: tf.reduce_sum(tf.tanh(a * c)), [V.astype("float32")])
    assert report
    assert not check(lambda a: wrong_exp(a * c), [V.astype("float32")])


def test_random_functions_draw_alike():
    assert check(lambda a: tf.random.normal((4,)) * a, [V.astype("float32")])


def test_the_same_seed_the_same_check():
    reports = [check(lambda a: tf.exp(a), [V], seed=s).rows[0].error for s in (1, 1, 2)]
    assert reports[0] == reports[1] != reports[2]


def test_nothing_to_check():
    with pytest.raises(ValueError, match="expected a floating argument"):
        check(lambda i: i, [np.array([1, 2])])
