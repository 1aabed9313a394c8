"""`model.step_source`: what `fit` runs, or why there is nothing to show."""

import numpy as np
import pytest

from framework import keras
from framework.kernels import tier


@pytest.fixture(autouse=True)
def _plans():
    tier.set_tier("numpy")
    yield
    tier.set_tier(None)


X, Y = np.ones((12, 2), "float32"), np.ones((12, 1), "float32")


def fitted(cls=keras.Sequential, **arguments):
    model = cls([keras.layers.Dense(1, name="head")], name="net")
    callbacks = arguments.pop("callbacks", None)
    model.compile("sgd", "mse", **arguments)
    model.fit(X, Y, batch_size=4, verbose=0, callbacks=callbacks)
    return model


class OwnStep(keras.Sequential):
    def train_step(self, data):
        return super().train_step(data)


class OwnFunction(keras.Sequential):
    def make_train_function(self, force=False):
        self.train_function = lambda iterator: self.train_step(next(iterator))
        return self.train_function


class Reading(keras.Sequential):
    def train_step(self, data):
        x, y = data
        return {"loss": np.mean(np.asarray(self(x)) - np.asarray(y))}


class Watch(keras.callbacks.Callback):
    needs = frozenset({"gradients"})


@pytest.mark.parametrize(("cls", "name"), [(keras.Sequential, "step"), (OwnStep, "train_step")])
def test_it_is_what_fit_runs(cls, name):
    source = fitted(cls).step_source
    assert f"    def {name}(x, y):\n" in source
    assert "dot(x, head_kernel_now, matmul_1)  # net/head\n" in source
    assert "head_kernel._array = " in source


def test_values_that_a_callback_needs_are_returned():
    model = fitted(callbacks=[Watch()])
    assert "return (asarray(reduce_mean_1), matmul_2, sum_to_1, )" in model.step_source


def test_what_is_accumulated_is_an_argument():
    model = fitted(accumulate=2)
    model.fit(X, Y, batch_size=4, epochs=3, verbose=0)
    assert "def step(x, y, accumulated_0, accumulated_1, accumulated_2):" in model.step_source


def test_a_function_for_each_kind_of_batch():
    model = fitted()
    model.fit(X[:6], Y[:6], batch_size=3, verbose=0)
    assert model.step_source.count("def step(x, y):") == 2


def test_a_new_compile_begins_anew():
    model = fitted()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="yet: fit it on more batches"):
        _ = model.step_source


@pytest.mark.parametrize(
    ("cls", "arguments", "why"),
    [
        (keras.Sequential, {"run_eagerly": True}, "run_eagerly=True"),
        (OwnFunction, {}, "its class overrides make_train_function"),
        (Reading, {}, r"as an array .*test_step_source\.py"),
    ],
)
def test_why_there_is_none(cls, arguments, why):
    model = fitted(cls, **arguments)
    with pytest.raises(ValueError, match=f"(?s)step_source: the model 'net' .*{why}"):
        _ = model.step_source


def test_without_compilation():
    tier.set_tier("off")
    model = fitted()
    with pytest.raises(ValueError, match="compilation is off"):
        _ = model.step_source


def test_a_model_that_is_not_compiled():
    with pytest.raises(ValueError, match=r"the model 'net' is not compiled yet.*is step\.source"):
        _ = keras.Sequential([keras.layers.Dense(1)], name="net").step_source
