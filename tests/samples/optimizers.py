"""Samples of every optimizer: class, arguments, and the numbers of Keras."""

from dataclasses import dataclass

from framework import optimizers


@dataclass
class Sample:
    """An optimizer, and what Keras 3.15 on JAX has after the updates of `test_every_optimizer.py`.

    `weights` are the two variables, `state` the sum of each of the optimizer's own variables.
    `elementwise`: whether a new weight depends on its own gradient and state alone; the update
    then runs as one loop.
    """

    kind: str
    arguments: dict
    weights: tuple | None = None
    state: list | None = None
    elementwise: bool = True

    def create(self, **more):
        """Return the optimizer, with these arguments too."""
        return getattr(optimizers, self.kind)(**self.arguments | more)


SAMPLES = {
    "sgd": Sample(
        "SGD",
        {"learning_rate": 0.1},
        weights=(
            [0.935312, -0.480305, 0.264956, 0.083121, -0.352442, -0.07962],
            [1.391194, 1.085649, -1.225532],
        ),
        state=[12, 0.1],
    ),
    "sgd_momentum": Sample(
        "SGD",
        {"learning_rate": 0.1, "momentum": 0.9},
        weights=(
            [3.211267, -1.391294, -1.527717, -0.353079, 0.433505, -1.01275],
            [1.64606, 1.052642, -2.516419],
        ),
        state=[12, 0.1, -0.0815071, -0.177253],
    ),
    "sgd_nesterov": Sample(
        "SGD",
        {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True},
        weights=(
            [3.712296, -1.613576, -1.686369, -0.32906, 0.519815, -1.316531],
            [1.699048, 1.180654, -2.856947],
        ),
        state=[12, 0.1, -0.0815071, -0.177253],
    ),
    "sgd_clipnorm": Sample(
        "SGD",
        {"learning_rate": 0.1, "clipnorm": 0.5},
        weights=(
            [0.308993, -0.205838, 0.582074, 0.10955, -0.489034, 0.267643],
            [1.308086, 0.987969, -0.825983],
        ),
        state=[12, 0.1],
    ),
    "sgd_clipvalue": Sample(
        "SGD",
        {"learning_rate": 0.1, "clipvalue": 0.2},
        weights=(
            [0.28573, -0.179143, 0.609144, 0.110402, -0.468099, 0.237518],
            [1.282994, 0.992922, -0.822587],
        ),
        state=[12, 0.1],
    ),
    "sgd_global_clipnorm": Sample(
        "SGD",
        {"learning_rate": 0.1, "global_clipnorm": 0.3},
        weights=(
            [0.214675, -0.168165, 0.607086, 0.109752, -0.51101, 0.317403],
            [1.302614, 0.963105, -0.753072],
        ),
        state=[12, 0.1],
    ),
    "sgd_weight_decay": Sample(
        "SGD",
        {"learning_rate": 0.1, "weight_decay": 0.1},
        weights=(
            [0.886696, -0.452902, 0.217991, 0.076188, -0.304604, -0.110067],
            [1.240605, 0.978292, -1.129179],
        ),
        state=[12, 0.1],
    ),
    "sgd_loss_scale": Sample(
        "SGD",
        {"learning_rate": 0.1, "loss_scale_factor": 8.0},
        weights=(
            [0.226928, -0.17563, 0.593489, 0.102178, -0.512766, 0.306443],
            [1.314899, 0.964402, -0.76896],
        ),
        state=[12, 0.1],
    ),
    "sgd_ema": Sample(
        "SGD",
        {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.9},
        weights=(
            [0.935312, -0.480305, 0.264956, 0.083121, -0.352442, -0.07962],
            [1.391194, 1.085649, -1.225532],
        ),
        state=[12, 0.1, 0.603588, 1.45583],
    ),
    "sgd_ema_overwrite": Sample(
        "SGD",
        {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 3},
        weights=(
            [0.655181, -0.40119, 0.331064, 0.080375, -0.417632, 0.021156],
            [1.448739, 0.999813, -0.952141],
        ),
        state=[12, 0.1, 0.268953, 1.49641],
    ),
    "sgd_accumulation": Sample(
        "SGD",
        {"learning_rate": 0.1, "gradient_accumulation_steps": 5},
        weights=(
            [0.214613, -0.183964, 0.573491, 0.099444, -0.522025, 0.294855],
            [1.309714, 0.945366, -0.767255],
        ),
        state=[12, 0.1, -2.48446, -0.01566],
    ),
    "adam": Sample(
        "Adam",
        {"learning_rate": 0.05},
        weights=(
            [0.508698, -0.231679, 0.367113, 0.122387, -0.299091, 0.292566],
            [1.334684, 1.013242, -0.773212],
        ),
        state=[12, 0.05, 0.0815072, 0.0692673, 0.177253, 0.0338377],
    ),
    "adam_betas": Sample(
        "Adam",
        {"learning_rate": 0.05, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 0.001},
        weights=(
            [0.503171, -0.248167, 0.374154, 0.113836, -0.317692, 0.245372],
            [1.340752, 1.009727, -0.809717],
        ),
        state=[12, 0.05, -0.0935116, 2.63496, 0.213118, 1.361],
    ),
    "adam_amsgrad": Sample(
        "Adam",
        {"learning_rate": 0.05, "amsgrad": True},
        weights=(
            [0.508698, -0.231679, 0.367113, 0.122387, -0.299092, 0.292566],
            [1.334679, 1.01325, -0.773212],
        ),
        state=[12, 0.05, 0.0815072, 0.0692673, 0.177253, 0.0338377, 0.0692792, 0.0338377],
    ),
    "adam_global_clipnorm": Sample(
        "Adam",
        {"learning_rate": 0.05, "global_clipnorm": 0.3},
        weights=(
            [0.498854, -0.218102, 0.362461, 0.143188, -0.266674, 0.293297],
            [1.272224, 0.993422, -0.766572],
        ),
        state=[12, 0.05, -0.00291711, 0.000726544, 0.0173239, 0.000347536],
    ),
    "adam_weight_decay": Sample(
        "Adam",
        {"learning_rate": 0.05, "weight_decay": 0.1},
        weights=(
            [0.490523, -0.223699, 0.337364, 0.114011, -0.277477, 0.269098],
            [1.257849, 0.954761, -0.735079],
        ),
        state=[12, 0.05, 0.0815072, 0.0692673, 0.177253, 0.0338377],
    ),
    "adam_accumulation": Sample(
        "Adam",
        {
            "learning_rate": 0.05,
            "gradient_accumulation_steps": 3,
            "clipnorm": 0.5,
            "weight_decay": 0.1,
            "loss_scale_factor": 4.0,
        },
        weights=(
            [0.3045, -0.161341, 0.478361, 0.126892, -0.397936, 0.333542],
            [1.249508, 1.024913, -0.740053],
        ),
        state=[12, 0.05, 0, 0, 0.0163633, 0.000560391, 0.0195666, 0.00015448],
    ),
    "adam_accumulation_ema": Sample(
        "Adam",
        {
            "learning_rate": 0.05,
            "gradient_accumulation_steps": 2,
            "use_ema": True,
            "ema_momentum": 0.8,
            "ema_overwrite_frequency": 3,
        },
        weights=(
            [0.243783, -0.209627, 0.633594, 0.140919, -0.447972, 0.37514],
            [1.25152, 0.985082, -0.688388],
        ),
        state=[12, 0.05, 0.735836, 1.54821, 0, 0, 0.0731746, 0.0159903, 0.111286, 0.00909333],
    ),
    "adamw": Sample(
        "AdamW",
        {"learning_rate": 0.05},
        weights=(
            [0.507956, -0.231353, 0.365888, 0.122043, -0.298201, 0.291601],
            [1.331529, 1.010841, -0.771648],
        ),
        state=[12, 0.05, 0.0815072, 0.0692673, 0.177253, 0.0338377],
    ),
    "adamw_amsgrad": Sample(
        "AdamW",
        {"learning_rate": 0.05, "weight_decay": 0.2, "amsgrad": True},
        weights=(
            [0.473113, -0.216078, 0.309386, 0.106109, -0.257156, 0.246935],
            [1.185145, 0.899426, -0.698933],
        ),
        state=[12, 0.05, 0.0815072, 0.0692673, 0.177253, 0.0338377, 0.0692792, 0.0338377],
    ),
    "rmsprop": Sample(
        "RMSprop",
        {"learning_rate": 0.05},
        weights=(
            [0.774427, -0.31043, 0.142546, 0.117977, -0.087737, 0.067347],
            [1.340846, 1.061932, -0.96768],
        ),
        state=[12, 0.05, 4.05849, 2.19957],
    ),
    "rmsprop_momentum": Sample(
        "RMSprop",
        {"learning_rate": 0.05, "rho": 0.8, "momentum": 0.5},
        weights=(
            [1.002443, -0.356681, -0.079717, 0.110212, 0.087258, -0.087384],
            [1.363578, 1.062322, -1.067785],
        ),
        state=[12, 0.05, 5.1269, 2.96209, -0.0646785, 0.0170759],
    ),
    "rmsprop_centered": Sample(
        "RMSprop",
        {"learning_rate": 0.02, "centered": True, "epsilon": 0.001},
        weights=(
            [0.420858, -0.207001, 0.456144, 0.111595, -0.344326, 0.235891],
            [1.319279, 0.994226, -0.820423],
        ),
        state=[12, 0.02, 4.05849, 2.19957, 0.0815071, 0.177253],
    ),
    "rmsprop_all": Sample(
        "RMSprop",
        {
            "learning_rate": 0.02,
            "centered": True,
            "momentum": 0.5,
            "epsilon": 0.001,
            "clipnorm": 1.0,
        },
        weights=(
            [0.628029, -0.250179, 0.296962, 0.137683, -0.196739, 0.134445],
            [1.335046, 1.023683, -0.822745],
        ),
        state=[12, 0.02, 0.71757, 0.69472, -0.0384634, 0.004492, -0.0205492, 0.0598435],
    ),
    "adagrad": Sample(
        "Adagrad",
        {"learning_rate": 0.1},
        weights=(
            [0.48687, -0.236116, 0.396288, 0.113737, -0.315068, 0.216847],
            [1.323391, 1.005856, -0.868631],
        ),
        state=[12, 0.1, 70.2659, 34.2912],
    ),
    "adagrad_accumulator": Sample(
        "Adagrad",
        {"learning_rate": 0.1, "initial_accumulator_value": 0.5},
        weights=(
            [0.46833, -0.248893, 0.429872, 0.11229, -0.372575, 0.216133],
            [1.316247, 0.999027, -0.890698],
        ),
        state=[12, 0.1, 72.6659, 35.4912],
    ),
    "adadelta": Sample(
        "Adadelta",
        {"learning_rate": 1.0},
        weights=(
            [0.135538, -0.136541, 0.628865, 0.104563, -0.529962, 0.356057],
            [1.304749, 0.94972, -0.713269],
        ),
        state=[12, 1, 2.63496, 7.0023e-06, 1.361, 3.76585e-06],
    ),
    "adadelta_rho": Sample(
        "Adadelta",
        {"learning_rate": 2.0, "rho": 0.8, "epsilon": 0.001},
        weights=(
            [1.197814, -0.557871, -0.148846, 0.078805, 0.018475, -0.295885],
            [1.361345, 1.213604, -1.643268],
        ),
        state=[12, 2, 5.1269, 0.0280257, 2.96209, 0.018934],
    ),
    "adamax": Sample(
        "Adamax",
        {"learning_rate": 0.05},
        weights=(
            [0.392909, -0.165996, 0.484543, 0.134764, -0.361028, 0.348284],
            [1.327737, 1.008488, -0.700459],
        ),
        state=[12, 0.05, 0.0815072, 10.8832, 0.177253, 5.91587],
    ),
    "adamax_betas": Sample(
        "Adamax",
        {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9},
        weights=(
            [0.425415, -0.195088, 0.468255, 0.123784, -0.374074, 0.237184],
            [1.334159, 1.010895, -0.759718],
        ),
        state=[12, 0.05, -0.405531, 7.45826, 0.214435, 4.0359],
    ),
    "nadam": Sample(
        "Nadam",
        {"learning_rate": 0.05},
        weights=(
            [0.433578, -0.237065, 0.401816, 0.102659, -0.358958, 0.219854],
            [1.332327, 0.995509, -0.852586],
        ),
        state=[12, 0.05, 0.0815071, 0.0692664, 0.177253, 0.0338373, 0.000753397],
    ),
    "nadam_betas": Sample(
        "Nadam",
        {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9},
        weights=(
            [0.508921, -0.27691, 0.366747, 0.099424, -0.33669, 0.141096],
            [1.337155, 1.008621, -0.915229],
        ),
        state=[12, 0.05, -0.405531, 4.05849, 0.214435, 2.19957, 3.69224e-05],
    ),
    "nadam_accumulation": Sample(
        "Nadam",
        {"learning_rate": 0.05, "gradient_accumulation_steps": 4},
        weights=(
            [0.251976, -0.174354, 0.546007, 0.137176, -0.487316, 0.209043],
            [1.285416, 0.896798, -0.73513],
        ),
        state=[12, 0.05, 0, 0, 0.0445913, 0.00499246, 0.0628586, 0.00280948, 0.11398],
    ),
    "ftrl": Sample(
        "Ftrl",
        {"learning_rate": 0.1},
        weights=(
            [0.456387, -0.176344, -0.238735, 0.0996, 0.125444, 0.127891],
            [0.806409, 0.530061, -0.371072],
        ),
        state=[12, 0.1, 70.2659, -16.1232, 34.2912, -32.6138],
    ),
    "ftrl_penalties": Sample(
        "Ftrl",
        {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.02,
            "beta": 0.1,
            "l2_regularization_strength": 0.05,
            "l2_shrinkage_regularization_strength": 0.01,
        },
        weights=(
            [0.425993, -0.16672, -0.217026, 0.09286, 0.117018, 0.105502],
            [0.697112, 0.444305, -0.325889],
        ),
        state=[12, 0.1, 70.2659, -15.2134, 34.2912, -28.5296],
    ),
    "ftrl_power": Sample(
        "Ftrl",
        {"learning_rate": 0.1, "learning_rate_power": -0.7, "initial_accumulator_value": 0.3},
        weights=(
            [0.351321, -0.117771, -0.190891, 0.102405, 0.136933, 0.172721],
            [0.677598, 0.401346, -0.233751],
        ),
        state=[12, 0.1, 71.4659, -29.6981, 34.8912, -47.8858],
    ),
    "lion": Sample(
        "Lion",
        {"learning_rate": 0.01},
        weights=(
            [0.20573, -0.152105, 0.600423, 0.1049, -0.495669, 0.301595],
            [1.304, 0.967081, -0.763735],
        ),
        state=[12, 0.01, 0.0187392, 0.0281826],
    ),
    "lion_betas": Sample(
        "Lion",
        {"learning_rate": 0.01, "beta_1": 0.7, "beta_2": 0.8, "weight_decay": 0.1},
        weights=(
            [0.243572, -0.170488, 0.533239, 0.103788, -0.489595, 0.317221],
            [1.288418, 0.975679, -0.755276],
        ),
        state=[12, 0.01, -0.0935117, 0.213118],
    ),
    "lamb": Sample(
        "Lamb",
        {"learning_rate": 0.05},
        weights=(
            [0.407168, -0.231766, 0.441456, 0.097842, -0.37884, 0.275975],
            [1.312196, 1.021466, -1.090529],
        ),
        state=[12, 0.05, 0.0815072, 0.0692673, 0.177253, 0.0338377],
        elementwise=False,
    ),
    "lamb_decay": Sample(
        "Lamb",
        {"learning_rate": 0.05, "beta_1": 0.8, "weight_decay": 0.1},
        weights=(
            [0.358506, -0.218062, 0.42746, 0.092501, -0.37521, 0.237666],
            [1.242206, 0.975735, -1.035258],
        ),
        state=[12, 0.05, -0.0935116, 0.0692673, 0.213118, 0.0338377],
        elementwise=False,
    ),
    "adafactor": Sample(
        "Adafactor",
        {"learning_rate": 0.1},
        weights=(
            [0.377437, -0.227246, 0.49825, 0.099229, -0.436617, 0.221604],
            [1.33401, 1.061635, -1.125903],
        ),
        state=[12, 0.1, 1.88019, 2.82029, 5.64058, 0, 0, 3.14512],
        elementwise=False,
    ),
    "adafactor_options": Sample(
        "Adafactor",
        {
            "learning_rate": 0.5,
            "beta_2_decay": -0.5,
            "epsilon_2": 0.1,
            "clip_threshold": 0.5,
            "relative_step": False,
        },
        weights=(
            [0.672051, -0.226827, 0.339152, 0.065806, -0.288527, 0.127001],
            [1.119805, 0.95822, -1.19147],
        ),
        state=[12, 0.5, 1.79041, 2.68561, 5.37121, 0, 0, 3.23315],
        elementwise=False,
    ),
    "muon": Sample(
        "Muon",
        {"learning_rate": 0.02},
        weights=(
            [0.166862, -0.150057, 0.612192, 0.089298, -0.509743, 0.332889],
            [1.315018, 0.972616, -0.73087],
        ),
        state=[12, 0.02, 1.47441, 0.177253, 0.0338377],
    ),
    "muon_options": Sample(
        "Muon",
        {
            "learning_rate": 0.02,
            "nesterov": False,
            "momentum": 0.8,
            "ns_steps": 3,
            "rms_rate": None,
            "weight_decay": 0.1,
            "adam_weight_decay": None,
            "adam_lr_ratio": 0.5,
        },
        weights=(
            [0.259287, -0.191564, 0.539118, 0.058345, -0.455239, 0.2702],
            [1.310137, 0.960313, -0.717631],
        ),
        state=[12, 0.02, -0.467558, 0.177253, 0.0338377],
    ),
    "schedule_free": Sample(
        "ScheduleFreeAdamW",
        {"learning_rate": 0.05},
        weights=(
            [0.333086, -0.202018, 0.416166, 0.078412, -0.370908, 0.258648],
            [1.306896, 0.947614, -0.818377],
        ),
        state=[12, 0.05, 0.422759, 0.0692664, 1.34304, 0.0338373],
    ),
    "schedule_free_warmup": Sample(
        "ScheduleFreeAdamW",
        {"learning_rate": 0.05, "warmup_steps": 5, "beta_1": 0.8, "weight_decay": 0.1},
        weights=(
            [0.299896, -0.227573, 0.43748, 0.054863, -0.454007, 0.21148],
            [1.288747, 0.920704, -0.876608],
        ),
        state=[12, 0.05, 0.252499, 0.0692664, 1.30144, 0.0338373],
    ),
}
