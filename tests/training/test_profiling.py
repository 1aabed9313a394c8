"""model.profile: time, operations and bytes by layer."""

import time

import numpy as np
import pytest

import framework as tf
from framework import keras

ROWS = 32
X = np.random.default_rng(0).normal(size=(ROWS, 6)).astype("float32")
Y = X[:, :2].copy()


def dense_model(*between):
    layers = [keras.layers.Dense(5, name="body"), *between, keras.layers.Dense(2, name="head")]
    model = keras.Sequential([keras.Input((6,)), *layers], name="net")
    model.compile("adam", "mse", metrics=["mae"])
    return model


class Slow(keras.layers.Layer):
    """Sleeps in the forward and in the backward pass."""

    def call(self, x):
        @tf.custom_gradient
        def slow(x):
            time.sleep(0.02)

            def gradient(g):
                time.sleep(0.03)
                return g

            return tf.identity(x), gradient

        return slow(x)


def test_time_is_that_of_the_layer_in_which_it_passed():
    found = dense_model(Slow(name="slow")).profile(X, Y, repeats=2)
    slow = found["slow"]
    assert 0.02 <= slow.forward < found.total.forward
    assert 0.03 <= slow.backward < found.total.backward
    others = [layer for layer in found.layers if layer is not slow]
    assert sum(layer.forward + layer.backward for layer in others) < 0.02
    assert all(layer.forward > 0 for layer in others)
    assert found["head"].backward > 0


def test_layers_in_the_order_in_which_they_ran_with_the_loss_at_the_end():
    found = dense_model().profile(X, Y, repeats=1)
    assert [layer.name for layer in found.layers] == ["net", "net/body", "net/head", "(loss)"]
    assert found["net/body"] is found["body"]
    assert found["body"].kind == "Dense"
    with pytest.raises(KeyError, match="tail"):
        found["tail"]


def test_operations():
    found = dense_model().profile(X, Y, repeats=1)
    product, bias = 2 * ROWS * 6 * 5, ROWS * 5
    assert found["body"].flops == 2 * product + 2 * bias  # the input's gradient is not needed
    product, bias = 2 * ROWS * 5 * 2, ROWS * 2
    assert found["head"].flops == 3 * product + 2 * bias
    assert found["head"].gflops == pytest.approx(
        found["head"].flops / (found["head"].forward + found["head"].backward) / 1e9
    )
    assert found.total.flops == sum(layer.flops for layer in found.layers)


def test_kept_bytes_are_those_of_the_tape():
    model = dense_model(keras.layers.Activation("tanh", name="bend"))
    found = model.profile(X, Y, repeats=1)
    with tf.GradientTape() as tape:
        model.compute_loss(X, tf.constant(Y), model(X, training=True))
    expected = tape.memory().by_layer
    for layer in found.layers[:-1]:
        assert layer.kept == expected.get(layer.name, 0), layer.name
    assert found.total.kept == tape.memory().total


def test_peak_covers_what_a_layer_makes():
    model = keras.Sequential([keras.Input((100,)), keras.layers.Dense(5000, "relu", name="wide")])
    model.compile("sgd", lambda y, p: tf.reduce_mean(p))
    found = model.profile(np.ones((100, 100), "float32"), np.ones((100, 1)), repeats=1)
    outputs, weights = 100 * 5000 * 4, 100 * 5000 * 4
    assert 2 * outputs <= found["wide"].peak <= 5 * outputs
    assert found.total.peak >= outputs + weights


def test_the_update_is_shared_by_parameters():
    found = dense_model().profile(X, Y, repeats=1)
    assert [layer.parameters for layer in found.layers] == [0, 35, 12, 0]
    assert found["body"].update == pytest.approx(found.total.update * 35 / 47)


def test_a_layer_within_that_never_runs_counts_for_the_one_around_it():
    model = keras.Sequential([keras.Input((4, 3)), keras.layers.LSTM(5, name="memory")])
    model.compile("sgd", "mse")
    found = model.profile(np.ones((2, 4, 3)), np.ones((2, 5)), repeats=1)
    assert found["memory"].parameters == model.count_params()


def test_frozen_layers_are_not_updated():
    model = dense_model()
    model.get_layer("body").trainable = False
    model.compile("adam", "mse")
    found = model.profile(X, Y, repeats=1)
    assert found["body"].parameters == 0
    assert found["body"].kept == 0


@pytest.mark.parametrize("loss_scaled", [False, True])
def test_nothing_is_changed(loss_scaled):
    def run(profiled):
        keras.utils.set_random_seed(3)
        model = dense_model(keras.layers.Dropout(0.5))
        optimizer = keras.optimizers.Adam(0.1)
        if loss_scaled:
            optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
        model.compile(optimizer, "mse")
        if profiled:
            model.profile(X, Y)
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
        if profiled:
            model.profile(X, Y)
        slots = [variable.array for variable in model.optimizer.variables]
        return [*model.get_weights(), *slots]

    for mine, other in zip(run(True), run(False), strict=True):
        assert np.array_equal(mine, other)


def test_a_model_that_is_not_built_yet():
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    assert model.profile(X, Y, repeats=1).total.parameters == 14


def test_the_table(capsys):
    found = dense_model().profile(X, Y, repeats=1)
    text = str(found)
    assert capsys.readouterr().out == text + "\n"
    given = []
    dense_model().profile(X, Y, repeats=1, print_fn=given.append)
    assert capsys.readouterr().out == ""
    assert given[0].splitlines()[0] == text.splitlines()[0]
    assert repr(found).startswith("<Profile of 'net': ")
    lines = text.splitlines()
    assert lines[0] == "A training step of 'net' on 32 rows, op by op"
    assert lines[1].split()[:4] == ["layer", "kind", "forward", "ms"]
    assert [line.split()[0] for line in lines[3:-2]] == ["net", "net/body", "net/head", "(loss)"]
    assert lines[-1].startswith("total")
    assert "100%" in lines[-1]


def test_mistakes():
    model = keras.Sequential([keras.layers.Dense(2)])
    with pytest.raises(ValueError, match=r"profile: the model .* is not compiled"):
        model.profile(X, Y)
    with pytest.raises(ValueError, match="repeats must be an int >= 1, got 0"):
        dense_model().profile(X, Y, repeats=0)

    class Own(keras.Model):
        def train_step(self, data):
            return {}

    own = Own()
    own.compile("sgd", "mse")
    with pytest.raises(ValueError, match="Own overrides train_step"):
        own.profile(X, Y)
