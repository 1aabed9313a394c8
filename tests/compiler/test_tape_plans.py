"""Compiled functions under tapes: results and gradients equal those of eager calls.

A scenario builds a function and calls it, with and without `tf.function`. All results are
compared bit by bit: results, gradients, None.
"""

import gc
import re
import weakref

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.partition import Partition
from framework.core import nest
from tests.plan_calls import plan_calls

CALLS = 6


pytestmark = pytest.mark.usefixtures("kind")


def matrix(n, rows=4, columns=3):
    return tf.constant(np.random.default_rng(n).normal(size=(rows, columns)).astype("float32"))


def weights(*shape, **options):
    return tf.Variable(np.random.default_rng(7).normal(size=shape).astype("float32"), **options)


def differentiated(f, sources, *args, watched=(), targets=None, **options):
    """Return the results of a call and the gradients of (the sum of) `targets`."""
    with tf.GradientTape(**options) as tape:
        tape.watch(list(watched))
        y = f(*args)
        target = y if targets is None else [nest.flatten(y)[i] for i in targets]
    return y, tape.gradient(target, sources)


def in_turn(use):
    return lambda f: [use(f, n) for n in range(CALLS)]


# ---- compiled ------------------------------------------------------------------------------------


def inputs_and_variables():
    w, b = weights(3, 2), weights(2)

    def use(f, n):
        x = matrix(n)
        return differentiated(f, [x, w, b], x, watched=[x])

    return lambda x: tf.reduce_mean(tf.tanh(x @ w + b) ** 2), in_turn(use)


def losses_that_are_no_scalars():
    w = weights(3, 2)
    return lambda x: tf.exp(x @ w), in_turn(lambda f, n: differentiated(f, [w], matrix(n)))


def work_around_the_call():
    w = weights(3, 3)

    def use(f, n):
        x = matrix(n)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(tf.sin(x) * 2.0)
            z = f(y) + tf.reduce_sum(w * w)
        return tape.gradient(z, [x, y, w])

    return lambda x: tf.tanh(x @ w) + x, in_turn(use)


def the_same_tensor_twice():
    def use(f, n):
        x, y = matrix(n), matrix(n + 1)
        pairs = (x, x), (x, y), (y, y)
        return [differentiated(f, [x, y], *pair, watched=[x, y]) for pair in pairs]

    return lambda a, b: tf.sin(a) * b + a, in_turn(use)


def some_arguments_watched():
    def use(f, n):
        x, y = matrix(n), matrix(n + 1)
        return [differentiated(f, [x, y], x, y, watched=w) for w in ([x], [y], [x, y], [])]

    return lambda a, b: tf.sin(a) * tf.exp(b), in_turn(use)


def nests_and_arrays():
    w = weights(3)

    def use(f, n):
        batch = {"b": [matrix(n)], "a": matrix(n + 9), "c": np.ones(3, "float32")}
        sources = [batch["a"], batch["b"][0], w]
        return differentiated(f, sources, batch, watched=sources[:2], targets=[1])

    def f(batch, scale=2.0):
        y = batch["a"] * w + tf.tanh(batch["b"][0]) * scale * batch["c"]
        return {"y": y, "none": None}

    return f, in_turn(use)


def integers_in_and_out():
    w = weights(3, 4)

    def use(f, n):
        labels = tf.constant([n % 4, 1, 2, 3])
        found = differentiated(f, w, matrix(n), labels, targets=[0])
        with tf.GradientTape() as tape:
            _, hits = f(matrix(n), labels)
            y = tf.reduce_sum(tf.cast(hits, tf.float32)) * w
        return found, tape.gradient(y, w)

    def f(x, labels):
        logits = x @ w
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return loss, tf.cast(tf.argmax(logits, 1, tf.int32) == labels, tf.int32)

    return f, in_turn(use)


def several_results_one_of_them_used():
    w, v = weights(3), weights(3)

    def use(f, n):
        x = matrix(n)
        return [differentiated(f, [w, v, x], x, watched=[x], targets=t) for t in ([0], [1], [0, 1])]

    # The derivative of the logarithm is infinite: an unneeded gradient must not add 0 * inf.
    return lambda x: (x * w, tf.math.log(v * 0.0)), in_turn(use)


def arguments_and_variables_as_results():
    w = weights(3)

    def use(f, n):
        x = matrix(n)
        return [differentiated(f, [x, w], x, watched=[x], targets=t) for t in ([0], [1, 2], [2])]

    return lambda x: (x, w.read_value(), x * w), in_turn(use)


