"""Subclassed models, and what all models share."""

import numpy as np
import pytest

import framework as tf
from framework.core.auto_names import forget_names
from framework.core.errors import InvalidArgumentError
from framework.core.random import set_seed
from framework.layers import Dense, Dropout, Input, Layer
from framework.metrics import Mean
from framework.models import Model, Sequential

X = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
Y = X @ np.array([[1.0], [-2.0], [0.5], [0.0]], "float32")


def functional():
    inputs = Input((4,))
    return Model(inputs, Dense(1)(Dense(8, activation="tanh")(inputs)))


class Net(Model):
    def __init__(self):
        super().__init__()
        self.first = Dense(8, activation="tanh")
        self.rest = [Dropout(0.1), Dense(1)]

    def call(self, inputs, training=False):
        x = self.first(inputs)
        for layer in self.rest:
            x = layer(x, training=training)
        return x


def test_a_subclassed_model():
    forget_names()
    model = Net()
    assert not model.built
    assert model(X).shape == (64, 1)
    assert [layer.name for layer in model.layers] == ["dense", "dropout", "dense_1"]
    assert [v.path for v in model.trainable_variables] == [
        "net/dense/kernel", "net/dense/bias", "net/dense_1/kernel", "net/dense_1/bias",
    ]  # fmt: skip
    assert model.get_layer("dropout") is model.get_layer(index=1)
    again = Net()
    again.build((None, 4))
    assert again.built
    assert again.count_params() == model.count_params() == 49


def test_reserved_and_unknown_names():
    model = Net()
    with pytest.raises(AttributeError, match=r"`Model.layers` attribute is reserved"):
        model.layers = []
    with pytest.raises(InvalidArgumentError, match=r"No such layer: x. Existing layers are"):
        model.get_layer("x")
    with pytest.raises(InvalidArgumentError, match="at index 3 but model only has 3"):
        model.get_layer(index=3)
    with pytest.raises(InvalidArgumentError, match="expected a name or an index"):
        model.get_layer()
    with pytest.raises(NotImplementedError, match="Model Model does not have a `call"):
        Model()(X)


@pytest.mark.parametrize(
    "make",
    [
        Net,
        lambda: Sequential([Dense(8, activation="tanh"), Dense(1)]),
        functional,
    ],
)
def test_every_kind_of_model_learns(make):
    set_seed(0)
    model = make()
    model.compile(optimizer="adam", loss="mse")
    model.optimizer.learning_rate = 0.05
    history = model.fit(X, Y, epochs=15, batch_size=16, verbose=0).history["loss"]
    assert history[-1] < 0.1 * history[0]
    assert model.predict(X, verbose=0).shape == (64, 1)
    assert model.evaluate(X, Y, verbose=0) < 0.5


def test_layers_losses_are_part_of_the_loss():
    set_seed(0)
    plain = Sequential([Input((4,)), Dense(1)])
    set_seed(0)
    regular = Sequential([Input((4,)), Dense(1, kernel_regularizer="l2")])
    for model in (plain, regular):
        model.compile(optimizer="sgd", loss="mse")
    penalty = float(regular.losses[0])
    assert penalty > 0
    difference = regular.evaluate(X, Y, verbose=0) - plain.evaluate(X, Y, verbose=0)
    assert difference == pytest.approx(penalty, rel=1e-3)


def test_a_users_train_step_with_a_tape():
    class Custom(Net):
        def train_step(self, data):
            x, y = data[:2]
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            grads = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.trainable_variables, strict=True))
            return {"loss": loss}

    model = Custom()
    model.compile(optimizer="sgd", loss="mse")
    history = model.fit(X, Y, epochs=3, verbose=0).history["loss"]
    assert history[-1] < history[0]


def test_state_made_by_compile_is_no_weight():
    model = Net()
    model(X)
    before = len(model.variables)
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    model.fit(X, Y, epochs=1, verbose=0)
    assert len(model.variables) == before


def test_metrics_held_by_a_model_are_found():
    class Counted(Model):
        def __init__(self):
            super().__init__()
            self.dense, self.tracker = Dense(1), Mean(name="mine")

        def call(self, x):
            return self.dense(x)

    model = Counted()
    assert [m.name for m in model.metrics] == ["mine"]
    assert len(model.metrics_variables) == 2
    model(X)
    assert len(model.weights) == 2


def test_a_model_is_a_layer():
    class Outer(Layer):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def call(self, x):
            return self.net(x)

    outer = Outer()
    assert outer(X).shape == (64, 1)
    assert len(outer.weights) == 4
