"""A block of MobileViT, translation by words, transformers of time series, neural style."""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import error_rate, images, program
from tests.programs.texts import TokenAndPositionEmbedding, TransformerBlock

# ---- MobileViT -----------------------------------------------------------------------------------


def conv_block(x, filters, kernel_size=3, strides=1):
    h = layers.Conv2D(
        filters, kernel_size, strides=strides, padding="same", activation=keras.activations.swish
    )
    return h(x)


def inverted_residual(x, expanded, filters):
    m = layers.Conv2D(expanded, 1, padding="same", use_bias=False)(x)
    m = keras.activations.swish(layers.BatchNormalization(momentum=0.9)(m))
    m = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(m)
    m = keras.activations.swish(layers.BatchNormalization(momentum=0.9)(m))
    m = layers.BatchNormalization(momentum=0.9)(
        layers.Conv2D(filters, 1, padding="same", use_bias=False)(m)
    )
    return layers.Add()([m, x]) if x.shape[-1] == filters else m


def mobilevit_block(x, num_blocks, projection_dim, patch_size=4):
    """Pixels at the same place of all patches attend to each other, between convolutions."""
    local_features = conv_block(conv_block(x, projection_dim), projection_dim, kernel_size=1)
    num_patches = local_features.shape[1] * local_features.shape[2] // patch_size
    h = layers.Reshape((patch_size, num_patches, projection_dim))(local_features)
    for _ in range(num_blocks):
        normal = layers.LayerNormalization(epsilon=1e-6)(h)
        attended = layers.MultiHeadAttention(num_heads=2, key_dim=projection_dim)(normal, normal)
        h = layers.Add()([attended, h])
        ffn = layers.Dense(projection_dim * 2, activation=keras.activations.swish)
        h = layers.Add()([layers.Dense(projection_dim)(ffn(h)), h])
    folded = layers.Reshape((*local_features.shape[1:-1], projection_dim))(h)
    joined = layers.Concatenate(axis=-1)([x, conv_block(folded, x.shape[-1], kernel_size=1)])
    return conv_block(joined, projection_dim)


