"""What the scenarios train: small models with given weights on small data, the same everywhere.

A scenario is a name and a function `run(keras) -> Outcome`, where `keras` is real Keras or
`framework.keras`. Nothing in it may depend on either's random numbers: initial weights and data
come from NumPy, rows are not shuffled, and there is no dropout.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What a training run left behind.

    Args:
        history: {"loss": one value an epoch (or a step), any other curve's name: values}.
        before: the weights at the beginning.
        after: the weights at the end.
        extra: further arrays to compare, by name.
    """

    history: dict
    before: list
    after: list
    extra: dict = field(default_factory=dict)


# ---- data ----


def inputs(rows=32, features=4):
    return np.random.default_rng(3).normal(size=(rows, features)).astype("float32")


def regression(rows=32, outputs=1):
    x = inputs(rows)
    slopes = np.linspace(-1, 1, 4 * outputs).reshape(4, outputs)
    return x, (np.tanh(x @ slopes) + 0.5 * x[:, :1] + 1).astype("float32")


def positive(rows=32, outputs=1):
    x, y = regression(rows, outputs)
    return x, np.exp(0.5 * y - 0.5)


def shares(rows=32):
    """Targets that are three shares of one."""
    x, y = positive(rows, 3)
    return x, y / y.sum(axis=1, keepdims=True)


def binary(rows=32):
    x, y = regression(rows)
    return x, (y > 1.1).astype("float32")


def signs(rows=32):
    x, y = binary(rows)
    return x, 2 * y - 1


def classes(rows=32):
    x, y = regression(rows, 3)
    return x, np.argmax(y + 0.3 * x[:, 1:], axis=1)


def one_hot(rows=32):
    x, y = classes(rows)
    return x, np.eye(3, dtype="float32")[y]


def row_weights(rows=32):
    """Sample weights, some of them zero."""
    return np.linspace(0, 2, rows).astype("float32") * (np.arange(rows) % 5 != 2)


# ---- models ----


def seeded(model, seed=1):
    """`model` with weights that depend on their shapes and order only."""
    rng = np.random.default_rng(seed)
    model.set_weights([_weight(rng, np.shape(w)) for w in model.get_weights()])
    return model


def _weight(rng, shape):
    scale = shape[0] ** -0.5 if len(shape) > 1 else 0.1
    return (scale * rng.normal(size=shape)).astype("float32")


def mlp(keras, outputs=1, activation=None, hidden="tanh", features=4, **options):
    """Two dense layers; `options` are the first one's."""
    return seeded(
        keras.Sequential([
            keras.Input((features,)),
            keras.layers.Dense(8, activation=hidden, name="hidden", **options),
            keras.layers.Dense(outputs, activation=activation, name="head"),
        ])
    )  # fmt: skip


def head(outputs, activation=None):
    """A model's builder with so many outputs."""
    return lambda keras: mlp(keras, outputs, activation)


# ---- runs ----


def sgd(keras, rate=0.1, **options):
    return keras.optimizers.SGD(rate, **options)


def compiled(**options):
    """Arguments of compile: SGD on the mean squared error unless said otherwise."""

    def arguments(keras):
        made = {k: v(keras) if callable(v) else v for k, v in options.items()}
        return {"optimizer": sgd(keras), "loss": "mse", **made}

    return arguments


def train(model, x, y=None, *, epochs=5, batch_size=8, finish=None, **fit):
    """Fit a compiled model; its Outcome. `finish(model)` gives further arrays."""
    fit = {"shuffle": False, "verbose": 0, **fit}
    if isinstance(x, (np.ndarray, dict, list)):
        fit["batch_size"] = batch_size
    before = model.get_weights()
    history = model.fit(x, y, epochs=epochs, **fit)
    extra = {} if finish is None else finish(model)
    return Outcome(dict(history.history), before, model.get_weights(), extra)


@dataclass(frozen=True)
class Fit:
    """A scenario that is one call of fit.

    Args:
        compile: `compile(keras)` gives the arguments of compile.
        data: `data()` gives x and y.
        model: `model(keras)` gives the model.
        fit: arguments of fit, or a function `fit(keras)` that makes them.
        epochs, batch_size: as in fit.
        prepare: `prepare(model)` before compile.
        finish: `finish(model)` gives further arrays after fit.
    """

    compile: Callable = field(default_factory=compiled)
    data: Callable = regression
    model: Callable = mlp
    fit: object = field(default_factory=dict)
    epochs: int = 5
    batch_size: int = 8
    prepare: Callable | None = None
    finish: Callable | None = None

    def __call__(self, keras):
        model = self.model(keras)
        if self.prepare is not None:
            self.prepare(model)
        model.compile(**self.compile(keras))
        fit = self.fit(keras) if callable(self.fit) else self.fit
        return train(
            model, *self.data(), epochs=self.epochs, batch_size=self.batch_size,
            finish=self.finish, **fit,
        )  # fmt: skip
