"""Learning rates that change: schedules, functions, and callbacks that set them."""

import numpy as np

from parity.scenarios.problems import Fit, compiled, sgd

SCHEDULES = {
    "ExponentialDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5},
        {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5, "staircase": True},
    ],
    "InverseTimeDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5},
        {"initial_learning_rate": 0.1, "decay_steps": 5, "decay_rate": 0.5, "staircase": True},
    ],
    "PiecewiseConstantDecay": [{"boundaries": [3, 9], "values": [0.1, 0.05, 0.01]}],
    "PolynomialDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 8, "end_learning_rate": 0.01},
        {
            "initial_learning_rate": 0.1, "decay_steps": 8, "end_learning_rate": 0.01,
            "power": 2.0, "cycle": True,
        },
    ],
    "CosineDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 12, "alpha": 0.1},
        {
            "initial_learning_rate": 0.0, "decay_steps": 12, "warmup_target": 0.1,
            "warmup_steps": 4,
        },
    ],
    "CosineDecayRestarts": [
        {"initial_learning_rate": 0.1, "first_decay_steps": 4},
        {
            "initial_learning_rate": 0.1, "first_decay_steps": 4, "t_mul": 1.5, "m_mul": 0.7,
            "alpha": 0.05,
        },
    ],
}  # fmt: skip


def scenarios():
    for name, rows in SCHEDULES.items():
        for number, options in enumerate(rows):
            yield f"{name} {number}, SGD", _scheduled("SGD", name, options)
        yield f"{name} 0, Adam", _scheduled("Adam", name, rows[0])
    yield (
        "schedule with accumulation",
        _scheduled(
            "SGD",
            "ExponentialDecay",
            SCHEDULES["ExponentialDecay"][0],
            gradient_accumulation_steps=2,
        ),
    )
    yield "schedule read back", Fit(_compile("SGD", "CosineDecay"), finish=_rate)
    yield "own schedule", Fit(compiled(optimizer=_own_schedule))
    yield "function", Fit(compiled(optimizer=lambda keras: sgd(keras, lambda: 0.07)))
    yield "LearningRateScheduler of epoch", Fit(fit=_scheduler(lambda epoch: 0.1 / (1 + epoch)))
    yield "LearningRateScheduler of rate", Fit(fit=_scheduler(lambda epoch, rate: rate * 0.7))
    yield (
        "LearningRateScheduler from an epoch",
        Fit(
            fit=lambda keras: {**_scheduler(lambda epoch: 0.02 * epoch)(keras), "initial_epoch": 2}
        ),
    )
    for title, options in {
        "by loss": {"monitor": "loss", "min_delta": 10.0},
        "by validation loss": {"monitor": "val_loss", "min_delta": 0.05, "factor": 0.5},
        "with cooldown": {"monitor": "loss", "min_delta": 10.0, "cooldown": 2},
        "down to min_lr": {"monitor": "loss", "min_delta": 10.0, "min_lr": 0.04},
    }.items():
        yield f"ReduceLROnPlateau {title}", Fit(fit=_plateau(options), epochs=8)
    yield "rate set by a callback at batches", Fit(fit=_falling)


def _compile(optimizer, name, options=None, **more):
    def made(keras):
        schedule = getattr(keras.optimizers.schedules, name)(**(options or SCHEDULES[name][0]))
        rate = schedule if optimizer == "SGD" else _tenth(keras, schedule)
        return getattr(keras.optimizers, optimizer)(rate, **more)

    return compiled(optimizer=made)


def _scheduled(optimizer, name, options, **more):
    return Fit(_compile(optimizer, name, options, **more), epochs=4)


def _tenth(keras, schedule):
    """A schedule around a schedule: Adam wants smaller rates than SGD."""

    class Tenth(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.1 * schedule(step)

    return Tenth()


def _own_schedule(keras):
    class Warmup(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            step = keras.ops.cast(step, "float32")
            return 0.1 * keras.ops.minimum(1.0, (step + 1) / 10)

    return sgd(keras, Warmup(), momentum=0.5)


def _rate(model):
    return {"rate": np.asarray(model.optimizer.learning_rate)}


def _scheduler(function):
    return lambda keras: {"callbacks": [keras.callbacks.LearningRateScheduler(function)]}


def _plateau(options):
    def fit(keras):
        plateau = keras.callbacks.ReduceLROnPlateau(**{"patience": 1, "factor": 0.6, **options})
        return {"callbacks": [plateau], "validation_split": 0.25}

    return fit


def _falling(keras):
    class Falling(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            self.model.optimizer.learning_rate = 0.1 / (1 + batch)

    return {"callbacks": [Falling()]}
