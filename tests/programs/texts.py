"""Sequences: recurrent networks, transformers, sequence to sequence, named entities, GPT."""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import error_rate, program

WORDS = 60


def reviews(rows, seed):
    """Return padded sequences of words and their labels: more words below 10 than from 10 to 20."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(rows):
        text = rng.integers(20, WORDS, rng.integers(10, 24))
        good, bad = rng.choice([(3, 1), (1, 3), (2, 0), (0, 2)])
        places = rng.permutation(len(text))[: good + bad]
        text[places[:good]] = rng.integers(1, 10, good)
        text[places[good:]] = rng.integers(10, 20, bad)
        texts.append(text.tolist())
        labels.append(int(good > bad))
    return keras.utils.pad_sequences(texts, maxlen=24), np.array(labels)


@program(share=0.4)
def bidirectional_lstm():
    x, y = reviews(600, 0)
    inputs = keras.Input(shape=(None,), dtype="int32")
    h = layers.Embedding(WORDS, 16)(inputs)
    h = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(h)
    h = layers.Bidirectional(layers.LSTM(12))(h)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(h))
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=64, epochs=3, verbose=0)
    test_x, test_y = reviews(300, 1)
    _, accuracy = model.evaluate(test_x, test_y, verbose=0)
    return 1 - accuracy, 0.5


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1, causal=False):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = keras.Sequential(
            [layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)]
        )
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)
        self.causal = causal

    def call(self, inputs):
        attn_output = self.att(inputs, inputs, use_causal_mask=self.causal)
        out1 = self.layernorm1(inputs + self.dropout1(attn_output))
        ffn_output = self.dropout2(self.ffn(out1))
        return self.layernorm2(out1 + ffn_output)


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        maxlen = ops.shape(x)[-1]
        positions = ops.arange(start=0, stop=maxlen, step=1)
        return self.token_emb(x) + self.pos_emb(positions)


@program(share=0.4)
def text_classification_with_transformer():
    x, y = reviews(800, 0)
    inputs = layers.Input(shape=(24,))
    h = TokenAndPositionEmbedding(24, WORDS, 16)(inputs)
    h = TransformerBlock(16, 2, 16)(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dropout(0.1)(h)
    h = layers.Dense(20, activation="relu")(h)
    outputs = layers.Dense(2, activation="softmax")(h)
    model = keras.Model(inputs=inputs, outputs=outputs)
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    model.fit(x, y, batch_size=32, epochs=4, verbose=0)
    return error_rate(model, *reviews(300, 1))


@program(share=0.5)
def raw_text_classification():
    """Strings through TextVectorization, as part of the saved model."""
    x, y = reviews(600, 0)

    def as_text(rows):
        return [" ".join(f"w{word}" for word in row if word) for row in rows]

    vectorize = layers.TextVectorization(max_tokens=80, output_sequence_length=24)
    vectorize.adapt(as_text(x))
    inputs = keras.Input(shape=(1,), dtype="string")
    h = vectorize(inputs)
    h = layers.Embedding(80, 16)(h)
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(h)
    h = layers.GlobalMaxPooling1D()(h)
    h = layers.Dropout(0.2)(h)
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(h))
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    dataset = tf.data.Dataset.from_tensor_slices((as_text(x), y)).shuffle(600, seed=0).batch(32)
    model.fit(dataset, epochs=6, verbose=0)
    test_x, test_y = reviews(300, 1)
    test = tf.data.Dataset.from_tensor_slices((as_text(test_x), test_y)).batch(50)
    return 1 - model.evaluate(test, verbose=0)[1], 0.5


class CharacterTable:
    def __init__(self, chars):
        self.chars = sorted(set(chars))
        self.char_indices = {c: i for i, c in enumerate(self.chars)}

    def encode(self, texts, size):
        codes = [[self.char_indices[c] for c in text.ljust(size)] for text in texts]
        return np.eye(len(self.chars), dtype="float32")[codes]

    def decode(self, rows):
        return ["".join(self.chars[i] for i in row.argmax(-1)) for row in rows]


@program(share=0.5)
def addition_rnn():
    """Sequence to sequence: the characters of "7+15" to those of "22"; errors by character."""
    rng = np.random.default_rng(0)
    table = CharacterTable("0123456789+ ")
    pairs = rng.integers(0, 20, (1500, 2))
    questions = [f"{a}+{b}".ljust(5)[::-1] for a, b in pairs]
    x, y = table.encode(questions, 5), table.encode([str(a + b) for a, b in pairs], 2)
    model = keras.Sequential()
    model.add(layers.Input((5, len(table.chars))))
    model.add(layers.LSTM(64))
    model.add(layers.RepeatVector(2))
    model.add(layers.LSTM(64, return_sequences=True))
    model.add(layers.Dense(len(table.chars), activation="softmax"))
    model.compile("nadam", loss="categorical_crossentropy", metrics=["accuracy"])
    model.optimizer.learning_rate = 0.01
    model.fit(x[:1300], y[:1300], batch_size=64, epochs=16, verbose=0)
    wrong = model.predict(x[1300:], verbose=0).argmax(-1) != y[1300:].argmax(-1)
    constant = y[:1300].mean(0).argmax(-1)
    return wrong.mean(), (constant != y[1300:].argmax(-1)).mean()


@program(share=0.4)
def character_seq2seq():
    """An LSTM encoder's states start a decoder that is taught with the true previous character."""
    rng = np.random.default_rng(0)
    source = rng.integers(2, 10, (900, 5))
    target = source[:, ::-1] + 8  # "translate": the other alphabet, backwards
    starts, ends = np.full((900, 1), 0), np.full((900, 1), 1)
    decoder_in = np.concatenate([starts, target], 1)
    decoder_out = np.concatenate([target, ends], 1)
    eye = np.eye(18, dtype="float32")

    encoder_inputs = keras.Input(shape=(None, 18))
    encoder = layers.LSTM(40, return_state=True)
    _, state_h, state_c = encoder(encoder_inputs)
    decoder_inputs = keras.Input(shape=(None, 18))
    decoder_lstm = layers.LSTM(40, return_sequences=True, return_state=True)
    decoder_outputs, _, _ = decoder_lstm(decoder_inputs, initial_state=[state_h, state_c])
    decoder_dense = layers.Dense(18, activation="softmax")
    model = keras.Model([encoder_inputs, decoder_inputs], decoder_dense(decoder_outputs))
    model.compile(keras.optimizers.RMSprop(0.01), "categorical_crossentropy")
    model.fit(
        [eye[source], eye[decoder_in]], eye[decoder_out], batch_size=64, epochs=12,
        validation_split=0.1, verbose=0,
    )  # fmt: skip

    # Sampling: the layers' graph is read back, as programs do that load the model from a file.
    encoder_model = keras.Model(model.inputs[0], [state_h, state_c])
    input_h, input_c = keras.Input(shape=(40,)), keras.Input(shape=(40,))
    outputs, h, c = decoder_lstm(decoder_inputs, initial_state=[input_h, input_c])
    decoder_model = keras.Model([decoder_inputs, input_h, input_c], [decoder_dense(outputs), h, c])
    test = rng.integers(2, 10, (50, 5))
    states = encoder_model.predict(eye[test], verbose=0)
    token, written = np.zeros((50, 1), int), []
    for _ in range(5):
        tokens, *states = decoder_model.predict([eye[token], *states], verbose=0)
        token = tokens.argmax(-1)
        written.append(token[:, 0])
    return np.mean(np.stack(written, 1) != test[:, ::-1] + 8), 7 / 8