def persistent_tape():
    w = weights(3, 2)

    def use(f, n):
        x = matrix(n)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            z = tf.reduce_sum(y * y)
            inside = tape.gradient(y, x)
            slope = tf.reduce_sum(inside**2)
        return tape.gradient(z, [x, w]), tape.gradient(y, w), inside, tape.gradient(slope, [w, x])

    return lambda x: tf.tanh(x @ w) ** 2, in_turn(use)


def output_gradients():
    w = weights(3)

    def use(f, n):
        with tf.GradientTape() as tape:
            y, z = f(matrix(n))
        return tape.gradient([y, z], w, output_gradients=[matrix(n + 1), tf.constant(2.0)])

    return lambda x: (x * w, tf.reduce_sum(tf.exp(w))), in_turn(use)


def guards():
    w = weights(3)

    def f(x):
        y = tf.reduce_sum(x * w)
        return y * y if y > 0 else tf.sin(y)

    return f, in_turn(lambda f, n: differentiated(f, [w], matrix(n)))


def number_arguments():
    w = weights(3)
    return lambda x, n: x * w * n, in_turn(
        lambda f, n: differentiated(f, [w], matrix(n), 0.5 * (n % 2))
    )


def random_numbers():
    w = weights(3)
    layer = keras.layers.Dropout(0.5, seed=5)

    def f(x):
        return layer(x * w, training=True) ** 2 + tf.random.normal([3], seed=2) * w

    def use(f):
        layer.seed_generator.state.assign(np.array([5, 0], np.uint32))
        tf.random.set_seed(3)
        return [differentiated(f, [w], matrix(n)) for n in range(CALLS)]

    return f, use


def variables_that_change_in_between():
    w, step = weights(3), tf.Variable(0.0, trainable=False)

    def use(f):
        w.assign([1.0, 2.0, 3.0])
        step.assign(0.0)
        found = []
        for n in range(CALLS):
            with tf.GradientTape() as tape:
                y = f(matrix(n))
            w.assign_add([1.0, 1.0, 1.0])  # not in place: the tape holds it
            found += [tape.gradient(y, w), w.numpy(), step.numpy()]
        return found

    def f(x):
        step.assign_add(1.0)
        return tf.exp(x * w) * step

    return f, use


def training():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([
        keras.layers.Dense(5, "relu"), keras.layers.BatchNormalization(),
        keras.layers.LSTM(3), keras.layers.Dense(1),
    ])  # fmt: skip
    model(tf.zeros([2, 4, 3]))
    before = model.get_weights()

    def use(f):
        model.set_weights(before)
        optimizer = keras.optimizers.Adam(0.01)
        found = []
        for n in range(CALLS):
            x = tf.reshape(matrix(n, 8, 3), [2, 4, 3])
            with tf.GradientTape() as tape:
                loss = f(x)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            found += [loss, gradients]
        return [*found, model.get_weights()]

    return lambda x: tf.reduce_mean(model(x, training=True) ** 2), use


def frozen_layers():
    """The trainable variables change between calls."""
    a, b = keras.layers.Dense(2), keras.layers.Dense(1)
    b(a(matrix(0)))

    def use(f):
        found = []
        for n in range(3 * CALLS):
            a.trainable = n // 3 % 2 == 0
            found += differentiated(f, [*a.weights, *b.weights], matrix(n))
        a.trainable = True
        return found

    return lambda x: b(a(x)), use


def watched_by_hand():
    w, c = weights(3), weights(3, trainable=False)

    def use(f):
        found = []
        for n in range(3 * CALLS):
            options = {"watch_accessed_variables": n % 3 != 0}
            watched = [[], [c], [w]][n // 3 % 3]
            found += differentiated(f, [w, c], matrix(n), watched=watched, **options)
        return found

    return lambda x: x * w + c, use


def second_order():
    w = weights(3)

    def use(f, n):
        x = matrix(n)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return g, outer.gradient(g, [x, w])

    return lambda x: tf.sin(x * w) ** 2, in_turn(use)


def a_tape_within():
    w = weights(3)

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.tanh(x * w) ** 2)
        return tape.gradient(y, x)

    return f, in_turn(lambda f, n: differentiated(f, [w], matrix(n)))


def jacobians():
    w = weights(3)

    def use(f, n):
        x, found = matrix(n), []
        for ask in ("jacobian", "batch_jacobian"):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            found.append(getattr(tape, ask)(y, x))
        with tf.GradientTape(persistent=True) as tape:
            y = f(x)
        return found, tape.jacobian(y, w, experimental_use_pfor=False)

    return lambda x: tf.tanh(x * w) * x, in_turn(use)


def closures_hold_an_argument():
    held = matrix(3)

    def use(f, n):
        x = matrix(n)
        return [differentiated(f, [held, x], x, watched=watched) for watched in ([x], [])]

    def use_held(f):
        for _ in range(2):
            differentiated(f, [held], held)
        return [use(f, n) for n in range(CALLS)]

    return lambda x: x * held, use_held


