"""A training step recorded through the five events and replayed equals the eager step.

Losses, weights, slots, generator states and metrics have equal bits, with new data and
new random numbers.
"""

from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework.core import random
from framework.core.op import Op
from framework.core.tensor import Tensor
from framework.core.variable import KerasVariable
from framework.layers import Dense, Dropout
from framework.losses import SparseCategoricalCrossentropy
from framework.metrics import Mean, SparseCategoricalAccuracy
from framework.models import Sequential
from framework.optimizers import SGD, Adam
from tests.compiler.replay import MissError, Replay


def batches(count, size=16, features=5, classes=3):
    """Yield new data for each step."""
    for k in range(count):
        numbers = np.random.default_rng(k)
        x = numbers.normal(size=(size, features)).astype("float32")
        y = numbers.integers(0, classes, size)
        yield tf.constant(x), tf.constant(y)


def assert_replay_is_eager(world, steps=5, data=batches):
    """`world()` returns (step, variables), equal in each call."""
    eager, eager_variables = world()
    recorded, variables = world()
    replay = None
    for batch in data(steps):
        expected = eager(*batch)
        if replay is None:
            replay = Replay(recorded, *batch)
            found = replay.result
        else:
            found = replay(*batch)
        tf.nest.map_structure(assert_same_bits, expected, found)
        for a, b in zip(eager_variables(), variables(), strict=True):
            assert_same_bits(a, b)
    return replay


def assert_same_bits(a, b):
    if not hasattr(a, "array"):
        assert a == b
        return
    a, b = a.array, b.array
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert a.tobytes() == b.tobytes()


def events(replay):
    return {run.__name__.lstrip("_") for run, *_ in replay.steps}


# ---- a step on raw variables and ops -------------------------------------------------------------


def raw_world():
    """Two layers, dropout, Adam and a mean, in plain ops."""
    numbers = np.random.default_rng(0)
    weights = [
        tf.Variable(numbers.normal(size=shape).astype("float32") * 0.3)
        for shape in ((5, 8), (8,), (8, 3), (3,))
    ]
    slots = [(tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in weights]
    count, total, seen = (tf.Variable(0.0, trainable=False) for _ in range(3))
    generator = random.SeedGenerator(7)

    def step(x, y):
        w1, b1, w2, b2 = weights
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ w1 + b1)
            kept = random.draw(generator, "uniform", hidden.shape) >= 0.25
            hidden = tf.where(kept, hidden / 0.75, 0.0)
            logits = hidden @ w2 + b2
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, weights)
        count.assign_add(1.0)
        for w, g, (m, v) in zip(weights, grads, slots, strict=True):
            m.assign_add(0.1 * (g - m))
            v.assign_add(0.001 * (g * g - v))
            rate = 0.01 * tf.sqrt(1.0 - 0.999**count) / (1.0 - 0.9**count)
            w.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))
        total.assign_add(tf.reduce_sum(losses))
        seen.assign_add(float(len(x)))
        return loss, total / seen

    everything = [*weights, *(s for pair in slots for s in pair), count, total, seen]
    return step, lambda: [*everything, generator.state]


def test_a_step_on_raw_variables():
    replay = assert_replay_is_eager(raw_world)
    assert events(replay) == {
        "op", "variable_read", "variable_assigned", "random_draw",
    }  # fmt: skip


# ---- with layers, optimizers and metrics ---------------------------------------------------------


def layered_world(optimizer):
    def world():
        tf.random.set_seed(3)
        model = Sequential([Dense(8, "relu"), Dropout(0.25, seed=5), Dense(3)])
        loss_function = SparseCategoricalCrossentropy(from_logits=True)
        mean, accuracy = Mean(), SparseCategoricalAccuracy()
        made = optimizer()

        def step(x, y):
            with tf.GradientTape() as tape:
                logits = model(x, training=True)
                loss = loss_function(y, logits)
            variables = model.trainable_variables
            grads = tape.gradient(loss, variables)
            made.apply_gradients(zip(grads, variables, strict=True))
            mean.update_state(loss)
            accuracy.update_state(y, logits)
            return loss, mean.result(), accuracy.result()

        return step, lambda: [
            v for owner in (model, made, mean, accuracy) for v in owner.variables
        ]  # fmt: skip

    return world