class NERModel(keras.Model):
    def __init__(self, num_tags, vocab_size, maxlen=16, embed_dim=16, num_heads=2, ff_dim=16):
        super().__init__()
        self.embedding_layer = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)
        self.transformer_block = TransformerBlock(embed_dim, num_heads, ff_dim)
        self.dropout1 = layers.Dropout(0.1)
        self.ff = layers.Dense(ff_dim, activation="relu")
        self.dropout2 = layers.Dropout(0.1)
        self.ff_final = layers.Dense(num_tags, activation="softmax")

    def call(self, inputs, training=False):
        x = self.embedding_layer(inputs)
        x = self.transformer_block(x)
        x = self.dropout1(x, training=training)
        x = self.ff(x)
        x = self.dropout2(x, training=training)
        return self.ff_final(x)


class CustomNonPaddingTokenLoss(keras.losses.Loss):
    def __init__(self, name="custom_ner_loss"):
        super().__init__(name=name)

    def call(self, y_true, y_pred):
        loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=False, reduction=None)
        loss = loss_fn(y_true, y_pred)
        mask = ops.cast(y_true > 0, dtype="float32")
        return ops.sum(loss * mask) / ops.sum(mask)


@program(share=0.4)
def named_entity_recognition():
    """A word's tag depends on the word and the kind of text: word 39 says that names are places."""
    rng = np.random.default_rng(0)
    tokens = np.zeros((600, 16), int)
    tags = np.zeros((600, 16), int)
    for row in range(600):
        n = rng.integers(8, 17)
        tokens[row, :n] = rng.integers(1, 30, n)
        tags[row, :n] = np.where(tokens[row, :n] < 15, 2, 1)
        if row % 2:
            tokens[row, rng.integers(n)] = 39
            tags[row, :n] = np.where(tokens[row, :n] < 15, 3, 1)
    model = NERModel(4, 40)
    dataset = tf.data.Dataset.from_tensor_slices((tokens[:480], tags[:480])).batch(32)
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=CustomNonPaddingTokenLoss())
    model.fit(dataset, epochs=8, verbose=0)
    real = tags[480:] > 0
    wrong = model.predict(tokens[480:], verbose=0).argmax(-1) != tags[480:]
    return wrong[real].mean(), (tags[480:] != 1)[real].mean()


