"""Users' subclasses may use every name that Keras leaves free: training gives the same bits."""

import inspect

import numpy as np
import pytest

from framework import config, keras
from tests.core.own_names import documented, litter, littered, shadowed, with_properties

X = np.random.default_rng(0).normal(size=(24, 3)).astype("float32")
Y = np.sin(X[:, :1]) + X[:, 1:2]

layers, callbacks = keras.layers, keras.callbacks


@pytest.fixture(params=["off", "numpy", "auto"])
def compiled(request):
    config.set_compile(request.param)
    yield request.param
    config.set_compile()


def make_model(last=None):
    """A small model with fixed weights."""
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [layers.Dense(4, "tanh", name="first"), last or layers.Dense(1, name="last")], name="net"
    )
    model.build((None, 3))
    return model


def bits(*arrays):
    return [np.asarray(a).tobytes() for a in arrays]


# ---- one function per kind of object: trains with one of the class, gives the numbers ----


def by_callback(cls, touch, *args, **kwargs):
    model = make_model()
    made = cls(*args, **kwargs)
    later = callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: touch(made))
    model.compile("sgd", "mse", metrics=["mae"])
    found = model.fit(
        X, Y, epochs=4, batch_size=8, verbose=0, validation_split=0.25, callbacks=[made, later]
    )
    return [*bits(*model.get_weights()), found.history, model.evaluate(X, Y, verbose=0)]


class Counting(callbacks.Callback):
    """Written the way users do, without a call of the base's `__init__`."""

    def __init__(self):
        self.seen_batches = 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen_batches += 1
        if self.seen_batches == 5:
            self.model.optimizer.learning_rate = 0.5 * float(logs["loss"])


def callback(base, *args, more=""):
    return by_callback, base, documented("Callback", more=more), args


MONITOR = "monitor mode min_delta monitor_op patience verbose wait best "
CASES = {
    "Callback": callback(callbacks.Callback),
    "Callback of a user": callback(Counting, more="seen_batches"),
    "History": callback(callbacks.History, True, more="epoch history batches"),
    "EarlyStopping": callback(
        callbacks.EarlyStopping, "loss", 10.0, 1,
        more=MONITOR + "best_epoch best_weights stopped_epoch",
    ),
    "ReduceLROnPlateau": callback(
        callbacks.ReduceLROnPlateau, "loss", 0.5, 1, 0, "min", 10.0,
        more=MONITOR + "cooldown_counter in_cooldown",
    ),
    "LearningRateScheduler": callback(
        callbacks.LearningRateScheduler, lambda epoch, rate: rate * 0.5
    ),
    "CSVLogger": callback(callbacks.CSVLogger, "/dev/null", ",", False, True, more="sep keys"),
}  # fmt: skip


def nothing(_thing):
    """The plain run."""


@pytest.mark.parametrize("case", CASES)
def test_attributes_of_a_users_own(case, compiled):
    use, base, taken, args = CASES[case]
    taken = taken | set(inspect.signature(base).parameters)
    expected = use(base, nothing, *args)
    assert use(littered(base, taken), nothing, *args) == expected
    assert use(base, lambda thing: litter(thing, taken), *args) == expected


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("define", [shadowed, with_properties])
def test_methods_and_properties_of_a_users_own(case, define):
    use, base, taken, args = CASES[case]
    taken = taken | set(inspect.signature(base).parameters)
    made = []
    expected = use(base, made.append, *args)
    example = made[0] if made else base(*args)
    assert use(define(base, taken, example), nothing, *args) == expected


def test_a_callback_counts_its_own_steps():
    class Own(callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.step, self.needs = 0, "attention"

        def on_train_batch_end(self, batch, logs=None):
            self.step += 1

    model, made = make_model(), Own()
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, batch_size=8, verbose=0, callbacks=[made])
    assert (made.step, made.needs) == (6, "attention")


def test_a_callback_reads_the_step_that_its_class_declares_or_it_asks_for():
    class Declares(callbacks.Callback):
        needs = ("loss",)

        def on_train_batch_end(self, batch, logs=None):
            seen.append(self.step.loss)

    class Asks(Declares):
        needs = None

        def __init__(self):
            self.needs = {"loss"}

    for cls in (Declares, Asks):
        seen, model = [], make_model()
        model.compile("sgd", "mse")
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[cls()])
        assert len(seen) == 3
