"""Pooling and normalisation inside models that train, and that are evaluated after each epoch."""

import numpy as np

from parity.scenarios.problems import Fit, compiled, seeded, sgd

SIZE, STEPS = 6, 5


def images(rows=32):
    """Small images, the scale and the mean of each channel another, and three classes."""
    x = np.random.default_rng(11).normal(size=(rows, SIZE, SIZE, 2)).astype("float32")
    target = x[:, :3].mean((1, 2)) - x[:, 3:].mean((1, 2))
    return x * [1, 3] + [2, -1], np.argmax(np.c_[target, 0 * target[:, :1] + 0.1], axis=1)


def series(rows=32):
    """Vectors in a row, those at the end padded with 0, and a target for each row."""
    rng = np.random.default_rng(12)
    x = rng.normal(size=(rows, STEPS, 3)).astype("float32")
    x *= (np.arange(STEPS) < rng.integers(2, STEPS + 1, (rows, 1)))[..., None]
    return x, np.tanh(x.sum(axis=(1, 2)))[:, None]


def _ready(model):
    """`model` with given weights, and variances of 1."""
    seeded(model)
    for layer in model.layers:
        if hasattr(layer, "moving_variance"):
            layer.moving_variance.assign(np.ones(np.shape(layer.moving_variance), "float32"))
    return model


def of_images(make):
    """A convolution, what `make(layers)` gives in a row, three classes."""

    def model(keras):
        layers = keras.layers
        parts = [layers.Conv2D(4, 3, padding="same", name="conv"), *make(layers)]
        head = [layers.Flatten(), layers.Dense(3, name="head")]
        return _ready(keras.Sequential([keras.Input((SIZE, SIZE, 2)), *parts, *head]))

    return model


def of_series(make):
    def model(keras):
        layers = keras.layers
        parts = [layers.Masking(), *make(layers), layers.GlobalAveragePooling1D()]
        head = layers.Dense(1, name="head")
        return _ready(keras.Sequential([keras.Input((STEPS, 3)), *parts, head]))

    return model


def _batch_norm(**options):
    def make(layers):
        return [
            layers.BatchNormalization(momentum=0.7, name="norm", **options),
            layers.Activation("relu"),
            layers.MaxPooling2D(),
        ]

    return make


def _frozen(layers):
    return [layers.BatchNormalization(momentum=0.7, trainable=False, name="norm")]


IMAGE_MODELS = {
    "batch norm": _batch_norm(),
    "batch norm of rows": _batch_norm(axis=1, center=False),
    "batch norm without a scale": _batch_norm(scale=False, epsilon=0.1),
    "batch renormalisation": _batch_norm(
        renorm=True, renorm_momentum=0.8, renorm_clipping={"rmax": 2.0, "rmin": 0.5, "dmax": 1.0}
    ),
    "frozen batch norm": _frozen,
    "layer norm": lambda layers: [layers.LayerNormalization(axis=[1, 2, 3], name="norm")],
    "group norm": lambda layers: [layers.GroupNormalization(2, name="norm")],
    "rms norm": lambda layers: [layers.RMSNormalization(name="norm")],
    "unit norm": lambda layers: [layers.UnitNormalization(axis=(1, 2))],
    "overlapping maxima": lambda layers: [layers.MaxPooling2D(3, strides=2, padding="same")],
    "means": lambda layers: [layers.AveragePooling2D(3, strides=2, padding="same")],
    "adaptive maxima": lambda layers: [layers.AdaptiveMaxPooling2D((4, 3))],
    "adaptive means": lambda layers: [layers.AdaptiveAveragePooling2D((4, 3))],
    "global maxima": lambda layers: [layers.GlobalMaxPooling2D()],
    "global means": lambda layers: [layers.GlobalAveragePooling2D(keepdims=True)],
    "PReLU": lambda layers: [layers.PReLU(shared_axes=[1, 2], name="prelu")],
    "penalised activity": lambda layers: [layers.ActivityRegularization(l1=0.001, l2=0.01)],
}

SERIES_MODELS = {
    "masked batch norm": lambda layers: [layers.BatchNormalization(momentum=0.7, name="norm")],
    "masked layer norm": lambda layers: [layers.LayerNormalization(name="norm")],
}


def _classes(keras):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _adapted(keras):
    layers = keras.layers
    before = layers.Normalization(axis=-1)
    before.adapt(images()[0])
    parts = [before, layers.Flatten(), layers.Dense(3, name="head")]
    model = keras.Sequential([keras.Input((SIZE, SIZE, 2)), *parts])
    head = np.random.default_rng(1).normal(size=(SIZE * SIZE * 2, 3)).astype("float32")
    model.layers[-1].set_weights([head / 8, np.zeros(3, "float32")])
    return model


def scenarios():
    to_classes = compiled(loss=_classes, optimizer=lambda keras: sgd(keras, 0.05))
    checked = {"validation_data": images(12)}
    for name, make in IMAGE_MODELS.items():
        yield f"images, {name}", Fit(to_classes, images, of_images(make), fit=checked)
    yield "images, adapted", Fit(to_classes, images, _adapted, fit=checked)
    for name, make in SERIES_MODELS.items():
        yield (
            f"series, {name}",
            Fit(data=series, model=of_series(make), fit={"validation_data": series(12)}),
        )
