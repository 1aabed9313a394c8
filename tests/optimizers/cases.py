"""Every optimizer with its options: class name and arguments by the name of the case."""

CASES = {
    "sgd": ("SGD", {"learning_rate": 0.1}),
    "sgd_momentum": ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    "sgd_nesterov": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    "sgd_clipnorm": ("SGD", {"learning_rate": 0.1, "clipnorm": 0.5}),
    "sgd_clipvalue": ("SGD", {"learning_rate": 0.1, "clipvalue": 0.2}),
    "sgd_global_clipnorm": ("SGD", {"learning_rate": 0.1, "global_clipnorm": 0.3}),
    "sgd_weight_decay": ("SGD", {"learning_rate": 0.1, "weight_decay": 0.1}),
    "sgd_loss_scale": ("SGD", {"learning_rate": 0.1, "loss_scale_factor": 8.0}),
    "sgd_ema": ("SGD", {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.9}),
    "sgd_ema_overwrite": (
        "SGD",
        {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 3},
    ),
    "sgd_accumulation": ("SGD", {"learning_rate": 0.1, "gradient_accumulation_steps": 5}),
    "adam": ("Adam", {"learning_rate": 0.05}),
    "adam_betas": ("Adam", {"learning_rate": 0.05, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-3}),
    "adam_amsgrad": ("Adam", {"learning_rate": 0.05, "amsgrad": True}),
    "adam_global_clipnorm": ("Adam", {"learning_rate": 0.05, "global_clipnorm": 0.3}),
    "adam_weight_decay": ("Adam", {"learning_rate": 0.05, "weight_decay": 0.1}),
    "adam_accumulation": (
        "Adam",
        {
            "learning_rate": 0.05, "gradient_accumulation_steps": 3, "clipnorm": 0.5,
            "weight_decay": 0.1, "loss_scale_factor": 4.0,
        },
    ),
    "adam_accumulation_ema": (
        "Adam",
        {
            "learning_rate": 0.05, "gradient_accumulation_steps": 2, "use_ema": True,
            "ema_momentum": 0.8, "ema_overwrite_frequency": 3,
        },
    ),
    "adamw": ("AdamW", {"learning_rate": 0.05}),
    "adamw_amsgrad": ("AdamW", {"learning_rate": 0.05, "weight_decay": 0.2, "amsgrad": True}),
    "rmsprop": ("RMSprop", {"learning_rate": 0.05}),
    "rmsprop_momentum": ("RMSprop", {"learning_rate": 0.05, "rho": 0.8, "momentum": 0.5}),
    "rmsprop_centered": ("RMSprop", {"learning_rate": 0.02, "centered": True, "epsilon": 1e-3}),
    "rmsprop_all": (
        "RMSprop",
        {
            "learning_rate": 0.02, "centered": True, "momentum": 0.5, "epsilon": 1e-3,
            "clipnorm": 1.0,
        },
    ),
    "adagrad": ("Adagrad", {"learning_rate": 0.1}),
    "adagrad_accumulator": ("Adagrad", {"learning_rate": 0.1, "initial_accumulator_value": 0.5}),
    "adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "adadelta_rho": ("Adadelta", {"learning_rate": 2.0, "rho": 0.8, "epsilon": 1e-3}),
    "adamax": ("Adamax", {"learning_rate": 0.05}),
    "adamax_betas": ("Adamax", {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9}),
    "nadam": ("Nadam", {"learning_rate": 0.05}),
    "nadam_betas": ("Nadam", {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9}),
    "nadam_accumulation": ("Nadam", {"learning_rate": 0.05, "gradient_accumulation_steps": 4}),
    "ftrl": ("Ftrl", {"learning_rate": 0.1}),
    "ftrl_penalties": (
        "Ftrl",
        {
            "learning_rate": 0.1, "l1_regularization_strength": 0.02, "beta": 0.1,
            "l2_regularization_strength": 0.05, "l2_shrinkage_regularization_strength": 0.01,
        },
    ),
    "ftrl_power": (
        "Ftrl",
        {"learning_rate": 0.1, "learning_rate_power": -0.7, "initial_accumulator_value": 0.3},
    ),
    "lion": ("Lion", {"learning_rate": 0.01}),
    "lion_betas": (
        "Lion",
        {"learning_rate": 0.01, "beta_1": 0.7, "beta_2": 0.8, "weight_decay": 0.1},
    ),
    "lamb": ("Lamb", {"learning_rate": 0.05}),
    "lamb_decay": ("Lamb", {"learning_rate": 0.05, "beta_1": 0.8, "weight_decay": 0.1}),
    "adafactor": ("Adafactor", {"learning_rate": 0.1}),
    "adafactor_options": (
        "Adafactor",
        {"learning_rate": 0.5, "beta_2_decay": -0.5, "epsilon_2": 0.1, "clip_threshold": 0.5,
         "relative_step": False},
    ),
    "muon": ("Muon", {"learning_rate": 0.02}),
    "muon_options": (
        "Muon",
        {"learning_rate": 0.02, "nesterov": False, "momentum": 0.8, "ns_steps": 3, "rms_rate": None,
         "weight_decay": 0.1, "adam_weight_decay": None, "adam_lr_ratio": 0.5},
    ),
    "schedule_free": ("ScheduleFreeAdamW", {"learning_rate": 0.05}),
    "schedule_free_warmup": (
        "ScheduleFreeAdamW",
        {"learning_rate": 0.05, "warmup_steps": 5, "beta_1": 0.8, "weight_decay": 0.1},
    ),
}  # fmt: skip
