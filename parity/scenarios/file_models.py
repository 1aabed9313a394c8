"""Models of every layer family, by name: each is made from a module called `keras`."""

import numpy as np


def inputs(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def ints(*shape, most=5):
    return np.random.default_rng(4).integers(0, most, shape).astype("int32")


def _stack(shape, *layers, dtype=None):
    """A model of layers, given as functions of `keras.layers`."""

    def make(keras):
        made = [layer(keras.layers) for layer in layers]
        return keras.Sequential([keras.Input(shape, dtype=dtype), *made])

    data = ints(6, *shape) if dtype == "int32" else inputs(6, *shape)
    return make, data


def _functional(name):
    return globals()[f"_{name}"]


def _activations(keras):
    names = (
        "relu", "tanh", "sigmoid", "softmax", "elu", "selu", "gelu", "silu", "softplus", "softsign",
        "hard_sigmoid", "mish", "leaky_relu", "log_softmax", "relu6", "celu",
    )  # fmt: skip
    x = keras.Input((4,))
    y = keras.layers.Concatenate()([keras.layers.Dense(2, name)(x) for name in names])
    return keras.Model(x, keras.layers.Dense(1)(y))


def _shared(keras):
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    dense = keras.layers.Dense(3, activation="tanh", name="shared")
    return keras.Model([a, b], keras.layers.Concatenate()([dense(a), dense(b), dense(a + b)]))


def _nested(keras):
    inner_input = keras.Input((4,))
    inner = keras.Model(inner_input, keras.layers.Dense(4, "tanh")(inner_input), name="inner")
    stack = keras.Sequential([keras.layers.Dense(5), keras.layers.LayerNormalization()], name="st")
    x = keras.Input((4,))
    return keras.Model(x, keras.layers.Dense(2)(stack(inner(inner(x)))))


def _nested_output(keras):
    inner_input = keras.Input((4,))
    inner = keras.Model(inner_input, keras.layers.Dense(4, "tanh")(inner_input), name="inner")
    x = keras.Input((4,))
    return keras.Model(x, [inner(x), inner(inner(x))])


def _operators(keras):
    x = keras.Input((4,))
    y = keras.layers.Dense(6)(x)
    y = keras.ops.relu(y[:, :3]) * 2.0 + keras.ops.mean(y, axis=-1, keepdims=True)
    y = keras.ops.concatenate([y, x, -x, 1 - x / 3], axis=1)
    y = keras.ops.reshape(y, (-1, 5, 3))
    y = keras.ops.transpose(keras.ops.softmax(y, axis=-1), (0, 2, 1))
    y = keras.ops.matmul(y, keras.ops.expand_dims(keras.layers.Dense(5)(x), -1)) ** 2
    y = keras.ops.where(y > 0.1, y, keras.ops.sqrt(keras.ops.abs(y)))
    return keras.Model(x, keras.ops.sum(keras.ops.squeeze(y, -1), axis=1, keepdims=True))


def _outputs_by_name(keras):
    x = {"a": keras.Input((4,), name="a"), "b": keras.Input((2,), name="b")}
    y = keras.layers.Dense(3, name="hidden")(keras.layers.concatenate([x["a"], x["b"]]))
    dense = keras.layers.Dense
    return keras.Model(x, {"p": dense(1, name="p")(y), "q": dense(2, name="q")(y)})


def _merging(keras):
    layers = keras.layers
    x = keras.Input((4,))
    a, b = layers.Dense(5, "tanh")(x), layers.Dense(5, "sigmoid")(x)
    both = [getattr(layers, name)()([a, b]) for name in (
        "Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"
    )]  # fmt: skip
    both.append(layers.Dot(axes=1)([a, b]))
    return keras.Model(x, layers.Dense(2)(layers.Concatenate()(both)))


def _attention(keras):
    x = keras.Input((3, 4))
    layers = keras.layers
    y = layers.MultiHeadAttention(2, 3)(x, x)
    y = layers.LayerNormalization()(x + y)
    y = layers.Attention(use_scale=True)([y, y])
    y = layers.AdditiveAttention()([y, y])
    return keras.Model(x, layers.GroupQueryAttention(2, 2, 1)(y, y))


def _causal(keras):
    x, memory = keras.Input((3, 4)), keras.Input((5, 4))
    attention = keras.layers.MultiHeadAttention(2, 3)
    y = attention(x, x, use_causal_mask=True)
    return keras.Model([x, memory], keras.layers.MultiHeadAttention(1, 2)(y, value=memory))


def _states(keras):
    x = keras.Input((3, 4))
    y, *states = keras.layers.LSTM(3, return_sequences=True, return_state=True)(x)
    return keras.Model(x, keras.layers.LSTM(3)(y, initial_state=states))


def _tied(keras):
    x = keras.Input((3,), dtype="int32")
    embedding = keras.layers.ReversibleEmbedding(5, 4)
    return keras.Model(x, embedding(embedding(x), reverse=True))


def _masked(keras):
    x = keras.Input((4,), dtype="int32")
    y = keras.layers.Embedding(5, 3, mask_zero=True)(x)
    return keras.Model(x, keras.layers.GRU(3)(y))


def _words(keras):
    layer = keras.layers.StringLookup(vocabulary=["a", "b", "c"])
    x = keras.Input((2,), dtype="string")
    return keras.Model(x, layer(x))


def _residual(keras):
    x = y = keras.Input((6, 6, 3))
    for _ in range(2):
        z = keras.layers.BatchNormalization()(keras.layers.Conv2D(3, 3, padding="same")(y))
        y = keras.layers.add([y, keras.layers.Activation("relu")(z)])
    return keras.Model(x, keras.layers.Dense(2)(keras.layers.GlobalMaxPooling2D()(y)))


def _deep_nests(keras):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, "tanh")])
    for _ in range(3):
        x = keras.Input((4,))
        model = keras.Model(x, keras.layers.Dense(4)(model(x)) + x)
    return keras.Sequential([keras.Input((4,)), model, keras.layers.Dense(1)])