@program(share=0.4)
def mobile_vit():
    x, y = images(900)
    inputs = keras.Input((8, 8, 1))
    h = layers.Rescaling(scale=2.0, offset=-1.0)(inputs)
    h = inverted_residual(conv_block(h, 12), expanded=24, filters=12)
    h = mobilevit_block(h, num_blocks=1, projection_dim=16)
    outputs = layers.Dense(10, activation="softmax")(layers.GlobalAvgPool2D()(h))
    model = keras.Model(inputs, outputs)
    model.compile(
        keras.optimizers.Adam(0.01),
        keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    model.fit(x[:700], y[:700], batch_size=32, epochs=8, verbose=0)
    return error_rate(model, x[700:], y[700:])


# ---- translation by words ------------------------------------------------------------------------

NOUNS, ADJECTIVES = 8, 8


class TransformerDecoder(layers.Layer):
    """Causal attention, then attention to the encoder's outputs."""

    def __init__(self, embed_dim, latent_dim, num_heads, **kwargs):
        super().__init__(**kwargs)
        self.attention_1 = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.attention_2 = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.dense_proj = keras.Sequential(
            [layers.Dense(latent_dim, activation="relu"), layers.Dense(embed_dim)]
        )
        self.layernorm_1 = layers.LayerNormalization()
        self.layernorm_2 = layers.LayerNormalization()
        self.layernorm_3 = layers.LayerNormalization()

    def call(self, inputs, mask=None):
        inputs, encoder_outputs = inputs
        attention_output_1 = self.attention_1(
            query=inputs, value=inputs, key=inputs, use_causal_mask=True
        )
        out_1 = self.layernorm_1(inputs + attention_output_1)
        attention_output_2 = self.attention_2(
            query=out_1, value=encoder_outputs, key=encoder_outputs
        )
        out_2 = self.layernorm_2(out_1 + attention_output_2)
        return self.layernorm_3(out_2 + self.dense_proj(out_2))


def sentence_pairs(rows, seed):
    """Sentences of phrases "red house"; in the other language the noun stands first."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(rows):
        adjectives, nouns = (rng.integers(0, n, 2) for n in (ADJECTIVES, NOUNS))
        source = " ".join(f"adj{a} noun{n}" for a, n in zip(adjectives, nouns, strict=True))
        target = " ".join(f"nom{n} epi{a}" for a, n in zip(adjectives, nouns, strict=True))
        pairs.append((source, f"[start] {target} [end]"))
    return pairs


@program(share=0.4)
def word_translation():
    """A transformer with encoder and decoder; the error is the share of wrong words, decoded."""
    pairs, tests = sentence_pairs(500, 0), sentence_pairs(40, 1)
    source_words = layers.TextVectorization(output_mode="int", output_sequence_length=4)
    target_words = layers.TextVectorization(
        output_mode="int", output_sequence_length=7, standardize=None
    )
    source_words.adapt([pair[0] for pair in pairs])
    target_words.adapt([pair[1] for pair in pairs])

    def format_dataset(source, target):
        source, target = source_words(source), target_words(target)
        return {"encoder_inputs": source, "decoder_inputs": target[:, :-1]}, target[:, 1:]

    dataset = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*pairs, strict=True))))
    dataset = dataset.batch(50).map(format_dataset).cache().shuffle(10, seed=0)

    vocabulary = len(target_words.get_vocabulary())
    encoder_inputs = keras.Input(shape=(None,), dtype="int64", name="encoder_inputs")
    h = TokenAndPositionEmbedding(4, len(source_words.get_vocabulary()), 24)(encoder_inputs)
    encoder_outputs = TransformerBlock(24, 2, 32, rate=0.0)(h)
    decoder_inputs = keras.Input(shape=(None,), dtype="int64", name="decoder_inputs")
    h = TokenAndPositionEmbedding(6, vocabulary, 24)(decoder_inputs)
    h = TransformerDecoder(24, 32, 2)([h, encoder_outputs])
    outputs = layers.Dense(vocabulary, activation="softmax")(h)
    transformer = keras.Model(
        {"encoder_inputs": encoder_inputs, "decoder_inputs": decoder_inputs}, outputs
    )
    transformer.compile(
        keras.optimizers.RMSprop(0.005),
        keras.losses.SparseCategoricalCrossentropy(ignore_class=0),
    )
    transformer.fit(dataset, epochs=12, verbose=0)

    names = target_words.get_vocabulary()
    source = source_words([pair[0] for pair in tests])
    decoded = ["[start]"] * len(tests)
    for i in range(5):
        tokens = target_words(decoded)[:, :-1]
        predictions = transformer.predict(
            {"encoder_inputs": source, "decoder_inputs": tokens}, verbose=0
        )
        chosen = predictions[:, i].argmax(-1)
        decoded = [f"{text} {names[n]}" for text, n in zip(decoded, chosen, strict=True)]
    pairs = zip(decoded, tests, strict=True)
    wrong = [a != b for text, (_, true) in pairs for a, b in zip(text.split(), true.split()[:6])]
    return np.mean(wrong) * 6 / 5, 1 - 1 / NOUNS  # the first word is given


# ---- time series ---------------------------------------------------------------------------------


def transformer_encoder(inputs, head_size, num_heads, ff_dim, dropout=0.0):
    x = layers.MultiHeadAttention(key_dim=head_size, num_heads=num_heads, dropout=dropout)(
        inputs, inputs
    )
    x = layers.LayerNormalization(epsilon=1e-6)(layers.Dropout(dropout)(x))
    res = x + inputs
    x = layers.Conv1D(filters=ff_dim, kernel_size=1, activation="relu")(res)
    x = layers.Conv1D(filters=inputs.shape[-1], kernel_size=1)(layers.Dropout(dropout)(x))
    return layers.LayerNormalization(epsilon=1e-6)(x) + res


@program(share=0.4)
def timeseries_transformer():
    """Series of noise; in one class the second half repeats the first."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    x = rng.normal(size=(900, 16)).astype("float32")
    waves = np.sin(
        np.arange(16) * np.where(y == 1, 1.3, 0.9)[:, None] + rng.uniform(0, 6, (900, 1))
    )
    x = (0.5 * x + waves).astype("float32")[..., None]
    inputs = keras.Input(shape=x.shape[1:])
    h = layers.Conv1D(12, 3, padding="same")(inputs)
    for _ in range(2):
        h = transformer_encoder(h, head_size=8, num_heads=2, ff_dim=12, dropout=0.05)
    h = layers.GlobalAveragePooling1D(data_format="channels_last")(h)
    h = layers.Dropout(0.1)(layers.Dense(24, activation="relu")(h))
    model = keras.Model(inputs, layers.Dense(2, activation="softmax")(h))
    model.compile(
        loss="sparse_categorical_crossentropy",
        optimizer=keras.optimizers.Adam(learning_rate=0.005),
        metrics=["sparse_categorical_accuracy"],
    )
    callbacks = [keras.callbacks.EarlyStopping(patience=10, restore_best_weights=True)]
    model.fit(
        x[:700], y[:700], validation_split=0.2, epochs=15, batch_size=64, callbacks=callbacks,
        verbose=0,
    )  # fmt: skip
    return error_rate(model, x[700:], y[700:])


# ---- neural style --------------------------------------------------------------------------------


def gram_matrix(x):
    features = ops.reshape(ops.transpose(x, (2, 0, 1)), (x.shape[2], -1))
    return ops.matmul(features, ops.transpose(features))


def style_loss(style, combination):
    size = style.shape[0] * style.shape[1]
    difference = ops.square(gram_matrix(style) - gram_matrix(combination))
    return ops.sum(difference) / (4.0 * style.shape[2] ** 2 * size**2)


def total_variation_loss(x):
    down = ops.square(x[:, :-1, :-1] - x[:, 1:, :-1])
    across = ops.square(x[:, :-1, :-1] - x[:, :-1, 1:])
    return ops.sum(ops.power(down + across + 1e-8, 1.25))


@program(share=0.5)
def neural_style():
    """One digit in the strokes of another; the error is the loss, the baseline its start."""
    x, y = images(600)
    network = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(8, 3, activation="relu", padding="same", name="block1_conv1"),
            layers.Conv2D(12, 3, activation="relu", padding="same", name="block2_conv1"),
            layers.GlobalMaxPooling2D(),
            layers.Dense(10),
        ]
    )
    network.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    network.fit(x, y, batch_size=32, epochs=3, verbose=0)
    outputs_dict = {layer.name: layer.output for layer in network.layers}
    feature_extractor = keras.Model(inputs=network.inputs, outputs=outputs_dict)
    base_image, style_reference_image = x[y == 1][:1], x[y == 0][:1]

    def compute_loss(combination_image):
        batch = ops.concatenate([base_image, style_reference_image, combination_image], axis=0)
        features = feature_extractor(batch)
        content = features["block2_conv1"]
        loss = 0.005 * ops.sum(ops.square(content[2] - content[0]))
        for name in ("block1_conv1", "block2_conv1"):
            loss += style_loss(features[name][1], features[name][2])
        return loss + 1e-3 * total_variation_loss(combination_image)

    @tf.function
    def compute_loss_and_grads(combination_image):
        with tf.GradientTape() as tape:
            loss = compute_loss(combination_image)
        return loss, tape.gradient(loss, combination_image)

    combination_image = tf.Variable(base_image)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=50, decay_rate=0.8)
    optimizer = keras.optimizers.Adam(schedule)
    losses = []
    for _ in range(150):
        loss, grads = compute_loss_and_grads(combination_image)
        optimizer.apply_gradients([(grads, combination_image)])
        losses.append(float(loss))
    return losses[-1], losses[0]