@program(share=0.6)
def miniature_gpt():
    """Next words of a small grammar; the error is the cross-entropy above the grammar's own."""
    rng = np.random.default_rng(0)
    vocab, maxlen = 12, 16
    follow = rng.dirichlet(np.full(vocab, 0.15), vocab)
    text = np.zeros((500, maxlen + 1), int)
    text[:, 0] = rng.integers(0, vocab, 500)
    for i in range(maxlen):
        for word in range(vocab):
            rows = text[:, i] == word
            text[rows, i + 1] = rng.choice(vocab, rows.sum(), p=follow[word])
    inputs = layers.Input(shape=(maxlen,), dtype="int32")
    h = TokenAndPositionEmbedding(maxlen, vocab, 24)(inputs)
    h = TransformerBlock(24, 2, 24, causal=True)(h)
    outputs = layers.Dense(vocab)(h)
    model = keras.Model(inputs=inputs, outputs=[outputs, h])
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss=[loss_fn, None])
    model.fit(text[:400, :-1], text[:400, 1:], batch_size=32, epochs=6, verbose=0)
    logits, _ = model.predict(text[400:, :-1], verbose=0)
    loss = float(loss_fn(text[400:, 1:], logits))

    sampled, _ = model.predict(text[400:402, :-1], verbose=0)
    changed = text[400:402, :-1].copy()
    changed[:, -1] = (changed[:, -1] + 1) % vocab
    np.testing.assert_allclose(  # a later word changes no earlier one
        model.predict(changed, verbose=0)[0][:, :-1], sampled[:, :-1], atol=1e-5
    )
    entropy = -(follow * np.log(follow + 1e-12)).sum(1)[text[400:, :-1]].mean()
    return loss - entropy, np.log(vocab) - entropy
