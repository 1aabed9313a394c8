"""Tables and series: wide and deep networks, recommendations, rare classes, weather, anomalies."""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import error_rate, program


def census(rows, seed):
    rng = np.random.default_rng(seed)
    job, place = rng.integers(0, 6, rows), rng.integers(0, 4, rows)
    age = rng.uniform(18, 70, rows).astype("float32")
    label = ((job % 2 == place % 2) ^ (age > 50)).astype("int32")
    names = np.array([f"job{i}" for i in range(6)]), np.array([f"place{i}" for i in range(4)])
    return {"job": names[0][job], "place": names[1][place], "age": age[:, None]}, label


@program(share=0.4)
def wide_deep_and_cross():
    x, y = census(1500, 0)
    inputs = {
        "job": layers.Input(name="job", shape=(), dtype="string"),
        "place": layers.Input(name="place", shape=(), dtype="string"),
        "age": layers.Input(name="age", shape=(1,), dtype="float32"),
    }
    wide, deep = [], []
    for name in ("job", "place"):
        lookup = layers.StringLookup(
            vocabulary=sorted(set(x[name])), num_oov_indices=0, output_mode="int"
        )
        codes = lookup(inputs[name])
        size = lookup.vocabulary_size()
        wide.append(layers.CategoryEncoding(num_tokens=size, output_mode="one_hot")(codes))
        deep.append(layers.Embedding(size, 4)(codes))
    normalize = layers.Normalization()
    normalize.adapt(x["age"])
    deep.append(normalize(inputs["age"]))
    wide = layers.BatchNormalization()(layers.concatenate(wide))
    x0 = deep = layers.concatenate(deep)
    cross = x0
    for _ in range(2):
        units = cross.shape[-1]
        cross = x0 * layers.Dense(units)(cross) + cross
    for units in (32, 32):
        deep = layers.Dense(units)(deep)
        deep = layers.BatchNormalization()(deep)
        deep = layers.ReLU()(deep)
        deep = layers.Dropout(0.1)(deep)
    merged = layers.concatenate([wide, cross, layers.BatchNormalization()(deep)])
    outputs = layers.Dense(units=2, activation="softmax")(merged)
    model = keras.Model(inputs=inputs, outputs=outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
    )  # fmt: skip
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1500, seed=0).batch(64)
    model.fit(dataset, epochs=6, verbose=0)
    return error_rate(model, *census(400, 1))


class RecommenderNet(keras.Model):
    def __init__(self, num_users, num_movies, embedding_size, **kwargs):
        super().__init__(**kwargs)
        settings = {
            "embeddings_initializer": "he_normal",
            "embeddings_regularizer": keras.regularizers.l2(1e-6),
        }
        self.user_embedding = layers.Embedding(num_users, embedding_size, **settings)
        self.user_bias = layers.Embedding(num_users, 1)
        self.movie_embedding = layers.Embedding(num_movies, embedding_size, **settings)
        self.movie_bias = layers.Embedding(num_movies, 1)

    def call(self, inputs):
        user_vector = self.user_embedding(inputs[:, 0])
        movie_vector = self.movie_embedding(inputs[:, 1])
        dot = ops.sum(user_vector * movie_vector, axis=1, keepdims=True)
        return ops.nn.sigmoid(dot + self.user_bias(inputs[:, 0]) + self.movie_bias(inputs[:, 1]))


@program(share=0.6)
def collaborative_filtering():
    rng = np.random.default_rng(0)
    users, movies = rng.normal(size=(40, 2)), rng.normal(size=(50, 2))
    pairs = np.stack([rng.integers(0, 40, 1600), rng.integers(0, 50, 1600)], 1)
    liking = (users[pairs[:, 0]] * movies[pairs[:, 1]]).sum(1)
    ratings = 1 / (1 + np.exp(-liking))
    model = RecommenderNet(40, 50, 4)
    model.compile(
        loss=keras.losses.BinaryCrossentropy(), optimizer=keras.optimizers.Adam(learning_rate=0.03)
    )
    model.fit(
        x=pairs[:1300], y=ratings[:1300], batch_size=64, epochs=12, verbose=0,
        validation_data=(pairs[1300:], ratings[1300:]),
    )  # fmt: skip
    found = model.predict(pairs[1300:], verbose=0)[:, 0]
    test = ratings[1300:]
    return np.mean((found - test) ** 2), np.mean((ratings[:1300].mean() - test) ** 2)