OPTIMIZERS = {
    "adam": lambda: Adam(0.01),
    "amsgrad with decay": lambda: Adam(0.01, amsgrad=True, weight_decay=0.1),
    "clipnorm": lambda: Adam(0.01, clipnorm=0.1),
    "clipvalue": lambda: SGD(0.1, clipvalue=0.01),
    "global_clipnorm": lambda: SGD(0.1, momentum=0.9, global_clipnorm=0.1),
    "sgd": lambda: SGD(0.1),
    "nesterov": lambda: SGD(0.1, momentum=0.9, nesterov=True),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_with_layers_optimizers_and_metrics(name):
    assert_replay_is_eager(layered_world(OPTIMIZERS[name]))


def test_the_step_that_a_model_makes():
    def world():
        tf.random.set_seed(3)
        model = Sequential([Dense(8, "relu"), Dropout(0.25, seed=5), Dense(3)])
        model.build((None, 5))
        optimizer = Adam(0.01)
        loss = SparseCategoricalCrossentropy(from_logits=True)
        step = model.training_step(loss=loss, optimizer=optimizer)
        return step, lambda: [*model.variables, *optimizer.variables]

    assert_replay_is_eager(world)


def test_the_learning_rate_is_read_anew():
    world = layered_world(lambda: SGD(0.1))
    eager, eager_variables = world()
    recorded, variables = world()
    first, second = batches(2)
    eager(*first)
    replay = Replay(recorded, *first)
    for found in (eager_variables(), variables()):
        (rate,) = [v for v in found if getattr(v, "name", "") == "learning_rate"]
        rate.assign(0.7)
    assert_same_bits(eager(*second)[0], replay(*second)[0])
    for a, b in zip(eager_variables(), variables(), strict=True):
        assert_same_bits(a, b)


# ---- tapes around tapes, own gradients, several outputs ------------------------------------------


@tf.custom_gradient
def clipped(x):
    return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.01, 0.01)


def penalty_world():
    """A gradient penalty, an own gradient, split, and gathered rows."""
    numbers = np.random.default_rng(0)
    w = tf.Variable(numbers.normal(size=(5, 4)).astype("float32"))
    u = tf.Variable(numbers.normal(size=(3, 2)).astype("float32"))

    def step(x, y):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                a, b = tf.split(tf.tanh(x @ w), 2, axis=1)
                score = tf.reduce_sum(clipped(a * b) * tf.gather(u, y))
            slope = inner.gradient(score, x)
            loss = score + tf.reduce_sum(slope * slope)
        grads = tape.gradient(loss, [w, u])
        for v, g in zip([w, u], grads, strict=True):
            v.assign_sub(0.1 * tf.convert_to_tensor(g))
        return {"loss": loss, "more": [slope, None, 3]}

    return step, lambda: [w, u]


def test_higher_orders_and_own_gradients():
    replay = assert_replay_is_eager(penalty_world)
    assert replay.result["more"][1:] == [None, 3]
    assert "clipped" in [op.name for _, op, *_ in replay.steps if isinstance(op, Op)]


# ---- guards --------------------------------------------------------------------------------------


def branching(v, generator):
    def step(x):
        noise = random.draw(generator, "normal", ())
        v.assign_add(noise)
        if tf.reduce_sum(x) > 0.0:
            return tf.sqrt(x) + v
        return -x + v

    return step


def test_a_value_read_by_python_is_a_guard():
    v, generator = tf.Variable(1.0), random.SeedGenerator(1)
    replay = Replay(branching(v, generator), tf.constant([1.0, 4.0]))
    assert "value_read" in events(replay)
    found = replay(tf.constant([9.0, 16.0]))
    np.testing.assert_allclose(found.array - v.array, [3.0, 4.0], rtol=1e-6)
    value, state = v.array.copy(), generator.state.array.copy()
    with pytest.raises(MissError):
        replay(tf.constant([-1.0, -4.0]))
    assert v.array == value  # a failing guard changes nothing
    assert generator.state.array.tolist() == state.tolist()


