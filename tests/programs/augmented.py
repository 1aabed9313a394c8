"""Preprocessing as part of models and datasets: augmentation, mixtures, spectra, feature spaces."""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import error_rate, images, program


def classifier(augmentation=None):
    inputs = keras.Input((8, 8, 1))
    h = inputs if augmentation is None else augmentation(inputs)
    h = layers.Conv2D(16, 3, activation="relu")(h)
    h = layers.Conv2D(32, 3, activation="relu")(h)
    outputs = layers.Dense(10, activation="softmax")(layers.Flatten()(h))
    return keras.Model(inputs, outputs)


@program(share=0.75)
def augmentation_in_the_model():
    """Trained with random shifts, tested on shifted digits; the baseline never saw a shift."""
    x, y = images(900)
    rng = np.random.default_rng(0)
    shifted = np.stack([np.roll(image, rng.integers(-1, 2, 2), (0, 1)) for image in x[700:]])
    data_augmentation = keras.Sequential(
        [layers.RandomTranslation(0.15, 0.15, fill_mode="wrap"), layers.RandomRotation(0.02)]
    )
    errors = []
    for augmentation in (data_augmentation, None):
        model = classifier(augmentation)
        model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
        model.fit(x[:700], y[:700], batch_size=64, epochs=8, verbose=0)
        errors.append(error_rate(model, shifted, y[700:])[0])
        assert (model.predict(x[:4], verbose=0) == model.predict(x[:4], verbose=0)).all()
    return errors[0], max(errors[1], 0.1)