@program(share=0.4)
def imbalanced_classification():
    """One row of forty is a fraud; the error is 1 - AUC."""
    rng = np.random.default_rng(0)
    y = (rng.random(2400) < 0.025).astype("uint8")[:, None]
    x = rng.normal(size=(2400, 12)).astype("float32")
    x[:, :3] += 1.2 * y
    x = (x - x[:1800].mean(0)) / x[:1800].std(0)
    counts = np.bincount(y[:1800, 0])
    model = keras.Sequential(
        [
            keras.Input(shape=x.shape[1:]),
            layers.Dense(32, activation="relu"),
            layers.Dense(32, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    metrics = [
        keras.metrics.FalseNegatives(name="fn"), keras.metrics.FalsePositives(name="fp"),
        keras.metrics.TrueNegatives(name="tn"), keras.metrics.TruePositives(name="tp"),
        keras.metrics.Precision(name="precision"), keras.metrics.Recall(name="recall"),
        keras.metrics.AUC(name="auc"),
    ]  # fmt: skip
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=metrics
    )
    model.fit(
        x[:1800], y[:1800], batch_size=256, epochs=10, verbose=0,
        class_weight={0: 1.0 / counts[0], 1: 1.0 / counts[1]},
    )  # fmt: skip
    found = model.evaluate(x[1800:], y[1800:], verbose=0, return_dict=True)
    assert found["fn"] + found["fp"] + found["tn"] + found["tp"] == 600
    return 1 - found["auc"], 0.5


@program(share=0.7)
def weather_forecast():
    """Windows by `timeseries_dataset_from_array`; the baseline repeats the last value."""
    rng = np.random.default_rng(0)
    hours = np.arange(1500)
    daily, slow = np.sin(hours * 2 * np.pi / 24), np.sin(hours * 2 * np.pi / 170)
    pressure = slow + rng.normal(0, 0.1, 1500)
    temperature = daily + 0.5 * np.roll(slow, 6) + rng.normal(0, 0.1, 1500)
    features = np.stack([temperature, pressure], 1)
    features = (features - features[:1000].mean(0)) / features[:1000].std(0)
    past, future = 24, 6

    def windows(start, end):
        return keras.utils.timeseries_dataset_from_array(
            features[start : end - future], features[start + past + future - 1 : end, [0]],
            sequence_length=past, sampling_rate=1, batch_size=64,
        )  # fmt: skip

    train, test = windows(0, 1000), windows(1000, 1500)
    for batch_x, _ in train.take(1):
        inputs = layers.Input(shape=(batch_x.shape[1], batch_x.shape[2]))
    outputs = layers.Dense(1)(layers.LSTM(24)(inputs))
    model = keras.Model(inputs=inputs, outputs=outputs)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse")
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", min_delta=0, patience=5)
    model.fit(train, epochs=8, validation_data=test, callbacks=[stop], verbose=0)
    last = np.concatenate([x[:, -1, 0] for x, _ in test.as_numpy_iterator()])
    target = np.concatenate([y[:, 0] for _, y in test.as_numpy_iterator()])
    return model.evaluate(test, verbose=0), np.mean((last - target) ** 2)


@program(share=0.2)
def timeseries_anomaly_detection():
    """A convolutional autoencoder of a series; the error is the share of windows judged wrongly."""
    rng = np.random.default_rng(0)
    steps = 24

    def sequences(values):
        return np.stack([values[i : i + steps] for i in range(len(values) - steps + 1)])[..., None]

    def series(n):
        return (np.sin(np.arange(n) * 2 * np.pi / 24) + rng.normal(0, 0.05, n)).astype("float32")

    x = sequences(series(700))
    model = keras.Sequential(
        [
            layers.Input(shape=(steps, 1)),
            layers.Conv1D(16, kernel_size=7, padding="same", strides=2, activation="relu"),
            layers.Dropout(rate=0.1),
            layers.Conv1D(8, kernel_size=7, padding="same", strides=2, activation="relu"),
            layers.Conv1DTranspose(8, kernel_size=7, padding="same", strides=2, activation="relu"),
            layers.Conv1DTranspose(16, kernel_size=7, padding="same", strides=2, activation="relu"),
            layers.Conv1DTranspose(1, kernel_size=7, padding="same"),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.005), loss="mse")
    model.fit(
        x, x, epochs=12, batch_size=64, validation_split=0.1, verbose=0,
        callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, mode="min")],
    )  # fmt: skip
    threshold = np.mean(np.abs(model.predict(x, verbose=0) - x), axis=1).max()
    test = series(400)
    test[150:200] += np.linspace(0, 2, 50)  # a drift
    windows = sequences(test)
    loss = np.mean(np.abs(model.predict(windows, verbose=0) - windows), axis=1)[:, 0]
    starts = np.arange(len(windows))
    drifting = (starts + steps > 175) & (starts < 185)  # mostly beyond a drift of 1
    clean = (starts + steps <= 150) | (starts >= 200)
    judged = drifting | clean
    return np.mean(((loss > threshold) != drifting)[judged]), np.mean(drifting[judged])
