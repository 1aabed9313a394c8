"""Optimizer state in files when the loss does not depend on a variable."""

import warnings

import numpy as np
import pytest

import framework as tf
from framework import keras

X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")


@keras.saving.register_keras_serializable(package="unused_variables")
class Branches(keras.Model):
    """Layers of equal shapes: state that is read for the wrong one would fit it."""

    def __init__(self, both=True, **kwargs):
        super().__init__(**kwargs)
        self.a, self.b, self.c = (keras.layers.Dense(3) for _ in range(3))
        self.both = both

    def build(self, shape):
        for layer in (self.a, self.b, self.c):
            layer.build(shape)
        self.built = True

    def call(self, x):
        y = self.a(x)
        return self.c(y + self.b(x) if self.both else y)

    def get_config(self):
        return {"both": self.both}


def trained(both, optimizer="adam", epochs=1):
    keras.utils.set_random_seed(0)
    made = Branches(both)
    made.compile(optimizer, "mse")
    made.build((None, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of variables without gradients
        made.fit(X, X, epochs=epochs, verbose=0)
    return made


def state(made):
    return [np.array(v) for v in made.optimizer.variables]


def checkpoint_of(made):
    return tf.train.Checkpoint(model=made, optimizer=made.optimizer)


def adam():
    return keras.optimizers.Adam(0.01)


def scaled():
    return keras.optimizers.LossScaleOptimizer(adam(), initial_scale=4.0)


def several():
    other = keras.optimizers.SGD(0.01, momentum=0.9)
    return keras.optimizers.MultiOptimizer(keras.optimizers.OptimizerMap(adam(), {".*b/.*": other}))


@pytest.mark.parametrize("optimizer", [adam, scaled, several])
@pytest.mark.parametrize("now", [True, False])
@pytest.mark.parametrize("saved", [True, False])
def test_all_slots_are_saved_and_loaded(saved, now, optimizer, tmp_path):
    first, second = trained(saved, optimizer(), 3), trained(now, optimizer())
    first.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert all(map(np.array_equal, state(first), state(loaded)))
    assert len(state(first)) == len(state(second))

    first.save_weights(tmp_path / "m.weights.h5")
    second.load_weights(tmp_path / "m.weights.h5")
    assert all(map(np.array_equal, state(first), state(second)))

    third = trained(now, optimizer())
    path = checkpoint_of(first).write(tmp_path / "m")
    checkpoint_of(third).read(path).assert_consumed()
    assert all(map(np.array_equal, state(first), state(third)))