def a_tensor_from_outside_that_is_watched_later():
    held = matrix(3)

    def use(f):
        return [
            differentiated(f, [held, x], x, watched=[x, held] if n > 4 else [x])
            for n in range(2 * CALLS)
            for x in [matrix(n)]
        ]

    return lambda x: tf.tanh(x * held), use


def double_precision():
    w = tf.Variable([1.0, 2.0], dtype=tf.float64)
    return lambda x: tf.cast(x, tf.float64) * w, in_turn(
        lambda f, n: differentiated(f, [w], tf.constant([1.0, 0.5 + n]))
    )


def nothing_to_follow():
    def use(f, n):
        with tf.GradientTape() as tape:
            y = f(matrix(n))
        return y, len(tape.watched_variables())

    return lambda x: tf.tanh(x) * 2.0, in_turn(use)


def scalars_from_numpy():
    """A cotangent that is a NumPy scalar."""
    w = tf.Variable(2.0)

    def use(f, n):
        with tf.GradientTape() as tape:
            y = tf.sqrt(f(tf.constant(1.0 + n)) * 2.0)
        return tape.gradient(y, w)

    return lambda x: tf.exp(x * w), in_turn(use)


PLANS = [
    inputs_and_variables, losses_that_are_no_scalars, work_around_the_call, the_same_tensor_twice,
    some_arguments_watched, nests_and_arrays, integers_in_and_out, several_results_one_of_them_used,
    arguments_and_variables_as_results, persistent_tape, output_gradients, guards, number_arguments,
    random_numbers, variables_that_change_in_between, training, frozen_layers, watched_by_hand,
    a_tape_within, jacobians, closures_hold_an_argument, double_precision, nothing_to_follow,
    scalars_from_numpy, a_tensor_from_outside_that_is_watched_later,
]  # fmt: skip


# ---- eager ---------------------------------------------------------------------------------------


def a_watched_tensor_from_outside():
    held = matrix(3)

    def use(f, n):
        return differentiated(f, [held], matrix(n), watched=[held])

    return lambda x: tf.tanh(x * held), in_turn(use)


def sparse_gradients():
    table = weights(5, 2)
    return lambda i: tf.nn.embedding_lookup(table, i), in_turn(
        lambda f, n: differentiated(f, table, tf.constant([n % 5, 1, 1]))
    )


def missing_gradients():
    w, v = weights(3), weights(3)
    return lambda x: tf.stop_gradient(x * w) + tf.round(v) + v, in_turn(
        lambda f, n: differentiated(f, [w, v], matrix(n))
    )


def custom_gradients():
    w = weights(3)

    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda g: tf.clip_by_value(g * x, -0.1, 0.1)

    return lambda x: clipped(x * w), in_turn(lambda f, n: differentiated(f, [w], matrix(n)))


def complex_numbers():
    def use(f, n):
        x = tf.complex(matrix(n), matrix(n + 1))
        return differentiated(f, x, x, watched=[x])

    return lambda x: x * x, in_turn(use)


def the_body_tells_the_tape():
    w = weights(3)
    tapes = []

    def use(f, n):
        x = matrix(n)
        with tf.GradientTape() as tape:
            tapes[:] = [tape]
            y = f(x)
        return tape.gradient(y, [x, w])

    def f(x):
        (tape,) = tapes
        with tape.stop_recording():
            scale = tf.reduce_sum(w)
        tape.watch(x)
        return x * w * scale

    return f, in_turn(use)


def assigned_and_watched():
    w = weights(3)

    def f(x):
        w.assign(w * 0.5)
        return x * w

    def use(f):
        w.assign([1.0, 2.0, 3.0])
        return [differentiated(f, [w], matrix(n)) for n in range(CALLS)]

    return f, use


def values_that_leave():
    w = weights(3)
    return lambda x: x * w * x.numpy().max(), in_turn(
        lambda f, n: differentiated(f, [w], matrix(n))
    )


PYTHON = [
    second_order, a_watched_tensor_from_outside, sparse_gradients, missing_gradients,
    custom_gradients, complex_numbers, the_body_tells_the_tape, assigned_and_watched,
    values_that_leave,
]  # fmt: skip


def flat(found):
    """Return all arrays in a nest, including those of IndexedSlices."""
    if isinstance(found, tf.IndexedSlices):
        return ["slices", *flat([found.values, found.indices])]
    if isinstance(found, dict):
        return flat(list(found.values()))
    if isinstance(found, (list, tuple)):
        return [leaf for each in found for leaf in flat(each)]
    return [None if found is None else np.array(found)]


