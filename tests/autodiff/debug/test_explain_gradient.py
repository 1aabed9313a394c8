"""`tape.explain`: each cause of a None or zero gradient, its op, its remedy, its line."""

import gc
import inspect
import re
import warnings
import weakref

import numpy as np
import pytest

import framework as tf
from framework import keras

HERE = "test_explain_gradient.py"


def line_of(function, text):
    """`test_explain_gradient.py:N`, N being the line of `function` that holds `text`."""
    lines, start = inspect.getsourcelines(function)
    (offset,) = [i for i, line in enumerate(lines) if text in line]
    return f"{HERE}:{start + offset}"


# Each situation gives (tape, target, source). `MARK` is on the line that a trace must name.


def never_watched(**how):
    x = tf.constant(3.0)
    with tf.GradientTape(**how) as tape:
        y = x * x  # MARK
    return tape, y, x


def not_trainable(**how):
    v = tf.Variable(3.0, trainable=False, name="frozen")
    with tf.GradientTape(**how) as tape:
        y = v * v  # MARK
    return tape, y, v


def not_watching_variables(**how):
    v = tf.Variable(3.0, name="quiet")
    with tf.GradientTape(watch_accessed_variables=False, **how) as tape:
        y = v * v  # MARK
    return tape, y, v


def equal_object(**how):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        tape.watch(x)
        y = x * x
    return tape, y, tf.constant([1.0, 2.0])


def rebound_name(**how):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        tape.watch(x)
        y = tf.exp(x)
    x = tf.constant([7.0, 8.0])
    return tape, y, x


def value_of_a_variable(**how):
    v = tf.Variable([1.0, 2.0], name="weights")
    with tf.GradientTape(**how) as tape:
        y = v * v
    return tape, y, v.read_value()


def intermediate_computed_again(**how):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        h = x * 3.0
        y = h * h
    return tape, y, x * 3.0


def before_the_tape(**how):
    v = tf.Variable(3.0, name="early")
    with tf.debugging.trace():
        y = v * v  # MARK
        with tf.GradientTape(**how) as tape:
            z = tf.constant(1.0) + y
    return tape, z, v


def watched_too_late(**how):
    x = tf.constant(3.0)
    with tf.GradientTape(**how) as tape:
        y = x * x  # MARK
        tape.watch(x)
    return tape, y, x


