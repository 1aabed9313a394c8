"""State: a step that is done and undone leaves no trace, whatever optimizers are inside."""

import numpy as np
import pytest

from framework import keras
from framework.training.snapshot import Snapshot, parts_of
from tests.samples.optimizers import SAMPLES

kinds = keras.optimizers
RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype("float32")
Y = X[:, :1] * X[:, 1:2]


def several(default=lambda: kinds.Adam(0.1)):
    return kinds.MultiOptimizer(kinds.OptimizerMap(default(), {".*head/.*": kinds.Adam(0.05)}))


def chosen_by_a_function():
    one, other = kinds.Adam(0.1), kinds.SGD(0.1, momentum=0.9)
    return kinds.MultiOptimizer(lambda v: one if "head" in v.path else other)


OPTIMIZERS = {
    **{name: sample.create for name, sample in SAMPLES.items()},
    "loss scale": lambda: kinds.LossScaleOptimizer(kinds.Adam(0.1)),
    "several": several,
    "loss scale of several": lambda: kinds.LossScaleOptimizer(several()),
    "several by a function": chosen_by_a_function,
}


def make(optimizer):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.layers.Dense(3, name="body"), keras.layers.Dense(1, name="head")]
    )
    model.build((None, 4))
    model.compile(optimizer(), "mse")
    return model


def train(model):
    model.fit(X, Y, batch_size=5, verbose=0, shuffle=False)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_was_undone_left_no_trace(name, begun):
    plain, tried = make(OPTIMIZERS[name]), make(OPTIMIZERS[name])
    if begun:
        train(plain)
        train(tried)
    state = Snapshot([*tried.variables, *tried.metrics_variables], tried.optimizer)
    train(tried)
    state.restore()
    for model in (plain, tried):
        train(model)
    for a, b in zip(plain.get_weights(), tried.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(plain.optimizer.variables, tried.optimizer.variables, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_optimizers_inside():
    several_, inside = several(), lambda o: [type(p).__name__ for p in parts_of(o)]
    assert inside(several_) == ["MultiOptimizer", "Adam", "Adam"]
    assert inside(kinds.LossScaleOptimizer(several_))[0] == "LossScaleOptimizer"
    assert len(parts_of(kinds.LossScaleOptimizer(several_))) == 4
    assert parts_of(None) == parts_of(object()) == []


def test_profiling_and_checking_change_no_training():
    plain, looked = make(OPTIMIZERS["several"]), make(OPTIMIZERS["several"])
    looked.profile(X, Y, repeats=1)
    for model in (plain, looked):
        train(model)
    for a, b in zip(plain.get_weights(), looked.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
