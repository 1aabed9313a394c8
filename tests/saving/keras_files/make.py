"""Writes models with a real Keras, with what they predict; run by the Python of that Keras.

    KERAS_BACKEND=jax python make.py [tf_keras] OUTPUT.zip

Of tf-keras only the .h5 files are kept: its .keras files name classes of its own modules.

The archive has for each model NAME the files NAME.keras, NAME.h5 and NAME.weights.h5, and in
`values.npz` the inputs NAME/x0, ..., the prediction NAME/y, and NAME/z, the prediction after one
more training step on the targets NAME/t.
"""

import os
import sys
import tempfile
import warnings
import zipfile
from importlib import import_module
from typing import Any

import numpy as np

keras: Any = None  # set by `main`
layers: Any = None
random = np.random.default_rng(7)
MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


def floats(*shape):
    return random.normal(size=(4, *shape)).astype("float32")


@model
def dense():
    made = keras.Sequential(
        [keras.Input((3,)), layers.Dense(4, "relu"), layers.Dropout(0.5), layers.Dense(2)]
    )
    return made, [floats(3)], keras.optimizers.Adam(0.01)


@model
def conv():
    made = keras.Sequential([
        keras.Input((8, 8, 2)), layers.Conv2D(3, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.9), layers.ReLU(max_value=6.0),
        layers.MaxPooling2D(), layers.DepthwiseConv2D(2), layers.Conv2DTranspose(2, 2, strides=2),
        layers.AveragePooling2D(2), layers.ZeroPadding2D(1), layers.GlobalAveragePooling2D(),
        layers.Dense(2, activation="gelu"),
    ])  # fmt: skip
    return made, [floats(8, 8, 2)], keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True)


@model
def conv_1d():
    made = keras.Sequential([
        keras.Input((8, 2)), layers.SeparableConv1D(3, 3), layers.Conv1D(2, 3, padding="causal"),
        layers.UpSampling1D(2), layers.Cropping1D(1), layers.GlobalMaxPooling1D(),
        layers.Dense(2, kernel_regularizer=keras.regularizers.L2(0.01)),
    ])  # fmt: skip
    return made, [floats(8, 2)], keras.optimizers.RMSprop(0.01, momentum=0.5)


@model
def functional():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    shared = layers.Dense(4, "tanh", name="shared")
    x = layers.Concatenate()([shared(a), shared(b)])
    y = layers.Add()([layers.Dense(4)(x), shared(a)])
    made = keras.Model([a, b], layers.Dense(2)(layers.Multiply()([y, shared(b)])))
    return made, [floats(3), floats(3)], keras.optimizers.Adamax(0.01)


@model
def nested():
    x = keras.Input((3,))
    inner = keras.Model(x, layers.Dense(3, "selu")(layers.Dense(4)(x)), name="inner")
    outer = keras.Sequential([keras.Input((3,)), inner, layers.Dense(2)], name="outer")
    y = keras.Input((3,))
    made = keras.Model(y, outer(layers.LayerNormalization()(inner(y))))
    return made, [floats(3)], keras.optimizers.AdamW(0.01, weight_decay=0.02)


@model
def recurrent():
    x = keras.Input((5,), dtype="int32")
    y = layers.Embedding(7, 3, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(2, return_sequences=True))(y)
    y = layers.TimeDistributed(layers.Dense(3))(y)
    y = layers.GRU(3, return_sequences=True, reset_after=True)(y)
    made = keras.Model(x, layers.Dense(2)(layers.SimpleRNN(2)(y)))
    numbers = random.integers(1, 7, (4, 5)).astype("int32")
    numbers[:, 3:] = 0
    return made, [numbers], keras.optimizers.Nadam(0.01)


@model
def cells():
    cells = [layers.LSTMCell(2), layers.GRUCell(3)]
    made = keras.Sequential([
        keras.Input((4, 2)), layers.RNN(cells, return_sequences=True),
        layers.Conv1D(2, 2, dilation_rate=2), layers.Flatten(), layers.Dense(2),
    ])  # fmt: skip
    return made, [floats(4, 2)], keras.optimizers.Adagrad(0.01)


