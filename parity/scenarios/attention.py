"""Attention, embedding and einsum layers, with and without padding, inside models that train."""

import numpy as np

from parity.scenarios.problems import Fit, compiled, seeded, sgd

LENGTH, WORDS = 6, 12


def sentences(rows=32, padded=True):
    """Numbers of words, padded with 0, and a class for each sentence."""
    rng = np.random.default_rng(7)
    x = rng.integers(1, WORDS, (rows, LENGTH))
    if padded:
        x *= np.arange(LENGTH) < rng.integers(2, LENGTH + 1, (rows, 1))
    return x, (x.sum(axis=1) // 9) % 3


def whole_sentences():
    return sentences(padded=False)


def series(rows=32):
    """Vectors in a row, and a target for each row."""
    x = np.random.default_rng(8).normal(size=(rows, LENGTH, 4)).astype("float32")
    return x, np.tanh(x.sum(axis=(1, 2), keepdims=False)[:, None]).astype("float32")


def of_words(attend, mask_zero=True):
    """Embedding, what `attend(layers, hidden)` makes of it, mean, three classes."""

    def model(keras):
        layers = keras.layers
        words = keras.Input((LENGTH,), dtype="int32")
        hidden = layers.Embedding(WORDS, 8, mask_zero=mask_zero, name="words")(words)
        hidden = layers.GlobalAveragePooling1D(name="mean")(attend(layers, hidden))
        return seeded(keras.Model(words, layers.Dense(3, name="head")(hidden)))

    return model


def of_series(attend):
    def model(keras):
        layers = keras.layers
        inputs = keras.Input((LENGTH, 4))
        hidden = layers.Flatten()(attend(layers, inputs))
        return seeded(keras.Model(inputs, layers.Dense(1, name="head")(hidden)))

    return model


def heads(call=None, **options):
    def attend(layers, x):
        layer = layers.MultiHeadAttention(2, 4, name="attention", **options)
        return layer(x, x, **(call or {}))

    return attend


def groups(layers, x):
    return layers.GroupQueryAttention(4, 4, 2, use_gate=True, name="attention")(x, x)


def residual(layers, x):
    """A block of a transformer, normalised first."""
    normal = layers.LayerNormalization(name="norm0")(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 4, name="attention")(normal, normal)])
    wide = layers.Dense(16, activation="gelu", name="up")(
        layers.LayerNormalization(name="norm1")(x)
    )
    return layers.Add()([x, layers.Dense(x.shape[-1], name="down")(wide)])


WORD_MODELS = {
    "embedding": lambda layers, x: x,
    "heads": heads(),
    "causal heads": heads({"use_causal_mask": True}),
    "heads with a gate": heads(use_bias=False, use_gate=True),
    "heads in a window": heads(sliding_window=2),
    "groups of heads": groups,
    "dot product": lambda layers, x: layers.Attention(use_scale=True, name="attention")([x, x]),
    "concat": lambda layers, x: layers.Attention(score_mode="concat", name="attention")([x, x]),
    "additive": lambda layers, x: layers.AdditiveAttention(name="attention")([x, x]),
    "block": residual,
}

SERIES_MODELS = {
    "heads": heads(),
    "heads of more outputs": heads(output_shape=(2, 3)),
    "block": residual,
    "einsum": lambda layers, x: layers.EinsumDense(
        "abc,bcd->abd", (LENGTH, 5), bias_axes="bd", activation="tanh", kernel_regularizer="l2",
        name="each place its own",
    )(x),
    "dot": lambda layers, x: layers.Dot(2, normalize=True)(
        [layers.Dense(3, name="left")(x), layers.Dense(3, name="right")(x)]
    ),
}  # fmt: skip


def _classes(keras):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _sgd(keras):
    return sgd(keras, 0.5)  # not Adam: the bias of the keys has no gradient but rounding errors


def _regularized(keras):
    layers = keras.layers
    words = keras.Input((LENGTH,), dtype="int32")
    table = layers.Embedding(
        WORDS, 8, embeddings_regularizer="l2", embeddings_constraint="unit_norm", name="words"
    )
    return seeded(keras.Model(words, layers.Dense(3, name="head")(layers.Flatten()(table(words)))))


def _tied(keras):
    """Words to words, by one table both ways."""

    class Words(keras.Model):
        def __init__(self):
            super().__init__()
            self.table = keras.layers.ReversibleEmbedding(WORDS, 8, logit_soft_cap=5.0)
            self.attention = keras.layers.MultiHeadAttention(2, 4)

        def call(self, x):
            x = self.table(x)
            return self.table(self.attention(x, x, use_causal_mask=True), reverse=True)

    model = Words()
    model(sentences()[0][:2])
    return seeded(model)


def _next_words():
    x, _ = whole_sentences()
    return x, np.roll(x, -1, axis=1)


def scenarios():
    to_classes = compiled(loss=_classes, optimizer=_sgd)
    slow = compiled(optimizer=lambda keras: sgd(keras, 0.02))
    for name, attend in WORD_MODELS.items():
        yield f"words, {name}", Fit(to_classes, sentences, of_words(attend))
    yield "words without padding", Fit(to_classes, whole_sentences, of_words(heads(), False))
    for name, attend in SERIES_MODELS.items():
        yield f"series, {name}", Fit(slow, series, of_series(attend))
    yield "a table with penalty and constraint", Fit(to_classes, sentences, _regularized)
    yield "tied words", Fit(to_classes, _next_words, _tied)
