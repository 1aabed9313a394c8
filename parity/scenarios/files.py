"""Models that one side saves and the other loads: predictions, and further training steps.

The origin builds a model, trains one step and saves it. On the origin's side of the comparison the
model goes on by itself; the other side loads the file and goes on with that.
"""

import importlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from parity.scenarios.file_models import inputs, table
from parity.scenarios.problems import Outcome

OPTIMIZERS = {
    "SGD": {"learning_rate": 0.05}, "SGD momentum": {"momentum": 0.9, "nesterov": True},
    "Adam": {}, "Adam amsgrad": {"amsgrad": True}, "AdamW": {}, "Adamax": {}, "Nadam": {},
    "RMSprop": {"centered": True, "momentum": 0.5}, "Adagrad": {}, "Lion": {}, "Muon": {},
    "Adadelta": {"learning_rate": 1.0}, "Ftrl": {"learning_rate": 0.05},
    "Lamb": {"learning_rate": 0.02}, "Adafactor": {"learning_rate": 0.02},
    "Adam ema": {"learning_rate": 0.01, "use_ema": True, "ema_overwrite_frequency": 3},
    "Adam clipped": {"clipnorm": 0.1, "weight_decay": 0.01},
    "SGD accumulating": {"gradient_accumulation_steps": 2, "momentum": 0.5},
}  # fmt: skip

# On JAX, Keras loses the normalized kernel that a training call of `SpectralNormalization` assigns,
# and cannot train a model that has an `IntegerLookup`.
NOT_TRAINED = ("spectral", "spectral conv", "looked up")


def scenarios():
    for name, (make, x) in table().items():
        for origin in () if name in NOT_TRAINED else ("framework", "keras"):
            yield f"{name}, from {origin}", Exchange(origin, make, x, RATES.get(name, _sgd))
    for name, options in OPTIMIZERS.items():
        for origin in ("framework", "keras"):
            yield (
                f"optimizer {name}, from {origin}",
                Exchange(origin, _dense, inputs(8, 4), _optimizer(name, options)),
            )
    for name in ("schedule", "loss scale"):
        for origin in ("framework", "keras"):
            yield (
                f"optimizer with {name}, from {origin}",
                Exchange(origin, _dense, inputs(8, 4), OTHERS[name]),
            )


def _dense(keras):
    layers = keras.layers
    return keras.Sequential([keras.Input((4,)), layers.Dense(5, "tanh"), layers.Dense(2)])


def _sgd(keras):
    return keras.optimizers.SGD(0.02)


def _fast_sgd(keras):
    return keras.optimizers.SGD(0.2)


def _slow_sgd(keras):
    return keras.optimizers.SGD(0.001)


# of models whose gradients are small or large
RATES = {"tied": _fast_sgd, "operators": _slow_sgd, "sliced": _slow_sgd}


def _optimizer(name, options):
    return lambda keras: getattr(keras.optimizers, name.split()[0])(**options)


def _scheduled(keras):
    schedule = keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5)
    return keras.optimizers.RMSprop(schedule)


def _scaled(keras):
    return keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(), initial_scale=4.0)


OTHERS = {"schedule": _scheduled, "loss scale": _scaled}


@dataclass(frozen=True)
class Exchange:
    """A scenario that is one file.

    Args:
        origin: "framework" or "keras": who builds and saves the model.
        make: `make(keras)` gives the model.
        x: its inputs; the targets are constants.
        optimizer: `optimizer(keras)` gives the optimizer.
    """

    origin: str
    make: Callable
    x: object
    optimizer: Callable = _sgd

    def __call__(self, keras):
        builder = _library(self.origin)
        builder.backend.clear_session()
        builder.utils.set_random_seed(1)
        model = self.make(builder)
        targets = _targets(model(self.x))
        model.compile(self.optimizer(builder), "mse", run_eagerly=True)
        _steps(model, self.x, targets, 1)
        if builder is not keras:
            with tempfile.TemporaryDirectory() as folder:
                model.save(Path(folder, "m.keras"))
                model = keras.models.load_model(Path(folder, "m.keras"))
            model.run_eagerly = True
        before = [np.array(w) for w in model.get_weights()]
        predicted = _flat(model(self.x))
        losses = _steps(model, self.x, targets, 12)
        extra = {f"predicted {i}": value for i, value in enumerate(predicted)}
        extra |= {"step": losses[:2]}
        after = [np.array(w) for w in model.get_weights()]
        return Outcome({"loss": losses}, before, after, extra)


def _library(origin):
    if origin == "framework":
        return importlib.import_module("framework.keras")
    os.environ.setdefault("KERAS_BACKEND", "jax")
    return importlib.import_module("keras")


def _steps(model, x, targets, count):
    return [float(np.ravel(model.train_on_batch(x, targets))[0]) for _ in range(count)]


def _flat(outputs):
    if isinstance(outputs, dict):
        outputs = [outputs[key] for key in sorted(outputs)]
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return [np.asarray(x) for x in outputs]


def _targets(outputs):
    """Targets of the outputs' shapes and names, at different distances from them."""
    if isinstance(outputs, dict):
        return {key: _targets(value) for key, value in outputs.items()}
    if isinstance(outputs, (list, tuple)):
        return [_targets(value) for value in outputs]
    value = np.asarray(outputs)
    return value + np.linspace(0.5, 1.5, value.size).reshape(value.shape).astype(value.dtype)
