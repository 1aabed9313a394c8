"""Every optimizer, with its own options and with those of all optimizers, over 12 steps."""

from parity.scenarios.problems import Fit, Outcome, compiled, mlp, regression, sgd, train

# Rates at which 12 steps get somewhere.
RATES = {
    "SGD": 0.1, "RMSprop": 0.01, "Adam": 0.02, "AdamW": 0.02, "Adadelta": 10.0, "Adagrad": 0.1,
    "Adamax": 0.02, "Adafactor": 0.05, "Nadam": 0.02, "Ftrl": 0.2, "Lion": 0.01, "Lamb": 0.03,
    "Muon": 0.02, "ScheduleFreeAdamW": 0.05,
}  # fmt: skip

COMMON = {
    "clipnorm": {"clipnorm": 0.2},
    "clipvalue": {"clipvalue": 0.05},
    "global_clipnorm": {"global_clipnorm": 0.3},
    "ema": {"use_ema": True, "ema_momentum": 0.8},
    "ema overwriting": {"use_ema": True, "ema_momentum": 0.8, "ema_overwrite_frequency": 4},
    "loss_scale_factor": {"loss_scale_factor": 8.0},
    "accumulation": {"gradient_accumulation_steps": 3},
}

OWN = {
    "SGD": [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "nesterov": True},
        {"momentum": 0.9, "weight_decay": 0.02, "clipnorm": 0.5},
        {"momentum": 0.8, "gradient_accumulation_steps": 2, "global_clipnorm": 0.3},
    ],
    "RMSprop": [
        {},
        {"rho": 0.5},
        {"momentum": 0.5},
        {"centered": True},
        {"centered": True, "momentum": 0.5, "epsilon": 1e-3},
    ],
    "Adam": [
        {},
        {"beta_1": 0.5, "beta_2": 0.9},
        {"epsilon": 1e-2},
        {"amsgrad": True, "beta_2": 0.5},
        {"gradient_accumulation_steps": 2, "use_ema": True, "ema_momentum": 0.5},
    ],
    "AdamW": [{}, {"weight_decay": 0.2}, {"amsgrad": True, "beta_2": 0.5}],
    "Adadelta": [{}, {"rho": 0.5}, {"epsilon": 1e-4, "learning_rate": 1.0}],
    "Adagrad": [{}, {"initial_accumulator_value": 0.01}, {"epsilon": 0.1}],
    "Adamax": [{}, {"beta_1": 0.5, "beta_2": 0.8}, {"epsilon": 1e-2}],
    "Adafactor": [
        {},
        {"learning_rate": 0.4},
        {"learning_rate": 0.4, "relative_step": False},
        {"beta_2_decay": -0.5, "clip_threshold": 0.5},
        {"epsilon_1": 1e-6, "epsilon_2": 0.1},
    ],
    "Nadam": [{}, {"beta_1": 0.5, "beta_2": 0.9}, {"epsilon": 1e-2}],
    "Ftrl": [
        {},
        {"learning_rate_power": -0.3},
        {"l1_regularization_strength": 0.01},
        {"l2_regularization_strength": 0.05},
        {"l2_shrinkage_regularization_strength": 0.05},
        {"initial_accumulator_value": 0.5, "beta": 0.2},
    ],
    "Lion": [{}, {"beta_1": 0.5, "beta_2": 0.8}],
    "Lamb": [{}, {"beta_1": 0.5, "beta_2": 0.9}, {"epsilon": 1e-2}],
    "Muon": [
        {},
        {"momentum": 0.5, "nesterov": False},
        {"ns_steps": 3, "adam_lr_ratio": 0.5},
        {"exclude_layers": ["head"], "rms_rate": 0.4},
    ],
    "ScheduleFreeAdamW": [{}, {"warmup_steps": 5}, {"beta_1": 0.5, "beta_2": 0.9}],
}


def scenarios():
    for name, rate in RATES.items():
        for options in OWN[name]:
            title = " ".join(f"{k}={v}" for k, v in options.items()) or "defaults"
            yield f"{name} {title}", _twelve_steps(name, options)
        yield f"{name} weight_decay", _twelve_steps(name, {"weight_decay": 0.01 / rate})
        for title, options in COMMON.items():
            yield f"{name} {title}", _twelve_steps(name, options)
    yield "two optimizers by hand", two_lists
    yield "loss_scale_factor by hand", scaled_by_hand
    yield "decay with exclusions", decay_with_exclusions
    yield "assigned rate", assigned_rate
    yield "variables added later", unfrozen


def _twelve_steps(name, options):
    """A batch is all rows, so that the curve has a point for each step."""

    def optimizer(keras):
        made = {"learning_rate": RATES[name], **options}
        return getattr(keras.optimizers, name)(**made)

    return Fit(compiled(optimizer=optimizer), epochs=12, batch_size=32)


def two_lists(keras):
    model = mlp(keras)
    hidden, head = (layer.trainable_variables for layer in model.layers)
    return _by_hand(
        keras, model, [(keras.optimizers.Adam(0.05), hidden), (keras.optimizers.SGD(0.2), head)]
    )


def scaled_by_hand(keras):
    """Gradients arrive as a scaled loss's."""
    model = mlp(keras)
    optimizer = sgd(keras, 0.4, loss_scale_factor=4.0, momentum=0.5)
    return _by_hand(keras, model, [(optimizer, model.trainable_variables)])


def _by_hand(keras, model, parts):
    """Steps on the sum of (w − 1)², some variables for each optimizer."""
    before = model.get_weights()
    losses = []
    for _ in range(12):
        values = model.get_weights()
        losses.append(float(sum(((w - 1) ** 2).sum() for w in values)))
        gradients = [2 * (w - 1) for w in values]
        for optimizer, variables in parts:
            mine, gradients = gradients[: len(variables)], gradients[len(variables) :]
            optimizer.apply_gradients(
                [(keras.ops.convert_to_tensor(g), v) for g, v in zip(mine, variables)]
            )
    return Outcome({"loss": losses}, before, model.get_weights())


def decay_with_exclusions(keras):
    model = mlp(keras)
    optimizer = keras.optimizers.AdamW(0.02, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_list=[model.layers[0].kernel], var_names=["bias"])
    model.compile(optimizer, "mse")
    return train(model, *regression())


def assigned_rate(keras):
    model = mlp(keras)
    model.compile(keras.optimizers.Adam(0.02), "mse")
    first = train(model, *regression(), epochs=3)
    model.optimizer.learning_rate = 0.002
    second = train(model, *regression(), epochs=3)
    losses = first.history["loss"] + second.history["loss"]
    return Outcome({"loss": losses}, first.before, second.after)


def unfrozen(keras):
    model = mlp(keras)
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    first = train(model, *regression(), epochs=3)
    model.layers[0].trainable = True
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    second = train(model, *regression(), epochs=3)
    losses = first.history["loss"] + second.history["loss"]
    return Outcome({"loss": losses}, first.before, second.after)