def left_through_numpy(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        h = v * 2.0
        y = tf.reduce_sum(tf.constant(np.tanh(h.numpy())))  # MARK
    return tape, y, v


def copied_in_a_list(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        y = tf.reduce_sum(tf.constant([v[0] * 2.0, v[1]]))  # MARK
    return tape, y, v


def argmax(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        y = tf.cast(tf.argmax(v * 2.0), tf.float32)  # MARK
    return tape, y, v


def rounding(**how):
    v = tf.Variable([1.2, 2.0])
    with tf.GradientTape(**how) as tape:
        y = tf.reduce_sum(tf.round(v) * 2.0)  # MARK
    return tape, y, v


def comparison(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        positive = v > 1.5  # MARK
        y = tf.reduce_sum(tf.cast(positive, tf.float32))
    return tape, y, v


def cast_to_int(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        whole = tf.cast(v, tf.int32)  # MARK
        y = tf.reduce_sum(tf.cast(whole, tf.float32))
    return tape, y, v


def integer_source(**how):
    v = tf.Variable(3)
    with tf.GradientTape(**how) as tape:
        y = tf.cast(v * v, tf.float32)
    return tape, y, v


def integer_target(**how):
    v = tf.Variable(3.0)
    with tf.GradientTape(**how) as tape:
        y = tf.cast(v * v, tf.int32)
    return tape, y, v


def stopped(**how):
    v = tf.Variable(3.0)
    with tf.GradientTape(**how) as tape:
        y = tf.stop_gradient(v * v) * 2.0  # MARK
    return tape, y, v


def paused(**how):
    v = tf.Variable(3.0)
    with tf.GradientTape(**how) as tape:
        h = v * 1.0
        with tape.stop_recording():
            y = h * h  # MARK
        z = y + 1.0
    return tape, z, v


def reset(**how):
    v = tf.Variable(3.0, name="lost")
    with tf.GradientTape(**how) as tape:
        y = v * v
        tape.reset()
    return tape, y, v


def unused(**how):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(**how) as tape:
        y = v * v
        w * 2.0
    return tape, y, w


def dead_relu(**how):
    v = tf.Variable([[-1.0, -2.0]])
    with tf.GradientTape(**how) as tape:
        h = tf.nn.relu(v)  # MARK
        y = tf.reduce_sum(h * h)
    return tape, y, v


def times_zero(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        y = tf.reduce_sum(v * tf.zeros(2))  # MARK
    return tape, y, v


def flat(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        y = tf.reduce_sum(tf.sign(v))  # MARK
    return tape, y, v


def cancelled(**how):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**how) as tape:
        y = tf.reduce_sum(v - v)
    return tape, y, v


NONE, ZERO = "The gradient is None because", "The gradient is zero because"

CAUSES = [  # situation, how it begins, what it says, the remedy; whether a trace knows the line
    (never_watched, NONE, "was never watched", "tape.watch(x)", True),
    (not_trainable, NONE, "'frozen:0' has trainable=False", "tape.watch(variable)", True),
    (not_watching_variables, NONE, "watch_accessed_variables=False", "tape.watch", True),
    (equal_object, NONE, "another object than the one that was watched, a tensor of the same value",
     "pass the same object", False),
    (rebound_name, NONE, "another object than the one that was watched, a tensor of the same shape",
     "a name bound again", False),
    (value_of_a_variable, NONE, "it has the value of the variable 'weights:0'", "pass the variable",
     False),
    (intermediate_computed_again, NONE, "an equal tensor is on the tape", "keep the tensor", False),
    (watched_too_late, NONE, "", "", True),
    (left_through_numpy, NONE, "left the tape through .numpy()", "tf functions", True),
    (copied_in_a_list, NONE, "a list whose values tf.constant", "tf.stack", True),
    (argmax, NONE, "the op argmax", "softmax", True),
    (rounding, NONE, "the op round", "grad_pass_through", True),
    (comparison, NONE, "the op greater", "sigmoid", True),
    (cast_to_int, NONE, "a cast to", "floating dtype", True),
    (integer_source, NONE, "the variable 'Variable:0' has dtype int32", "tf.float32", False),
    (integer_target, NONE, "the target has dtype int32", "tf.cast", False),
    (stopped, NONE, "stop_gradient", "remove stop_gradient", True),
    (paused, NONE, "inside stop_recording()", "inside the `with` block", True),
    (reset, NONE, "tape.reset() forgot the record in which the variable 'lost:0'", "after reset()",
     False),
    (unused, NONE, "nothing that the target depends on was computed from the source", "leave the",
     False),
    (dead_relu, ZERO, "relu", "leaky_relu", True),
    (times_zero, ZERO, "its other input is 0 everywhere", "check that input", True),
    (flat, ZERO, "the slope of sign", "has a slope", True),
    (cancelled, ZERO, "cancel out", "each path", False),
]  # fmt: skip
IDS = [case[0].__name__ for case in CAUSES]


def is_right(value, begins):
    return value is None if begins is NONE else not np.any(value.numpy())


@pytest.mark.parametrize(("situation", "begins", "reason", "remedy", "_line"), CAUSES, ids=IDS)
def test_the_sentence_names_cause_and_remedy(situation, begins, reason, remedy, _line):
    tape, target, source = situation()
    said = tape.explain(target, source)
    assert said.startswith(begins)
    assert reason in said
    assert remedy in said
    assert said.endswith(".")
    assert "\n" not in said
    assert is_right(tape.gradient(target, source), begins)


@pytest.mark.parametrize(("situation", "begins", "reason", "remedy", "line"), CAUSES, ids=IDS)
def test_a_trace_adds_the_line(situation, begins, reason, remedy, line):
    tape, target, source = situation(trace=True)
    said = tape.explain(target, source)
    assert said.startswith(begins)
    assert reason in said
    assert remedy in said
    if line:
        assert line_of(situation, "# MARK") in said
    assert tape.explain(target, source) == said
    assert is_right(tape.gradient(target, source), begins)
    assert tape.explain(target, source) == said  # a traced record is kept


@pytest.mark.parametrize(("situation", "begins", "reason", "remedy", "_line"), CAUSES, ids=IDS)
def test_a_missing_gradient_is_explained_after_it_was_asked_for(
    situation, begins, reason, remedy, _line
):
    tape, target, source = situation()
    before = tape.explain(target, source)
    tape.gradient(target, source)
    if situation in (equal_object, intermediate_computed_again):  # what it equals is freed
        assert re.search("never watched|another object", tape.explain(target, source))
    elif begins is NONE:
        assert tape.explain(target, source) == before


def test_computed_before_the_tape():
    tape, target, source = before_the_tape()
    said = tape.explain(target, source)
    assert "the op multiply" in said
    assert "before the tape was opened" in said
    assert line_of(before_the_tape, "# MARK") in said


def test_computed_outside_without_a_trace():
    v = tf.Variable(3.0, name="w")
    y = v * v
    with tf.GradientTape() as tape:
        v * 2.0
    said = tape.explain(y, v)
    assert "not computed while this tape recorded" in said
    assert "inside the `with` block" in said


def test_a_variable_read_only_while_the_tape_was_paused():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape, tape.stop_recording():
        y = v * v
    assert "was computed inside stop_recording(), before or outside the tape" in tape.explain(y, v)


def test_computed_after_the_tape():
    with tf.debugging.trace():
        v = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = v * v
        z = y * 2.0
    assert "after the tape was closed" in tape.explain(z, v)


def test_a_trace_reports_a_tensor_watched_after_use():
    tape, target, source = watched_too_late(trace=True)
    assert "was watched only after the op multiply" in tape.explain(target, source)


def test_a_used_up_record():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    said = tape.explain(y, v)
    assert "used up by an earlier gradient()" in said
    assert "persistent=True" in said


def test_a_tape_never_entered():
    v = tf.Variable(3.0)
    assert "None because" in tf.GradientTape().explain(v * v, v)


def test_what_is_connected():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tanh(v) * 3.0)
    assert tape.explain(y, v) == (
        "The gradient is neither None nor zero: the target depends on the source through tanh, "
        "multiply, reduce_sum."
    )
    np.testing.assert_allclose(tape.gradient(y, v), 3 * (1 - np.tanh([1.0, 2.0]) ** 2), rtol=1e-6)


def test_a_long_chain_is_shortened():
    x = y = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        for _ in range(30):
            y = tf.tanh(y)
    assert "... 22 more ..." in tape.explain(y, x)


def test_a_target_that_is_the_source():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        v * 2.0
    assert "the target is the source" in tape.explain(v, v)


def test_several_sources_get_a_line_each():
    v, w = tf.Variable(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = v * w
    first, second = tape.explain(y, {"v": v, "w": w}).split("\n")
    assert "multiply" in first
    assert "never watched" in second


def test_only_the_missing_path_is_blamed():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * tf.round(v))
        tf.argmax(w)
    assert "argmax" not in tape.explain(y, v)
    assert "neither" in tape.explain(y, w)


def test_explain_gives_the_share_of_dead_relu_units():
    v = tf.Variable([-1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.nn.relu(v)[0]
    said = tape.explain(y, v)
    assert "50 % of its units are 0" in said
    assert "including all units with a nonzero cotangent" in said


def test_the_layer_of_a_dead_relu():
    model = keras.Sequential([
        keras.layers.Dense(3, "relu", bias_initializer=keras.initializers.Constant(-100.0)),
        keras.layers.Dense(1),
    ])  # fmt: skip
    x = tf.constant(np.ones((4, 2), "float32"))
    model(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    hidden, out = model.layers
    assert f"relu (in layer '{hidden.path}')" in tape.explain(loss, hidden.kernel)
    assert "100 % of its units are 0" in tape.explain(loss, hidden.kernel)
    said = tape.explain(loss, out.kernel)
    assert f"matmul (in layer '{out.path}') multiplies the gradient by the output of relu" in said
    assert "neither" in tape.explain(loss, out.bias)


def test_ops_with_several_outputs_and_joint_rules():
    v = tf.Variable([[2.0, 1.0], [0.0, 3.0]])
    with tf.GradientTape() as tape:
        a, b = tf.split(v, 2)
        y = tf.reduce_sum(tf.round(a)) + tf.reduce_sum(tf.zeros_like(b))
    assert "the op round" in tape.explain(y, v)
    assert tape.gradient(y, v) is None
    assert "the op round" in tape.explain(y, v)


# ---- the warnings -------------------------------------------------------------------------------


def test_the_warning_of_apply_gradients_says_why():
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable([1.0, 2.0], name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * tf.round(w))
    with pytest.warns(UserWarning, match=r"variables 'w:0' .*: the op round has no derivative"):
        keras.optimizers.SGD().apply_gradients(zip(tape.gradient(y, [v, w]), [v, w]))


def test_the_error_of_apply_gradients_says_why():
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.GradientTape() as tape:
        y = tf.argmax(v)
    with pytest.raises(ValueError, match=r"for any variable: 'v:0'\. The op argmax"):
        keras.optimizers.SGD().apply_gradients([(tape.gradient(y, v), v)])


def test_a_reason_names_only_its_own_variable():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    with tf.GradientTape() as tape:
        y = tf.round(v)
    tape.gradient(y, v)
    with pytest.raises(ValueError, match="does not depend on them"):
        keras.optimizers.SGD().apply_gradients([(None, w)])


class Cut(keras.Model):
    """Its first layer gets no gradient, for a stop_gradient; dropout moves a random counter."""

    def __init__(self):
        super().__init__()
        self.first = keras.layers.Dense(4, name="first")
        self.dropout = keras.layers.Dropout(0.5, seed=3)
        self.norm = keras.layers.Rescaling(2.0)
        self.second = keras.layers.Dense(1, name="second")

    def call(self, x, training=None):
        h = self.dropout(self.first(x), training=training)
        h = tf.stop_gradient(h)  # the path ends here
        return self.second(self.norm(h))


X, Y = np.ones((8, 3), "float32"), np.ones((8, 1), "float32")


def trained(way):
    keras.utils.set_random_seed(5)
    model = Cut()
    way(model)
    return [v.numpy() for v in model.variables]


def by_fit(model):
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, verbose=0, shuffle=False)


def by_step(model):
    step = model.training_step(loss="mse", optimizer="sgd")
    step(X, Y)
    step(X, Y)


def by_hand(model):
    optimizer = keras.optimizers.SGD()
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = keras.losses.MeanSquaredError()(Y, model(X, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


@pytest.mark.parametrize("way", [by_fit, by_step])
def test_fit_and_the_step_run_once_more_for_the_line(way):
    line = line_of(Cut.call, "the path ends here")
    with pytest.warns(UserWarning, match="Gradients do not exist") as caught:
        trained(way)
    texts = {str(w.message) for w in caught}
    assert len(texts) == 1  # both steps say the same
    (text,) = texts
    assert re.search(rf"stop_gradient \(in layer .cut\w*., at \S*{re.escape(line)}\)", text)
    assert "first/kernel', 'cut" in text


def test_the_run_for_the_line_changes_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = trained(by_hand)
        for way in (by_fit, by_step):
            for mine, theirs in zip(trained(way), expected, strict=True):
                np.testing.assert_array_equal(mine, theirs)


# ---- traces --------------------------------------------------------------------------------------


def test_a_trace_holds_for_tapes_within_it():
    v = tf.Variable([1.0, 2.0])
    with tf.debugging.trace(), tf.GradientTape() as tape:
        y = tf.round(v)
    assert HERE in tape.explain(y, v)


def test_no_trace_no_journal_and_no_kept_record():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    assert HERE not in tape.explain(y, v)
    tape.gradient(y, v)
    assert tape.recorded_ops() == []


def test_a_trace_does_not_change_gradients_or_errors():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(trace=True) as tape:
        y = tf.reduce_sum(v * v)
    np.testing.assert_array_equal(tape.gradient(y, v), [2.0, 4.0])
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, v)


def test_a_trace_is_closed_by_an_error():
    with pytest.raises(KeyError), tf.debugging.trace():
        raise KeyError
    with pytest.raises(KeyError), tf.GradientTape(trace=True):
        raise KeyError
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        v * v
    assert tape._event_log is None


def test_other_recorders_under_a_trace():
    v = tf.Variable([1.0, 2.0])
    with tf.debugging.trace():
        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as accumulator:
            y = v * v
        np.testing.assert_array_equal(accumulator.jvp(y), [2.0, 0.0])
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
        np.testing.assert_array_equal(tape.jacobian(y, v), [[2.0, 0.0], [0.0, 4.0]])


def test_nested_tapes_under_a_trace():
    v = tf.Variable(2.0)
    with tf.debugging.trace(), tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.round(v) * v
        first = inner.gradient(y, v)
    assert "neither" in inner.explain(y, v)
    assert "the op round" in outer.explain(first, v)
    assert outer.gradient(first, v) is None


def test_a_compiled_function_is_explained():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.round(x))  # MARK

    with tf.debugging.trace(), tf.GradientTape() as tape:
        y = f(v)
    assert line_of(test_a_compiled_function_is_explained, "  # MARK\n") in tape.explain(y, v)


def test_looked_up_rows():
    table = tf.Variable(np.ones((5, 3), "float32"), name="table")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [1, 2]) * 0.0)
    assert "its other input is 0 everywhere" in tape.explain(y, table)


def test_explaining_leaves_no_garbage():
    gc.collect()
    gc.disable()
    try:
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape(trace=True) as tape:
            y = tf.round(v)
        tape.gradient(y, v)
        tape.explain(y, v)
        gone = weakref.ref(tape)
        del tape
        with tf.GradientTape() as tape:  # another one, of which the thread may know
            y = tf.round(v)
        tape.gradient(y, v)
        assert gone() is None
    finally:
        gc.enable()