@program(share=0.3)
def augmentation_in_the_dataset():
    x, y = images(900)
    rescale = keras.Sequential([layers.Rescaling(255.0), layers.Resizing(8, 8)])
    augment = keras.Sequential(
        [layers.RandomZoom(0.1), layers.RandomBrightness(0.1), layers.RandomContrast(0.1)]
    )

    def prepare(dataset, shuffle=False, augmented=False):
        dataset = dataset.map(lambda x, y: (rescale(x), y), num_parallel_calls=tf.data.AUTOTUNE)
        dataset = (dataset.shuffle(700, seed=0) if shuffle else dataset).batch(64)
        if augmented:
            dataset = dataset.map(lambda x, y: (augment(x, training=True), y))
        dataset = dataset.map(lambda x, y: (x / 255, y))
        return dataset.prefetch(buffer_size=tf.data.AUTOTUNE)

    train = prepare(tf.data.Dataset.from_tensor_slices((x[:700], y[:700])), True, True)
    test = prepare(tf.data.Dataset.from_tensor_slices((x[700:], y[700:])))
    model = classifier()
    model.compile(
        keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(train, epochs=5, verbose=0)
    return 1 - model.evaluate(test, verbose=0)[1], 0.9


def sample_beta_distribution(size, concentration_0=0.2, concentration_1=0.2):
    gamma_1_sample = tf.random.gamma(shape=[size], alpha=concentration_1)
    gamma_2_sample = tf.random.gamma(shape=[size], alpha=concentration_0)
    return gamma_1_sample / (gamma_1_sample + gamma_2_sample)


@program(share=0.3)
def mixup():
    x, y = images(900)
    hot = np.eye(10, dtype="float32")[y]

    def mix_up(ds_one, ds_two):
        images_one, labels_one = ds_one
        images_two, labels_two = ds_two
        batch_size = tf.shape(images_one)[0]
        lambda_value = sample_beta_distribution(batch_size)
        x_l = tf.reshape(lambda_value, (batch_size, 1, 1, 1))
        y_l = tf.reshape(lambda_value, (batch_size, 1))
        mixed = images_one * x_l + images_two * (1 - x_l)
        return mixed, labels_one * y_l + labels_two * (1 - y_l)

    one, two = (
        tf.data.Dataset.from_tensor_slices((x[:700], hot[:700])).shuffle(700, seed=s).batch(50)
        for s in (0, 1)
    )
    train = tf.data.Dataset.zip((one, two)).map(mix_up)
    model = classifier()
    model.compile(keras.optimizers.Adam(0.01), "categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=6, verbose=0)
    return error_rate(model, x[700:], y[700:])


class ContrastiveModel(keras.Model):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature
        self.augmenter = keras.Sequential(
            [keras.Input((8, 8, 1)), layers.RandomTranslation(0.15, 0.15),
             layers.RandomZoom(0.1), layers.RandomContrast(0.2)]
        )  # fmt: skip
        self.encoder = keras.Sequential(
            [keras.Input((8, 8, 1)), layers.Conv2D(16, 3, activation="relu"), layers.Flatten(),
             layers.Dense(32, activation="relu")], name="encoder",
        )  # fmt: skip
        self.head = keras.Sequential([keras.Input((32,)), layers.Dense(16)])
        self.probe = keras.Sequential([keras.Input((32,)), layers.Dense(10)])

    def compile(self, contrastive_optimizer, probe_optimizer, **kwargs):
        super().compile(**kwargs)
        self.contrastive_optimizer = contrastive_optimizer
        self.probe_optimizer = probe_optimizer
        self.probe_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.contrastive_tracker = keras.metrics.Mean(name="c_loss")
        self.accuracy = keras.metrics.SparseCategoricalAccuracy(name="p_acc")

    @property
    def metrics(self):
        return [self.contrastive_tracker, self.accuracy]

    def contrastive_loss(self, one, two):
        one, two = ops.normalize(one, axis=1), ops.normalize(two, axis=1)
        similarities = ops.matmul(one, ops.transpose(two)) / self.temperature
        labels = ops.arange(ops.shape(one)[0])
        forth = keras.losses.sparse_categorical_crossentropy(labels, similarities, from_logits=True)
        back = keras.losses.sparse_categorical_crossentropy(
            labels, ops.transpose(similarities), from_logits=True
        )
        return ops.mean(forth + back) / 2

    def train_step(self, data):
        (unlabeled, _), (labeled, labels) = data
        every = ops.concatenate((unlabeled, labeled), axis=0)
        one, two = self.augmenter(every, training=True), self.augmenter(every, training=True)
        with tf.GradientTape() as tape:
            loss = self.contrastive_loss(
                self.head(self.encoder(one, training=True), training=True),
                self.head(self.encoder(two, training=True), training=True),
            )
        weights = self.encoder.trainable_weights + self.head.trainable_weights
        self.contrastive_optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.contrastive_tracker.update_state(loss)
        features = self.encoder(labeled, training=False)
        with tf.GradientTape() as tape:
            logits = self.probe(features, training=True)
            loss = self.probe_loss(labels, logits)
        weights = self.probe.trainable_weights
        self.probe_optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.accuracy.update_state(labels, logits)
        return {m.name: m.result() for m in self.metrics}

    def call(self, inputs):
        return self.probe(self.encoder(inputs))


@program(share=0.6)
def semi_supervised_contrastive():
    x, y = images(900)
    unlabeled = tf.data.Dataset.from_tensor_slices((x[:600], y[:600])).shuffle(600, 0).batch(60)
    labeled = tf.data.Dataset.from_tensor_slices((x[600:700], y[600:700])).shuffle(100, 0).batch(10)
    model = ContrastiveModel()
    model.compile(
        contrastive_optimizer=keras.optimizers.Adam(0.005),
        probe_optimizer=keras.optimizers.Adam(0.02),
    )
    model.fit(tf.data.Dataset.zip((unlabeled, labeled)), epochs=8, verbose=0)
    return error_rate(model, x[700:], y[700:])


@program(share=0.4)
def feature_space_classification():
    """Columns of a table, encoded in the dataset and, for inference, in the model."""
    rng = np.random.default_rng(0)
    table = {
        "age": rng.uniform(20, 80, 900).astype("float32"),
        "sex": rng.integers(0, 2, 900),
        "thal": np.array(["fixed", "normal", "reversible"])[rng.integers(0, 3, 900)],
    }
    target = ((table["age"] > 50) ^ (table["thal"] == "fixed")).astype("int32")
    space = keras.utils.FeatureSpace(
        features={
            "age": keras.utils.FeatureSpace.float_discretized(num_bins=8),
            "sex": keras.utils.FeatureSpace.integer_categorical(num_oov_indices=0),
            "thal": keras.utils.FeatureSpace.string_categorical(num_oov_indices=0),
        },
        crosses=[keras.utils.FeatureSpace.cross(("sex", "thal"), crossing_dim=8)],
        output_mode="concat",
    )

    def rows(part):
        columns = {name: column[part] for name, column in table.items()}
        return tf.data.Dataset.from_tensor_slices((columns, target[part]))

    train, test = rows(slice(0, 700)), rows(slice(700, 900))
    space.adapt(train.map(lambda x, _: x))
    encoded_features = space.get_encoded_features()
    h = layers.Dense(32, activation="relu")(encoded_features)
    predictions = layers.Dense(1, activation="sigmoid")(layers.Dropout(0.1)(h))
    model = keras.Model(inputs=encoded_features, outputs=predictions)
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    model.fit(train.batch(32).map(lambda x, y: (space(x), y)), epochs=6, verbose=0)
    error = 1 - model.evaluate(test.batch(50).map(lambda x, y: (space(x), y)), verbose=0)[1]
    inference = keras.Model(inputs=space.get_inputs(), outputs=model(space.get_encoded_features()))
    sample = {"age": 70.0, "sex": 1, "thal": "normal"}
    sample = {name: tf.convert_to_tensor([value]) for name, value in sample.items()}
    assert float(inference.predict(sample, verbose=0)[0, 0]) > 0.5
    return error, 1 - max(target.mean(), 1 - target.mean())


@program(share=0.3)
def audio_spectrogram():
    """Tones of three pitches under noise, through a spectrogram layer inside the model."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    time = np.arange(512) / 1000
    waves = np.sin(2 * np.pi * np.array([60, 75, 90])[y][:, None] * time + rng.random((400, 1)) * 6)
    x = (waves + rng.normal(0, 1.0, waves.shape)).astype("float32")
    inputs = keras.Input((512, 1))
    h = layers.STFTSpectrogram(
        mode="log", frame_length=128, frame_step=64, fft_length=128, trainable=False
    )(inputs)
    h = layers.BatchNormalization()(h)
    h = layers.Conv1D(16, 3, activation="relu")(h)
    h = layers.GlobalAveragePooling1D()(h)
    model = keras.Model(inputs, layers.Dense(3, activation="softmax")(h))
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    model.fit(x[:300, :, None], y[:300], epochs=12, batch_size=32, verbose=0)
    return error_rate(model, x[300:, :, None], y[300:])


@program(share=0.3)
def distillation_by_the_package():
    x, y = images(900)
    teacher, student = classifier(), classifier()
    teacher.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    teacher.fit(x[:700], y[:700], batch_size=64, epochs=5, verbose=0)
    distiller = keras.distillation.Distiller(
        teacher=teacher, student=student,
        distillation_losses=keras.distillation.LogitsDistillation(temperature=3.0),
        student_loss_weight=0.5,
    )  # fmt: skip
    distiller.compile(keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy")
    distiller.fit(x[:700], y[:700], batch_size=64, epochs=5, verbose=0)
    return error_rate(student, x[700:], y[700:])
