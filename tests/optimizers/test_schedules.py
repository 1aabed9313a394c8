"""Schedules: Keras's rates, in every form, and what optimizers make of them."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.compiler.ir import GraphRecorder, GuardNode
from framework.optimizers import SGD, Adam, schedules

STEPS = (0, 1, 7, 10, 11, 25, 40, 97, 1000)
SCHEDULES = {
    "exponential": (
        "ExponentialDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.9},
    ),
    "exponential_staircase": (
        "ExponentialDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.9, "staircase": True},
    ),
    "inverse_time": (
        "InverseTimeDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.9},
    ),
    "inverse_time_staircase": (
        "InverseTimeDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.9, "staircase": True},
    ),
    "piecewise": ("PiecewiseConstantDecay", {"boundaries": [10, 40], "values": [1.0, 0.5, 0.1]}),
    "polynomial": ("PolynomialDecay", {"initial_learning_rate": 0.5, "decay_steps": 40}),
    "polynomial_power": (
        "PolynomialDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 40, "end_learning_rate": 0.1, "power": 2.0},
    ),
    "polynomial_cycle": (
        "PolynomialDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 30, "end_learning_rate": 0.1, "cycle": True},
    ),
    "cosine": ("CosineDecay", {"initial_learning_rate": 0.5, "decay_steps": 40}),
    "cosine_alpha": (
        "CosineDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 40, "alpha": 0.1},
    ),
    "cosine_warmup": (
        "CosineDecay",
        {"initial_learning_rate": 0.1, "decay_steps": 40, "warmup_target": 0.5, "warmup_steps": 10},
    ),
    "exponential_part": (
        "ExponentialDecay",
        {"initial_learning_rate": 0.5, "decay_steps": 7.5, "decay_rate": 0.9},
    ),
    "polynomial_part": ("PolynomialDecay", {"initial_learning_rate": 0.5, "decay_steps": 37.5}),
    "cosine_part": (
        "CosineDecay",
        {
            "initial_learning_rate": 0.1,
            "decay_steps": 37.5,
            "warmup_target": 1.0,
            "warmup_steps": 9.5,
        },
    ),
    "restarts_part": (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.5, "first_decay_steps": 7.5},
    ),
    "restarts": ("CosineDecayRestarts", {"initial_learning_rate": 0.5, "first_decay_steps": 8}),
    "restarts_equal": (
        "CosineDecayRestarts",
        {"initial_learning_rate": 0.5, "first_decay_steps": 9, "t_mul": 1.0, "m_mul": 0.8},
    ),
    "restarts_options": (
        "CosineDecayRestarts",
        {
            "initial_learning_rate": 0.5,
            "first_decay_steps": 9,
            "t_mul": 1.5,
            "m_mul": 0.8,
            "alpha": 0.05,
        },
    ),
}

# Rates at STEPS with real Keras 3.15 on JAX.
KERAS = {
    "exponential": [
        0.5,
        0.4947596,
        0.4644508,
        0.45,
        0.4452837,
        0.3842167,
        0.32805,
        0.1799377,
        1.328066e-05,
    ],
    "exponential_staircase": [0.5, 0.5, 0.5, 0.45, 0.45, 0.405, 0.32805, 0.1937102, 1.328066e-05],
    "inverse_time": [
        0.5,
        0.4587156,
        0.3067485,
        0.2631579,
        0.2512563,
        0.1538462,
        0.1086957,
        0.05138746,
        0.005494506,
    ],
    "inverse_time_staircase": [
        0.5,
        0.5,
        0.5,
        0.2631579,
        0.2631579,
        0.1785714,
        0.1086957,
        0.05494506,
        0.005494506,
    ],
    "piecewise": [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.1, 0.1],
    "polynomial": [
        0.5,
        0.4875025,
        0.4125175,
        0.375025,
        0.3625275,
        0.1875625,
        0.0001,
        0.0001,
        0.0001,
    ],
    "polynomial_power": [0.5, 0.48025, 0.37225, 0.325, 0.31025, 0.15625, 0.1, 0.1, 0.1],
    "polynomial_cycle": [
        0.5,
        0.4866666,
        0.4066667,
        0.3666666,
        0.3533333,
        0.1666667,
        0.2333333,
        0.1766667,
        0.1078431,
    ],
    "cosine": [0.5, 0.4992293, 0.46316, 0.4267767, 0.412362, 0.1543291, 0, 0, 0],
    "cosine_alpha": [0.5, 0.4993064, 0.466844, 0.434099, 0.4211258, 0.1888962, 0.05, 0.05, 0.05],
    "cosine_warmup": [0.1, 0.14, 0.38, 0.5, 0.4992293, 0.3456708, 0.07322331, 0, 0],
    "exponential_part": [
        0.5,
        0.4930251,
        0.4531719,
        0.4344702,
        0.4284094,
        0.3519208,
        0.2850559,
        0.1279891,
        3.962506e-07,
    ],
    "polynomial_part": [
        0.5,
        0.4866693,
        0.4066853,
        0.3666933,
        0.3533627,
        0.1667333,
        0.0001,
        0.0001,
        0.0001,
    ],
    "cosine_part": [0.1, 0.1947368, 0.7631578, 0.9995614, 0.9960574, 0.6344599, 0.08353934, 0, 0],
    "restarts_part": [
        0.5,
        0.4783863,
        0.005463094,
        0.4665064,
        0.4357862,
        0.4914815,
        0.1852952,
        0.07791133,
        0.4969857,
    ],
    "restarts": [
        0.5,
        0.4809699,
        0.01903009,
        0.4809699,
        0.4578674,
        0.4987962,
        0.25,
        0.1431112,
        0.00120382,
    ],
    "restarts_equal": [
        0.5,
        0.4849232,
        0.05848885,
        0.3879385,
        0.3532089,
        0.03743292,
        0.1201815,
        0.006280202,
        8.485186e-12,
    ],
    "restarts_options": [
        0.5,
        0.485677,
        0.0805644,
        0.3998785,
        0.3847902,
        0.3177101,
        0.03862481,
        0.1149505,
        0.02552265,
    ],
}


def made(name):
    kind, arguments = SCHEDULES[name]
    return getattr(schedules, kind)(**arguments)


def test_every_schedule_is_in_the_table():
    assert {kind for kind, _ in SCHEDULES.values()} == set(schedules.schedules.by_name)


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_those_of_keras(name):
    found = [float(made(name)(step)) for step in STEPS]
    np.testing.assert_allclose(found, KERAS[name], rtol=2e-5, atol=2e-7)


@pytest.mark.parametrize("name", SCHEDULES)
def test_steps_may_be_tensors_and_variables(name):
    schedule = made(name)
    expected = float(schedule(7))
    steps = (tf.constant(7), tf.constant(7.0), np.int64(7), tf.Variable(7, dtype="int64"))
    assert [float(schedule(step)) for step in steps] == [expected] * 4
    assert schedule(7).dtype == "float32"


@pytest.mark.parametrize("name", SCHEDULES)
def test_config_round_trip(name):
    config = schedules.serialize(made(name))
    again = schedules.deserialize(config)
    assert schedules.serialize(again) == config
    optimizer = SGD.from_config(SGD(made(name)).get_config())
    assert float(optimizer.learning_rate) == float(made(name)(0))


def descent(optimizer, steps):
    """How far each of some updates by a gradient of one moves a variable."""
    variable, moved = tf.Variable([0.0, 0.0]), []
    for _ in range(steps):
        before = variable.numpy()
        optimizer.apply_gradients([(tf.ones(2), variable)])
        moved.append(float(before[0] - variable.numpy()[0]))
    return moved


def halving():
    return schedules.ExponentialDecay(0.5, decay_steps=1, decay_rate=0.5)


def test_the_schedule_is_asked_at_each_update():
    optimizer = SGD(halving())
    assert float(optimizer.learning_rate) == 0.5
    assert descent(optimizer, 3) == [0.5, 0.25, 0.125]
    assert float(optimizer.learning_rate) == 0.0625


def test_a_recorded_update_computes_the_rate_from_the_iterations():
    optimizer, variable = SGD(halving()), tf.Variable([0.0])
    with GraphRecorder(()) as recording:
        optimizer.apply_gradients([(tf.ones(1), variable)])
    assert float(variable[0]) == -0.5
    nodes = recording.nodes
    assert any(v.variable is optimizer.iterations for node in nodes for v in node.inputs)
    assert "power" in [step.op.name for step in nodes]
    assert recording.refusal is None
    assert not any(type(step) is GuardNode for step in nodes)


def test_a_multiplier_scales_a_schedule():
    optimizer = SGD(halving())
    optimizer.scale_learning_rate(0.1)
    assert float(optimizer.learning_rate) == pytest.approx(0.05)
    np.testing.assert_allclose(descent(optimizer, 2), [0.05, 0.025], rtol=1e-6)


def test_a_multiplier_scales_a_number():
    optimizer = SGD(0.5)
    optimizer.scale_learning_rate(0.5)
    assert float(optimizer.learning_rate) == 0.25
    assert descent(optimizer, 1) == [0.25]


def test_a_multiplier_is_part_of_a_steps_state():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.build((None, 2))
    step = model.training_step(loss="mse", optimizer=SGD(halving()))
    state = step.state()
    step.optimizer.scale_learning_rate(0.1)
    step.restore(state)
    assert float(step.optimizer.learning_rate) == 0.5


def test_any_rate_can_be_assigned_at_any_time():
    optimizer = SGD(0.5)
    optimizer.learning_rate = halving()
    assert descent(optimizer, 2) == [0.5, 0.25]
    optimizer.scale_learning_rate(0.5)
    optimizer.learning_rate = 2.0
    assert float(optimizer.learning_rate) == 2.0
    assert descent(optimizer, 1) == [2.0]
    optimizer.learning_rate = lambda: 0.125
    assert descent(optimizer, 1) == [0.125]


def test_a_callable_is_asked_at_each_update():
    rates = iter([0.5, 0.25])
    assert descent(SGD(lambda: next(rates)), 2) == [0.5, 0.25]


def test_a_callable_may_give_a_tensor_or_variable():
    rate = tf.Variable(0.5)
    assert descent(SGD(lambda: rate), 1) == [0.5]
    assert descent(SGD(lambda: tf.constant(0.25)), 1) == [0.25]


def test_a_schedule_of_ones_own():
    class Warmup(keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, peak):
            self.peak = peak

        def __call__(self, step):
            return self.peak * tf.minimum(tf.cast(step, tf.float32) + 1.0, 4.0) / 4.0

        def get_config(self):
            return {"peak": self.peak}

    optimizer = SGD(Warmup(1.0))
    assert descent(optimizer, 5) == [0.25, 0.5, 0.75, 1.0, 1.0]
    config = optimizer.get_config()
    again = SGD.from_config(config, custom_objects={"Warmup": Warmup})
    assert float(again.learning_rate) == 0.25


def test_the_rate_is_a_state_only_where_it_is_a_number():
    assert len(Adam(0.1).variables) == 2
    assert len(Adam(halving()).variables) == 1


def test_accumulation_counts_calls_for_schedules():
    """As Keras: the schedule sees calls, not updates."""
    optimizer = SGD(halving(), gradient_accumulation_steps=2)
    assert descent(optimizer, 4) == [0.0, 0.25, 0.0, 0.0625]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: schedules.CosineDecay(0.1, 0), "CosineDecay: expected decay_steps > 0, got 0"),
        (lambda: schedules.CosineDecayRestarts(0.1, -1), "expected first_decay_steps > 0"),
        (
            lambda: schedules.PiecewiseConstantDecay([1], [0.1]),
            "one value more than boundaries, got 1 boundaries and 1 values",
        ),
        (lambda: schedules.ExponentialDecay(0.1, 10), "needs the argument 'decay_rate'"),
        (lambda: schedules.get("cosine_decy"), "did you mean 'CosineDecay'"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize("rate", ["fast", -0.1, None, True])
def test_rates_that_are_none(rate):
    optimizer = SGD(0.5)
    with pytest.raises(ValueError, match="learning_rate="):
        optimizer.learning_rate = rate
    assert float(optimizer.learning_rate) == 0.5
