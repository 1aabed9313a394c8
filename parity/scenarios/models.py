"""Kinds of models, and what layers bring along: regularizers, constraints, activations, masks."""

import numpy as np

from parity.scenarios.problems import (
    Fit,
    inputs,
    mlp,
    regression,
    seeded,
    sgd,
)

ACTIVATIONS = [
    "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus",
    "softsign", "sigmoid", "hard_sigmoid", "hard_silu", "hard_tanh", "tanh", "tanh_shrink",
    "soft_shrink", "hard_shrink", "log_sigmoid", "log_softmax", "softmax", "squareplus",
    "exponential", "linear", "sparse_plus", "sparse_sigmoid",
]  # fmt: skip

REGULARIZERS = {
    "L1": {"l1": 0.02}, "L2": {"l2": 0.05}, "L1L2": {"l1": 0.01, "l2": 0.02},
    "OrthogonalRegularizer": {"factor": 0.01},
}  # fmt: skip

CONSTRAINTS = {
    "MaxNorm": {"max_value": 0.6}, "NonNeg": {}, "UnitNorm": {},
    "MinMaxNorm": {"min_value": 0.5, "max_value": 0.8, "rate": 0.5},
}  # fmt: skip


def scenarios():
    for name in ACTIVATIONS:
        yield f"activation {name}", Fit(_slower, model=_hidden(name))
    for name, options in {
        "LeakyReLU": {"negative_slope": 0.1}, "ELU": {"alpha": 0.5}, "Softmax": {},
        "ReLU": {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.1},
    }.items():  # fmt: skip
        yield f"layer {name}", Fit(model=_between(name, options))
    for name, options in REGULARIZERS.items():
        yield (
            f"kernel {name}",
            Fit(model=_owning("kernel_regularizer", "regularizers", name, options)),
        )
    yield "bias L2", Fit(model=_owning("bias_regularizer", "regularizers", "L2", {"l2": 0.1}))
    yield (
        "activity L2",
        Fit(model=_owning("activity_regularizer", "regularizers", "L2", {"l2": 0.1})),
    )
    yield "kernel L2, uneven batches, validated", Fit(
        data=lambda: regression(29), fit={"validation_split": 0.3},
        model=_owning("kernel_regularizer", "regularizers", "L2", {"l2": 0.05}),
    )  # fmt: skip
    for name, options in CONSTRAINTS.items():
        yield (
            f"kernel {name}",
            Fit(model=_owning("kernel_constraint", "constraints", name, options)),
        )
    for name in ("hidden", "head"):
        yield f"frozen {name}", Fit(prepare=_freeze(name))
    yield "no bias", Fit(model=lambda keras: mlp(keras, use_bias=False))
    for build in (
        subclassed,
        nested,
        residual,
        merged,
        weight_tied,
        adding_a_loss,
        masked,
        sequences,
    ):
        yield build.__name__.replace("_", " "), Fit(model=build, data=DATA.get(build, regression))
    # Few steps: backends round sums of bfloat16 products differently, and it adds up.
    yield "mixed bfloat16", Fit(_slower, model=_mixed("mixed_bfloat16"), epochs=2)


def _slower(keras):
    """For activations without bounds."""
    return {"optimizer": sgd(keras, 0.02), "loss": "mse"}


def _hidden(name):
    return lambda keras: mlp(keras, hidden=name)


def _between(name, options):
    def model(keras):
        return seeded(
            keras.Sequential([
                keras.Input((4,)),
                keras.layers.Dense(8),
                getattr(keras.layers, name)(**options),
                keras.layers.Dense(1),
            ])
        )  # fmt: skip

    return model


def _owning(argument, module, name, options):
    def model(keras):
        return mlp(keras, **{argument: getattr(getattr(keras, module), name)(**options)})

    return model


def _freeze(name):
    def prepare(model):
        model.get_layer(name).trainable = False

    return prepare


def subclassed(keras):
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(8, activation="tanh")
            self.head = keras.layers.Dense(1)

        def call(self, x, training=False):
            y = self.head(self.hidden(x))
            return y * 1.1 if training else y

    model = Net()
    model(inputs(2))
    return seeded(model)


def nested(keras):
    inner = keras.Sequential([keras.layers.Dense(6, "tanh"), keras.layers.Dense(5, "gelu")])
    x = keras.Input((4,))
    return seeded(keras.Model(x, keras.layers.Dense(1)(inner(x))))


def residual(keras):
    x = y = keras.Input((4,))
    for _ in range(2):
        y = keras.layers.add([y, keras.layers.Dense(4, activation="tanh")(y)])
    return seeded(keras.Model(x, keras.layers.Dense(1)(y)))


def merged(keras):
    layers = keras.layers
    x = keras.Input((4,))
    a, b = layers.Dense(5, "tanh")(x), layers.Dense(5, "sigmoid")(x)
    parts = [layers.Multiply()([a, b]), layers.Maximum()([a, b]), layers.Subtract()([a, b])]
    parts.append(layers.Average()([a, b]))
    return seeded(keras.Model(x, layers.Dense(1)(layers.Concatenate()(parts))))


def weight_tied(keras):
    x = keras.Input((4,))
    shared = keras.layers.Dense(4, activation="tanh")
    return seeded(keras.Model(x, keras.layers.Dense(1)(shared(shared(x)))))


def adding_a_loss(keras):
    class Penalty(keras.layers.Layer):
        def call(self, x):
            self.add_loss(0.05 * keras.ops.mean(keras.ops.square(x)))
            return x

    x = keras.Input((4,))
    y = Penalty()(keras.layers.Dense(8, activation="tanh")(x))
    return seeded(keras.Model(x, keras.layers.Dense(1)(y)))


def masked(keras):
    """A mask made by a layer, handed on by Dense, taken by the loss."""

    class Mask(keras.layers.Layer):
        def __init__(self, **options):
            super().__init__(**options)
            self.supports_masking = True

        def compute_mask(self, x, mask=None):
            return keras.ops.any(keras.ops.not_equal(x, 0.0), axis=-1)

        def call(self, x):
            return x

        def compute_output_shape(self, shape):
            return shape

    x = keras.Input((3, 4))
    y = keras.layers.Dense(6, activation="tanh")(Mask()(x))
    return seeded(keras.Model(x, keras.layers.Dense(1)(y)))


def sequences(keras):
    layers = keras.layers
    return seeded(
        keras.Sequential([
            keras.Input((3, 4)),
            layers.Dense(5, activation="tanh"),
            layers.Permute((2, 1)),
            layers.Reshape((15,)),
            layers.Dense(3),
            layers.Reshape((3, 1)),
        ])
    )  # fmt: skip


def _sequences_data():
    x = inputs(32 * 3).reshape(32, 3, 4).copy()
    y = np.tanh(x.sum(axis=-1, keepdims=True))
    x[::3, 2] = 0
    x[::4, 1:] = 0
    return x, y


DATA = {masked: _sequences_data, sequences: _sequences_data}


def _mixed(policy):
    def model(keras):
        return mlp(keras, dtype=policy)

    return model
