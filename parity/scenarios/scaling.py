"""Scaled losses, accumulation in the optimizer and 16-bit policies."""

import numpy as np

from parity.scenarios.problems import (
    Fit,
    Outcome,
    compiled,
    head,
    mlp,
    regression,
    row_weights,
    sgd,
    train,
)


def scenarios():
    for name in ("SGD", "Adam", "RMSprop", "Lion"):
        rate = {"SGD": 0.1, "Lion": 0.01}.get(name, 0.02)
        for title, options in {
            "": {}, " growing": {"initial_scale": 4.0, "dynamic_growth_steps": 3},
        }.items():  # fmt: skip
            yield f"LossScaleOptimizer {name}{title}", _scaled(name, rate, options)
    yield "LossScaleOptimizer with clipping", _scaled("SGD", 0.1, {}, global_clipnorm=0.2)
    yield "LossScaleOptimizer after overflow", _scaled("SGD", 0.1, {"initial_scale": 2.0**126})
    yield (
        "LossScaleOptimizer, scale read",
        Fit(_compile("SGD", 0.1, {"initial_scale": 4.0, "dynamic_growth_steps": 3}), finish=_scale),
    )
    yield "LossScaleOptimizer, skipped steps", skipped_steps
    for steps in (2, 3, 5):
        yield f"accumulation over {steps}, uneven batches", _accumulating(steps)
        yield (
            f"accumulation over {steps}, weighted",
            _accumulating(steps, {"sample_weight": row_weights(29)}),
        )
    yield "accumulation with averages and decay", Fit(
        compiled(
            optimizer=lambda keras: keras.optimizers.AdamW(
                0.02, gradient_accumulation_steps=2, use_ema=True, ema_momentum=0.5,
                weight_decay=0.1, clipnorm=0.2,
            )
        )
    )  # fmt: skip
    yield "accumulation goes on over fits", accumulation_goes_on
    for name in ("SGD", "Adam"):
        for factor in (0.25, 64.0):
            yield f"loss_scale_factor {factor:g}, {name}", _factor(name, factor)


def _compile(name, rate, options, **inner):
    def optimizer(keras):
        made = getattr(keras.optimizers, name)(rate, **inner)
        return keras.optimizers.LossScaleOptimizer(made, **options)

    return compiled(optimizer=optimizer)


def _scaled(name, rate, options, **inner):
    return Fit(_compile(name, rate, options, **inner))


def _scale(model):
    return {"scale": np.asarray(model.optimizer.dynamic_scale)}


def skipped_steps(keras):
    """Every third batch has an infinite target: its step is left out and the scale halved."""
    model = mlp(keras)
    model.compile(**_compile("SGD", 0.1, {"initial_scale": 1024.0})(keras))
    x, y = regression(8)
    before, losses = model.get_weights(), []
    for step in range(9):
        bad = step % 3 == 2
        loss = model.train_on_batch(x, np.full_like(y, np.inf) if bad else y)
        model.reset_metrics()
        if not bad:
            losses.append(float(np.ravel(loss)[0]))
    return Outcome({"loss": losses}, before, model.get_weights(), _scale(model))


def _accumulating(steps, fit=None):
    def optimizer(keras):
        return sgd(keras, 0.2, momentum=0.5, gradient_accumulation_steps=steps)

    return Fit(compiled(optimizer=optimizer), lambda: regression(29), fit=fit or {}, epochs=8)


def accumulation_goes_on(keras):
    """What a fit leaves unapplied comes with the next one's first batches."""
    model = mlp(keras)
    model.compile(sgd(keras, 0.2, gradient_accumulation_steps=3), "mse")
    first = train(model, *regression(), epochs=1)
    second = train(model, *regression(), epochs=4)
    losses = first.history["loss"] + second.history["loss"]
    return Outcome({"loss": losses}, first.before, second.after)


def _factor(name, factor):
    def optimizer(keras):
        rate = 0.1 if name == "SGD" else 0.02
        return getattr(keras.optimizers, name)(rate, loss_scale_factor=factor, clipnorm=0.5)

    return Fit(compiled(optimizer=optimizer), lambda: regression(outputs=2), head(2))