def _encoder_decoder(keras):
    layers = keras.layers
    source, target = keras.Input((3, 4)), keras.Input((2, 4))
    _, state = layers.GRU(3, return_state=True)(source)
    y = layers.GRU(3, return_sequences=True)(target, initial_state=state)
    return keras.Model([source, target], layers.TimeDistributed(layers.Dense(2))(y))


def _binned(keras):
    x = keras.Input((4,))
    y = keras.layers.Discretization([-1.0, 0.0, 1.0], output_mode="multi_hot")(x)
    return keras.Model(x, keras.layers.Dense(2)(y))


def _encoded(keras):
    x = keras.Input((3,), dtype="int32")
    y = keras.layers.CategoryEncoding(5, output_mode="multi_hot")(x)
    return keras.Model(x, keras.layers.Dense(2)(y))


def _looked_up(keras):
    x = keras.Input((3,), dtype="int64")
    y = keras.layers.IntegerLookup(vocabulary=[1, 3, 4], output_mode="multi_hot")(x)
    return keras.Model(x, keras.layers.Dense(2)(y))


def _transformer(keras):
    layers = keras.layers
    x = keras.Input((4,), dtype="int32")
    y = layers.Embedding(5, 6)(x)
    for _ in range(2):
        z = layers.MultiHeadAttention(2, 3)(layers.LayerNormalization()(y), y)
        y = y + z
        z = layers.Dense(6)(layers.Dense(8, "gelu")(layers.LayerNormalization()(y)))
        y = layers.Add()([y, z])
    return keras.Model(x, layers.Dense(3)(layers.GlobalAveragePooling1D()(y)))


def _sliced(keras):
    x = keras.Input((6, 4))
    y = keras.layers.Dense(4)(x[:, ::2])
    y = keras.ops.concatenate([y[:, 0], y[:, -1], keras.ops.max(x, axis=1)], axis=-1)
    return keras.Model(x, keras.ops.log_softmax(keras.ops.tanh(y) * keras.ops.exp(-y)))


def _math(keras):
    ops, x = keras.ops, keras.Input((4,))
    y = keras.layers.Dense(4)(x)
    y = ops.stack([ops.sigmoid(y), ops.maximum(y, 0.5), ops.clip(y, -1.0, 1.0)], axis=1)
    a, b, c = ops.split(y, 3, axis=1)
    y = ops.square(a) + ops.log(ops.exp(b) + 1.0) - ops.minimum(c, 0.25)
    y = ops.flip(ops.roll(ops.pad(ops.squeeze(y, 1), [[0, 0], [1, 1]]), 1, axis=1), axis=1)
    return keras.Model(x, ops.take(y, [0, 2, 4], axis=1) / (1.0 + ops.abs(ops.sin(y[:, :3]))))


def _policies(keras):
    return keras.Sequential([
        keras.Input((4,)),
        keras.layers.Dense(3, dtype="float64"),
        keras.layers.Dense(2, dtype=keras.DTypePolicy("float32")),
    ])  # fmt: skip