@pytest.mark.parametrize("scenario", [*PLANS, *PYTHON], ids=lambda s: s.__name__)
def test_compiled_is_eager(scenario, kind):
    body, use = scenario()
    f = tf.function(body)
    found, expected = flat(use(f)), flat(use(body))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if b is None or isinstance(b, str):
            assert a == b
            continue
        assert a.dtype == b.dtype
        tolerance = 0.0 if kind == "numpy" else 2e-6
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    is_plan = re.search(r"\(under a tape.*\): \d+ plan", f.explain()) is not None
    assert is_plan == (scenario in PLANS), f.explain()


# ---- further tests -------------------------------------------------------------------------------


def compiled(w):
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x * w)), jit_compile=True)
    for n in range(3):
        differentiated(f, [w], matrix(n))
    return f


def test_the_body_runs_twice():
    w, calls = weights(3), []
    f = tf.function(lambda x: calls.append(1) or x * w)
    with plan_calls() as made:
        for n in range(6):
            made.clear()
            differentiated(f, [w], matrix(n))
    assert len(calls) == 2
    assert f.explain().endswith("(under a tape, float32[4, 3]): 1 plan.")
    assert len(made["multiply"]) + len(made["loop"]) == 2, made  # forward and backward


def test_the_tape_shows_one_record():
    w = weights(3)
    f = compiled(w)
    with tf.GradientTape(persistent=True) as tape:
        y = f(matrix(1)) * 2.0
    assert [op.name for op in tape.recorded_ops()] == ["<lambda>", "multiply"]
    assert "<lambda>" in str(tape)
    assert tape.memory().total >= 4 * 3 * 4
    assert tape.explain(y, w) == (
        "The gradient is neither None nor zero: the target depends on the source through "
        "<lambda>, multiply."
    )
    assert tape.watched_variables() == (w,)
    assert "lambda" in tape.to_dot()


def test_higher_orders_after_the_first():
    """A gradient computed within a later tape, and the third derivative."""
    w = weights(3)
    f = compiled(w)
    x = matrix(5)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        g = tape.gradient(y, x)
        h = tape.gradient(g, x)
        third = tape.gradient(h, x)
    t = np.tanh(np.array(x * w))
    slope = 1 - t**2
    np.testing.assert_allclose(g, slope * w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h, -2 * t * slope * w**2, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(third, (6 * t**2 - 2) * slope * w**3, rtol=1e-4, atol=1e-5)


def test_a_forward_accumulator_with_a_tape():
    w = weights(3)
    f = compiled(w)
    x, v = matrix(4), matrix(5)
    with tf.autodiff.ForwardAccumulator(x, v) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    t = np.tanh(np.array(x * w))
    np.testing.assert_allclose(
        accumulator.jvp(g), -2 * t * (1 - t**2) * w**2 * v, rtol=1e-4, atol=1e-6
    )


def test_a_gradient_within_another_compiled_function():
    w = weights(3)
    f = compiled(w)

    @tf.function
    def gradient():
        return tape.gradient(y, w) * 2.0

    for n in range(4):
        with tf.GradientTape() as tape:
            y = f(matrix(n))
        _, expected = differentiated(f.python_function, w, matrix(n))
        np.testing.assert_allclose(gradient(), expected * 2.0, rtol=1e-6)


def test_exceptions_propagate():
    w = weights(3)

    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 100.0:
            raise KeyError("too much")
        return x * w

    for n in range(3):
        differentiated(f, [w], matrix(n))
    with pytest.raises(KeyError, match="too much"):
        differentiated(f, [w], matrix(0) + 100.0)
    _, (g,) = differentiated(f, [w], matrix(0))
    np.testing.assert_allclose(g, np.sum(matrix(0), 0), rtol=1e-6)


def test_a_gradient_that_cannot_be_compiled(change, caplog, no_failures_of_the_compiler):
    def failing(*_):
        raise LookupError("a mistake")

    change(Partition, backward=failing)
    w = weights(3)
    f = compiled(w)
    for n in range(3):
        found = differentiated(f, [w], matrix(n))
        expected = differentiated(f.python_function, [w], matrix(n))
        np.testing.assert_allclose(found[1][0], expected[1][0], rtol=1e-6)
    (record,) = caplog.records
    assert record.getMessage() == (
        "<lambda> computes gradients in Python: "
        "generating their plan failed (LookupError: a mistake)."
    )
    no_failures_of_the_compiler.clear()


def test_saved_values_are_released_with_the_record():
    w = weights(3)
    f = compiled(w)
    x = matrix(1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    held = weakref.ref(x)
    tape.gradient(y, w)
    gc.disable()
    del x, y
    gc.enable()
    assert held() is None  # immediately: there is no reference cycle
