"""Settings that change between steps hold from the next step on."""

import numpy as np
import pytest

import framework as tf
from framework import keras

layers = keras.layers
X = np.random.default_rng(1).normal(size=(8, 4)).astype("float32")
Y = np.random.default_rng(2).normal(size=(8, 3)).astype("float32")
IMAGES = np.random.default_rng(3).normal(size=(2, 6, 6, 1)).astype("float32")


@pytest.fixture(autouse=True)
def numpy_plans():
    tf.config.set_compile("numpy")
    yield
    tf.config.set_compile()


class Own(layers.Layer):
    kind = 2.0

    def __init__(self):
        super().__init__()
        self.scale, self._hidden = 2.0, 2.0
        self.settings, self.factors = {"scale": 2.0}, [2.0]

    def call(self, x):
        own = self.scale * self._hidden * self.kind
        return x * own * self.settings["scale"] * sum(self.factors)


class Typed(layers.Layer):
    scale: float = 2.0

    def call(self, x):
        return x * self.scale


def set_to(name, value):
    return lambda layer: setattr(layer, name, value)


# A layer, and what changes of it.
LAYERS = {
    "field": (Typed, set_to("scale", 5.0)),
    "field, NumPy's number": (Typed, set_to("scale", np.float32(5.0))),
    "attribute": (Own, set_to("scale", 5.0)),
    "private attribute": (Own, set_to("_hidden", 5.0)),
    "attribute of the class": (Own, set_to("kind", 5.0)),
    "entry of a dict": (Own, lambda layer: layer.settings.update(scale=5.0)),
    "item of a list": (Own, lambda layer: layer.factors.__setitem__(0, 5.0)),
    "longer list": (Own, lambda layer: layer.factors.append(5.0)),
    "activation": (lambda: layers.Dense(3), set_to("activation", keras.activations.relu)),
    "function": (lambda: layers.Activation("relu"), set_to("activation", keras.activations.tanh)),
    "policy": (lambda: layers.Dense(3), set_to("dtype_policy", "mixed_float16")),
}


@pytest.mark.parametrize("name", LAYERS)
def test_of_layers(name):
    make, change = LAYERS[name]
    layer = make()
    model = keras.Sequential([layer])
    predict = lambda: model.predict(X, batch_size=8, verbose=0)
    for _ in range(4):
        before = predict()
    change(layer)
    found = predict()
    np.testing.assert_allclose(found, np.asarray(model(X)), rtol=1e-5)
    assert not np.array_equal(found, before)


def test_of_layers_that_see_images():
    layer = layers.AveragePooling2D((2, 2))
    model = keras.Sequential([layer])
    for _ in range(4):
        model.predict(IMAGES, verbose=0)
    layer.pool_size = (3, 3)
    np.testing.assert_allclose(model.predict(IMAGES, verbose=0), np.asarray(model(IMAGES)), 1e-5)


class Scaled(keras.losses.Loss):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def call(self, y_true, y_pred):
        return tf.square(y_true - y_pred) * self.scale


def kernel(model):
    return model.layers[0].kernel


# What changes of a model and of its loss.
OF_STEPS = {
    "loss": lambda model, loss: setattr(loss, "delta", 5.0),
    "own loss": lambda model, loss: setattr(loss.own, "scale", 3.0),
    "regularizer": lambda model, loss: setattr(model.layers[0].kernel_regularizer, "l2", 1.0),
    "a variable's regularizer": lambda model, loss: setattr(
        kernel(model), "regularizer", keras.regularizers.L2(1.0)
    ),
    "a variable's constraint": lambda model, loss: setattr(
        kernel(model), "constraint", keras.constraints.UnitNorm()
    ),
    "optimizer": lambda model, loss: setattr(model.optimizer, "clipnorm", 0.01),
    "schedule": lambda model, loss: setattr(
        model.optimizer._framework.schedule, "initial_learning_rate", 0.5
    ),
}


@pytest.mark.parametrize("name", OF_STEPS)
def test_of_steps(name):
    def weights(eager):
        keras.utils.set_random_seed(3)
        dense = layers.Dense(3, kernel_regularizer=keras.regularizers.L2(0.01))
        model = keras.Sequential([dense])
        loss = keras.losses.Huber(delta=0.5)
        loss.own = Scaled(1.0)
        used = loss.own if name == "own loss" else loss
        rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
        model.compile(keras.optimizers.SGD(rate), used, run_eagerly=eager)
        model.fit(X, Y, batch_size=8, epochs=4, verbose=0)
        before = kernel(model).numpy()
        OF_STEPS[name](model, loss)
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
        return before, kernel(model).numpy()

    for found, expected in zip(weights(False), weights(True), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


class Counting(keras.Model):
    """It sets attributes as it works, and lets callbacks set some."""

    def __init__(self):
        super().__init__()
        self.dense, self.calls, self.steps, self.seen = layers.Dense(3), 0, 0, []

    def call(self, x):
        self.calls += 1
        self.seen.append(len(self.seen))
        return self.dense(x)

    def train_step(self, data):
        self.steps += 1
        return super().train_step(data)


def test_what_a_step_sets_itself_is_no_setting():
    model = Counting()
    model.compile("sgd", "mse")
    for _ in range(3):
        model.fit(X, Y, batch_size=4, epochs=2, verbose=0)
    assert (model.steps, model.calls) == (3, 3)  # the first makes variables
    assert "def train_step(" in model.step_source


def test_what_fit_sets_is_no_setting():
    model = keras.Sequential([layers.Dense(3)])
    model.compile("sgd", "mse")
    stop = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    for _ in range(3):
        model.fit(X, Y, batch_size=4, epochs=3, verbose=0, callbacks=[stop])
    steps = model._framework.training.step._plans.plan_cache.plans
    model.fit(X, Y, batch_size=4, verbose=0)
    assert steps
    assert model._framework.training.step._plans.plan_cache.plans == steps


def test_making_losses_and_layers_keeps_plans():
    before = tf.keras.layers  # imports what there is
    from framework.core.change_counters import changes

    count = changes.configured
    keras.losses.Huber(), keras.metrics.Mean(), keras.regularizers.L2(0.1), before.Dense(3)
    layers.Dense(3, kernel_regularizer="l2", bias_constraint="non_neg").build((None, 2))
    assert changes.configured == count


def test_a_setting_that_changes_at_every_step_is_logged(caplog):
    layer = Own()
    model = keras.Sequential([layer, layers.Dense(3)])
    step = model.training_step(loss="mse", optimizer="sgd")
    for n in range(20):
        layer.scale = float(n)
        step(X, Y)
    (record,) = caplog.records
    assert record.getMessage() == "step runs eagerly: Own.scale changes from call to call."