READS = {
    "bool": lambda t: bool(t > 0.0),
    "int": lambda t: int(t),
    "float": lambda t: float(t),
    "item": lambda t: t.item() if hasattr(t, "item") else float(t),
    "numpy": lambda t: t.numpy(),
    "array": lambda t: np.asarray(t),
    "printing": lambda t: str(t),
    "format": lambda t: f"{t:.3f}",
    "index": lambda t: [10, 20, 30][tf.cast(t, tf.int32)],
    "range": lambda t: list(range(tf.cast(t, tf.int32))),
    "a constant of it": lambda t: tf.constant([1.0, 2.0]) * t.numpy(),
    "an index of it": lambda t: tf.constant([1.0, 2.0, 3.0])[tf.cast(t, tf.int32)],
}


@pytest.mark.parametrize("name", READS)
def test_each_way_to_read_a_value_is_an_event(name):
    def step(x):
        READS[name](x)
        return x * 2.0

    replay = Replay(step, tf.constant(2.0))
    assert "value_read" in events(replay)
    assert float(replay(tf.constant(2.0)).array) == 4.0
    with pytest.raises(MissError):
        replay(tf.constant(-2.0))


# ---- assignments ---------------------------------------------------------------------------------

ASSIGNS = {
    "assign": lambda v, x: v.assign(x),
    "assign_add": lambda v, x: v.assign_add(x),
    "assign_sub": lambda v, x: v.assign_sub(x),
    "assign a variable": lambda v, x: v.assign(v * x),
    "add a number": lambda v, x: v.assign_add(1.5),
    "twice": lambda v, x: (v.assign_add(x), v.assign(v * v)),
    "read between": lambda v, x: v.assign(v + (v.assign_add(x), v)[1]),
}


@pytest.mark.parametrize("kind", [tf.Variable, KerasVariable])
@pytest.mark.parametrize("name", ASSIGNS)
def test_assignments(kind, name):
    def world():
        v = kind(np.float32([1.0, 2.0]))

        def step(x):
            ASSIGNS[name](v, x)
            return v + x

        return step, lambda: [v]

    def data(steps):
        return [(tf.constant([float(k), 2.0]),) for k in range(steps)]

    assert_replay_is_eager(world, data=data)


@pytest.mark.parametrize("assign", ["assign_add", "assign_sub"])
def test_a_number_is_broadcast_to_a_variable(assign):
    def world():
        v = KerasVariable(np.float32([1.0, 2.0]))

        def step(x):
            getattr(v, assign)(tf.reduce_sum(x))
            return v.value

        return step, lambda: [v]

    assert_replay_is_eager(
        world, data=lambda n: [(tf.constant([float(k), 2.0]),) for k in range(n)]
    )


@pytest.mark.parametrize("assign", ["assign", "assign_add"])
def test_a_value_of_another_dtype_is_cast_as_an_op(assign):
    def world():
        v = KerasVariable(np.float32([1.0, 2.0]))

        def step(x):
            getattr(v, assign)(tf.cast(x, tf.float64) * 2.0)
            return v.value

        return step, lambda: [v]

    assert_replay_is_eager(
        world, data=lambda n: [(tf.constant([float(k), 2.0]),) for k in range(n)]
    )


# ---- the recorder itself -------------------------------------------------------------------------


def test_an_array_that_bypasses_events_is_noticed():
    """An array that bypasses the events becomes a constant: the comparison must fail."""

    def world():
        v = tf.Variable(0.0)

        def step(x):
            v.assign_add(Tensor((x * 2.0).array))
            return v.read()

        return step, lambda: [v]

    with pytest.raises(AssertionError):
        assert_replay_is_eager(world, data=lambda n: [(tf.constant(float(k)),) for k in range(n)])


def test_the_recorder_is_short():
    """The recorder may depend on the events only."""
    assert len((Path(__file__).parent / "replay.py").read_text().splitlines()) <= 100