@model
def attention():
    x = keras.Input((4, 6))
    y = layers.MultiHeadAttention(2, 3)(x, x)
    y = layers.LayerNormalization(epsilon=1e-5)(layers.Add()([x, y]))
    z = layers.Attention(use_scale=True)([y, y])
    z = layers.Dense(6, activation="swish")(layers.Dense(5, activation="softplus")(z))
    made = keras.Model(x, layers.Dense(2)(layers.GlobalAveragePooling1D()(z)))
    return made, [floats(4, 6)], keras.optimizers.Adam(0.01, amsgrad=True)


@model
def shapes():
    x = keras.Input((4, 6))
    y = layers.Permute((2, 1))(x)
    y = layers.PReLU(shared_axes=[1])(layers.Reshape((8, 3))(y))
    y = layers.LeakyReLU()(layers.ELU(alpha=0.5)(y))
    y = layers.GaussianNoise(0.1)(layers.SpatialDropout1D(0.1)(y))
    y = layers.RepeatVector(2)(layers.Flatten()(y))
    y = layers.Softmax(axis=-1)(layers.UnitNormalization()(layers.Dense(3)(y)))
    made = keras.Model(x, layers.Dense(2)(layers.Flatten()(y)))
    return made, [floats(4, 6)], keras.optimizers.Adadelta(0.5)


@model
def normalized():
    normalization = layers.Normalization()
    normalization.adapt(floats(3) * 3 + 1)
    made = keras.Sequential([
        keras.Input((3,)), normalization, layers.Rescaling(0.5, offset=1.0),
        layers.Dense(4, kernel_constraint=keras.constraints.MaxNorm(1.0)),
        layers.GroupNormalization(2), layers.Dense(2, kernel_initializer="orthogonal"),
    ])  # fmt: skip
    rate = keras.optimizers.schedules.ExponentialDecay(0.01, 10, 0.5)
    return made, [floats(3)], keras.optimizers.Ftrl(rate)


@model
def ema():
    made = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    optimizer = keras.optimizers.Adam(
        0.01, use_ema=True, ema_momentum=0.5, global_clipnorm=0.1, beta_1=0.5
    )
    return made, [floats(3)], optimizer


def main(output):
    global keras, layers
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    keras = import_module("tf_keras" if "tf_keras" in sys.argv else "keras")
    layers, values = keras.layers, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, function in MODELS.items():
            keras.utils.set_random_seed(1)
            made, inputs, optimizer = function()
            made.compile(optimizer, "mse", metrics=["mae"])
            target = random.normal(size=(4, 2)).astype("float32")
            fed = inputs if len(inputs) > 1 else inputs[0]
            random_layers = (layers.Dropout, layers.GaussianNoise, layers.SpatialDropout1D)
            draws = any(isinstance(layer, random_layers) for layer in made.layers)
            made.train_on_batch(fed, target)
            values.update({f"{name}/x{i}": x for i, x in enumerate(inputs)})
            values[f"{name}/t"], values[f"{name}/y"] = target, made.predict(fed, verbose=0)
            for ending in (".keras", ".h5", ".weights.h5"):
                path = os.path.join(folder, name + ending)  # noqa: PTH118 (runs with old Pythons too)
                try:
                    made.save_weights(path) if ending == ".weights.h5" else made.save(path)
                except (ValueError, NotImplementedError) as error:
                    print(f"{name}{ending} cannot be written by this Keras: {error!r:.90}")
                    os.remove(path)  # noqa: PTH107
            if not draws:
                made.train_on_batch(fed, target)
                values[f"{name}/z"] = made.predict(fed, verbose=0)
        np.savez(os.path.join(folder, "values.npz"), **values)  # noqa: PTH118
        with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for file in sorted(os.listdir(folder)):  # noqa: PTH208
                archive.write(os.path.join(folder, file), file)  # noqa: PTH118
    print(keras.__version__, len(MODELS), "models,", os.path.getsize(output), "bytes")  # noqa: PTH202


if __name__ == "__main__":
    main(sys.argv[-1])