def _options(keras):
    return keras.Sequential([
        keras.Input((4,)),
        keras.layers.Dense(
            3, kernel_regularizer=keras.regularizers.L1L2(0.1, 0.2), bias_regularizer="l2",
            kernel_constraint=keras.constraints.MaxNorm(2.0), bias_constraint="non_neg",
            kernel_initializer=keras.initializers.HeNormal(seed=3),
            bias_initializer=keras.initializers.Constant(0.5), activity_regularizer="l1",
        ),
        keras.layers.Dense(2, use_bias=False, trainable=False),
    ])  # fmt: skip


def table():
    """{name: (make(keras), inputs)}"""
    two = [inputs(6, 4), inputs(6, 4, seed=5)]
    found = {
        "dense": _stack((4,), *[lambda L: L.Dense(3, "relu")] * 2),
        "activations": (_activations, inputs(6, 4)),
        "activation layers": _stack(
            (4,), lambda L: L.Dense(6), lambda L: L.LeakyReLU(0.2), lambda L: L.PReLU(),
            lambda L: L.ELU(0.5), lambda L: L.ReLU(max_value=2.0), lambda L: L.Activation("tanh"),
            lambda L: L.Softmax(), lambda L: L.Dense(1),
        ),
        "dropouts": _stack(
            (4,), lambda L: L.Dense(4), lambda L: L.Dropout(0.0), lambda L: L.GaussianNoise(0.0),
            lambda L: L.GaussianDropout(0.0), lambda L: L.AlphaDropout(0.0),
            lambda L: L.ActivityRegularization(0.1, 0.2), lambda L: L.Identity(),
        ),
        "normalizations": _stack(
            (4,), lambda L: L.Dense(4), lambda L: L.BatchNormalization(),
            lambda L: L.LayerNormalization(), lambda L: L.GroupNormalization(2),
            lambda L: L.RMSNormalization(), lambda L: L.UnitNormalization(),
        ),
        "spectral": _stack((4,), lambda L: L.SpectralNormalization(L.Dense(3))),
        "conv1d": _stack(
            (8, 2), lambda L: L.Conv1D(3, 2, padding="causal", dilation_rate=2),
            lambda L: L.SeparableConv1D(4, 2), lambda L: L.DepthwiseConv1D(2),
            lambda L: L.Conv1DTranspose(2, 3, strides=2), lambda L: L.GlobalMaxPooling1D(),
        ),
        "conv2d": _stack(
            (8, 8, 2), lambda L: L.Conv2D(4, 3, strides=2, padding="same", groups=2),
            lambda L: L.SeparableConv2D(3, 2, depth_multiplier=2), lambda L: L.DepthwiseConv2D(2),
            lambda L: L.Conv2DTranspose(2, 2), lambda L: L.GlobalAveragePooling2D(),
        ),
        "conv3d": _stack(
            (4, 4, 4, 1), lambda L: L.Conv3D(2, 2), lambda L: L.Conv3DTranspose(2, 2),
            lambda L: L.GlobalAveragePooling3D(keepdims=True),
        ),
        "pooling": _stack(
            (8, 8, 2), lambda L: L.Conv2D(2, 1), lambda L: L.MaxPooling2D(2),
            lambda L: L.AveragePooling2D(2, strides=1), lambda L: L.ZeroPadding2D(1),
            lambda L: L.Cropping2D(((1, 0), (0, 1))), lambda L: L.UpSampling2D(2),
            lambda L: L.Flatten(), lambda L: L.Dense(1),
        ),
        "pooling 1d": _stack(
            (8, 2), lambda L: L.Conv1D(2, 1), lambda L: L.MaxPooling1D(),
            lambda L: L.UpSampling1D(), lambda L: L.AveragePooling1D(2),
            lambda L: L.ZeroPadding1D(1), lambda L: L.Cropping1D(1),
            lambda L: L.GlobalAveragePooling1D(),
        ),
        "reshaping": _stack(
            (6,), lambda L: L.Dense(6), lambda L: L.Reshape((2, 3)), lambda L: L.Permute((2, 1)),
            lambda L: L.Flatten(), lambda L: L.RepeatVector(2), lambda L: L.Rescaling(2.0, 1.0),
        ),
        "einsum": _stack(
            (3, 4), lambda L: L.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d")
        ),
        "embedding": _stack((3,), lambda L: L.Embedding(5, 4), lambda L: L.Flatten(),
                            lambda L: L.Dense(1), dtype="int32"),
        "lstm": _stack((3, 4), lambda L: L.LSTM(3, return_sequences=True),
                       lambda L: L.LSTM(2, use_bias=False, go_backwards=True)),
        "gru": _stack((3, 4), lambda L: L.GRU(3, return_sequences=True),
                      lambda L: L.GRU(2, reset_after=False)),
        "simple rnn": _stack((3, 4), lambda L: L.SimpleRNN(3, return_sequences=True),
                             lambda L: L.SimpleRNN(2, activation="relu")),
        "bidirectional": _stack(
            (3, 4), lambda L: L.Bidirectional(L.LSTM(2, return_sequences=True)),
            lambda L: L.Bidirectional(L.GRU(3), merge_mode="sum"),
        ),
        "cells": _stack(
            (3, 4), lambda L: L.RNN([L.GRUCell(3), L.LSTMCell(2)], return_sequences=True),
            lambda L: L.RNN(L.SimpleRNNCell(2)),
        ),
        "time distributed": _stack((3, 4), lambda L: L.TimeDistributed(L.Dense(2))),
        "conv lstm": _stack((2, 5, 5, 1), lambda L: L.ConvLSTM2D(2, 2), lambda L: L.Flatten()),
        "conv lstm 1d": _stack((2, 5, 1), lambda L: L.ConvLSTM1D(2, 2), lambda L: L.Flatten()),
        "masking": _stack((3, 4), lambda L: L.Masking(), lambda L: L.LSTM(2)),
        "normalization": _stack(
            (4,), lambda L: L.Normalization(mean=[0.1] * 4, variance=[2.0] * 4),
            lambda L: L.Dense(2),
        ),
        "shared": (_shared, two),
        "causal attention": (_causal, [inputs(6, 3, 4), inputs(6, 5, 4)]),
        "outputs by name": (_outputs_by_name, {"a": inputs(6, 4), "b": inputs(6, 2)}),
        "tied": (_tied, ints(6, 3)),
        "masked": (_masked, ints(6, 4)),
        "attention": (_attention, inputs(6, 3, 4)),
        "states": (_states, inputs(6, 3, 4)),
    }  # fmt: skip
    more = {
        "adaptive pooling": _stack(
            (8, 8, 2), lambda L: L.Conv2D(2, 1), lambda L: L.AdaptiveAveragePooling2D(4),
            lambda L: L.AdaptiveMaxPooling2D((2, 1)), lambda L: L.Flatten(),
        ),
        "upsampling": _stack(
            (4, 4, 2), lambda L: L.UpSampling2D(2, interpolation="bilinear"),
            lambda L: L.Conv2D(2, 2, strides=2), lambda L: L.GlobalAveragePooling2D(),
        ),
        "spatial dropouts": _stack(
            (4, 4, 2), lambda L: L.Conv2D(2, 2), lambda L: L.SpatialDropout2D(0.0),
            lambda L: L.Flatten(), lambda L: L.Dense(1),
        ),
        "pooling 3d": _stack(
            (4, 4, 4, 2), lambda L: L.Conv3D(2, 1), lambda L: L.MaxPooling3D(2),
            lambda L: L.AveragePooling3D(2), lambda L: L.Flatten(),
        ),
        "batch norm without scale": _stack(
            (3, 4), lambda L: L.BatchNormalization(axis=1, scale=False, momentum=0.5),
            lambda L: L.LayerNormalization(axis=[1, 2], center=False), lambda L: L.Dense(2),
        ),
        "masked bidirectional": _stack(
            (4, 3), lambda L: L.Masking(), lambda L: L.Bidirectional(
                L.GRU(2, return_sequences=True), backward_layer=L.LSTM(
                    2, return_sequences=True, go_backwards=True)),
            lambda L: L.SimpleRNN(2),
        ),
        "conv lstm 3d": _stack(
            (2, 3, 3, 3, 1), lambda L: L.ConvLSTM3D(1, 2), lambda L: L.Flatten()
        ),
        "spectral conv": _stack(
            (4, 4, 2), lambda L: L.SpectralNormalization(L.Conv2D(2, 2), power_iterations=2),
            lambda L: L.GlobalAveragePooling2D(),
        ),
        "residual": (_residual, inputs(6, 6, 6, 3)),
        "encoder decoder": (_encoder_decoder, [inputs(6, 3, 4), inputs(6, 2, 4)]),
        "encoded": (_encoded, ints(6, 3)),
        "looked up": (_looked_up, ints(6, 3).astype("int64")),
        "transformer": (_transformer, ints(6, 4)),
        "sliced": (_sliced, inputs(6, 6, 4)),
    }  # fmt: skip
    found |= more
    for name in ("deep_nests", "binned", "math"):
        found[name.replace("_", " ")] = _functional(name), inputs(6, 4)
    for name in ("nested", "nested_output", "operators", "merging", "policies", "options"):
        found[name.replace("_", " ")] = _functional(name), inputs(6, 4)
    return found
