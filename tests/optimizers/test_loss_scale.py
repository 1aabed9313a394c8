"""Loss scaling, in both spellings and under attack."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.keras.mixed_precision import LossScaleOptimizer


def make(**options):
    options.setdefault("initial_scale", 8.0)
    return LossScaleOptimizer(keras.optimizers.SGD(0.5), **options)


def step(optimizer, variable, factor=1.0):
    """One step on `factor * sum(variable**2)` with Keras's spelling."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(factor * variable * variable)
        scaled = optimizer.scale_loss(loss)
    optimizer.apply_gradients([(tape.gradient(scaled, variable), variable)])
    return float(scaled) / float(loss) if np.isfinite(float(loss)) else None


def test_a_step_is_the_inner_optimizers():
    variable, plain = tf.Variable([1.0, -2.0]), tf.Variable([1.0, -2.0])
    assert step(make(), variable) == 8.0
    keras.optimizers.SGD(0.5).apply_gradients([(2.0 * plain, plain)])
    np.testing.assert_array_equal(variable, plain)


def test_the_older_spelling_gives_the_same():
    optimizer, variable = make(), tf.Variable([1.0, -2.0])
    with tf.GradientTape() as tape:
        scaled = optimizer.get_scaled_loss(tf.reduce_sum(variable * variable))
    gradients = optimizer.get_unscaled_gradients([tape.gradient(scaled, variable), None])
    np.testing.assert_array_equal(gradients[0], [2.0, -4.0])
    assert gradients[1] is None
    optimizer.apply_gradients([(gradients[0], variable)])
    np.testing.assert_array_equal(variable, [0.0, 0.0])


def test_growth_after_good_steps():
    optimizer, variable = make(dynamic_growth_steps=3), tf.Variable([1.0])
    scales = [step(optimizer, variable, 0.1) for _ in range(7)]
    assert scales == pytest.approx([8, 8, 8, 16, 16, 16, 32])


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_steps_that_are_not_finite_are_skipped(bad):
    optimizer, variable = make(dynamic_growth_steps=2), tf.Variable([1.0])
    step(optimizer, variable, 0.1)
    before = variable.numpy()
    for _ in range(2):
        step(optimizer, variable, bad)
        np.testing.assert_array_equal(variable, before)
    assert float(optimizer.dynamic_scale) == 2.0
    assert int(optimizer.skipped_steps) == 2
    assert int(optimizer.iterations) == 1
    step(optimizer, variable, 0.1)  # the good steps before count no longer
    assert float(optimizer.dynamic_scale) == 2.0
    assert np.isfinite(variable.numpy()).all()


def test_the_scale_may_go_below_one():
    optimizer, variable = make(initial_scale=1.0), tf.Variable([1.0])
    for _ in range(3):
        step(optimizer, variable, np.inf)
    assert float(optimizer.dynamic_scale) == 0.125


def test_slots_stay_finite():
    inner = keras.optimizers.Adam(0.1)
    optimizer, variable = LossScaleOptimizer(inner), tf.Variable([1.0])
    for factor in (1.0, np.nan, 1.0, np.inf, 1.0):
        step(optimizer, variable, factor)
    assert all(np.isfinite(v.numpy()).all() for v in optimizer.variables)
    assert int(optimizer.iterations) == 3


def test_gradients_of_a_loss_never_scaled():
    variable = tf.Variable([1.0])
    with pytest.raises(ValueError, match="the loss of this step was not scaled"):
        make().apply_gradients([(tf.constant([1.0]), variable)])
    assert float(variable[0]) == 1.0


def test_gradients_never_unscaled():
    optimizer, variable = make(), tf.Variable([1.0])
    optimizer.get_scaled_loss(tf.constant(1.0))
    with pytest.raises(ValueError, match=r"call optimizer\.get_unscaled_gradients"):
        optimizer.apply_gradients([(tf.constant([1.0]), variable)])
    assert float(variable[0]) == 1.0


def test_gradients_unscaled_twice():
    optimizer = make()
    optimizer.scale_loss(tf.constant(1.0))
    gradients = optimizer.get_unscaled_gradients([tf.constant([1.0])])
    with pytest.raises(ValueError, match="are unscaled already"):
        optimizer.get_unscaled_gradients(gradients)


def test_learning_rate_and_config_are_the_inner_optimizers():
    optimizer = make()
    optimizer.learning_rate = 0.25
    assert float(optimizer.inner_optimizer.learning_rate) == 0.25
    config = optimizer.get_config()
    again = LossScaleOptimizer.from_config(config)
    assert type(again.inner_optimizer) is keras.optimizers.SGD
    assert again.get_config() == config


def test_one_scale_at_a_time():
    def several():
        chosen = keras.optimizers.OptimizerMap(keras.optimizers.SGD(0.5))
        return keras.optimizers.MultiOptimizer(chosen, loss_scale_factor=128.0)

    for inner in (keras.optimizers.SGD(0.5, loss_scale_factor=128.0), several()):
        optimizer, variable = LossScaleOptimizer(inner, initial_scale=8.0), tf.Variable([1.0])
        assert inner.loss_scale_factor is None
        step(optimizer, variable)
        np.testing.assert_array_equal(variable, [0.0])


@pytest.mark.parametrize(
    "options", [{"clipnorm": 1.0}, {"weight_decay": 0.1}, {"use_ema": True}, {"learning_rate": 0.1},
                {"loss_scale_factor": 2.0}, {"gradient_accumulation_steps": 2}],
)  # fmt: skip
def test_what_belongs_to_the_inner_optimizer(options):
    with pytest.raises(TypeError, match=r"has no argument '\w+': pass it to the inner optimizer"):
        make(**options)


def test_what_it_cannot_wrap():
    with pytest.raises(ValueError, match="without loss scaling, got a LossScaleOptimizer"):
        LossScaleOptimizer(make())
    with pytest.raises(ValueError, match="expected initial_scale > 0"):
        make(initial_scale=-1.0)


def test_stateless_updates():
    variable = keras.Variable([1.0, 2.0])
    optimizer = LossScaleOptimizer(keras.optimizers.SGD(0.5))
    optimizer.build([variable])
    scaled = keras.ops.array([2.0, 4.0]) * optimizer.initial_scale
    (value,), state = optimizer.stateless_apply(optimizer.variables, [scaled], [variable])
    np.testing.assert_allclose(value, [0.0, 0.0])
    assert len(state) == len(optimizer.variables)
    np.testing.assert_allclose(variable, [1.0, 2.0])
