"""Images: autoencoders, siamese networks, transformers, mixers, distillation, captchas."""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import error_rate, images, program


@program(share=0.6)
def denoising_autoencoder():
    clean, _ = images(800)
    noise = np.random.default_rng(1).normal(0, 0.4, clean.shape)
    noisy = np.clip(clean + noise, 0, 1).astype("float32")
    inputs = layers.Input(shape=(8, 8, 1))
    x = layers.Conv2D(16, (3, 3), activation="relu", padding="same")(inputs)
    x = layers.MaxPooling2D((2, 2), padding="same")(x)
    x = layers.Conv2D(16, (3, 3), activation="relu", padding="same")(x)
    x = layers.Conv2DTranspose(16, (3, 3), strides=2, activation="relu", padding="same")(x)
    x = layers.Conv2D(1, (3, 3), activation="sigmoid", padding="same")(x)
    autoencoder = keras.Model(inputs, x)
    autoencoder.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
    autoencoder.fit(
        x=noisy[:600], y=clean[:600], epochs=8, batch_size=64, shuffle=True,
        validation_data=(noisy[600:], clean[600:]), verbose=0,
    )  # fmt: skip
    repaired = autoencoder.predict(noisy[600:], verbose=0)
    return np.mean((repaired - clean[600:]) ** 2), np.mean((noisy[600:] - clean[600:]) ** 2)


@program(share=0.4)
def siamese_network():
    x, y = images(700)
    rng = np.random.default_rng(0)

    def pairs(low, high, count):
        by_class = [low + np.flatnonzero(y[low:high] == c) for c in range(10)]
        left = rng.integers(low, high, count)
        same = rng.integers(0, 2, count)
        classes = np.where(same, y[left], (y[left] + rng.integers(1, 10, count)) % 10)
        right = np.array([rng.choice(by_class[c]) for c in classes])
        return (x[left], x[right]), 1.0 - same.astype("float32")

    def euclidean_distance(vectors):
        a, b = vectors
        squares = ops.sum(ops.square(a - b), axis=1, keepdims=True)
        return ops.sqrt(ops.maximum(squares, keras.backend.epsilon()))

    def contrastive_loss(margin=1):
        def loss(y_true, y_pred):
            far = ops.square(ops.maximum(margin - y_pred, 0))
            return ops.mean((1 - y_true) * ops.square(y_pred) + y_true * far)

        return loss

    image = layers.Input((8, 8, 1))
    h = layers.BatchNormalization()(image)
    h = layers.Conv2D(8, (3, 3), activation="tanh")(h)
    h = layers.AveragePooling2D(pool_size=(2, 2))(h)
    h = layers.Flatten()(h)
    h = layers.Dense(10, activation="tanh")(h)
    embedding = keras.Model(image, h)
    first, second = layers.Input((8, 8, 1)), layers.Input((8, 8, 1))
    merged = layers.Lambda(euclidean_distance, output_shape=(1,))(
        [embedding(first), embedding(second)]
    )
    normal = layers.BatchNormalization()(merged)
    siamese = keras.Model([first, second], layers.Dense(1, activation="sigmoid")(normal))
    siamese.compile(loss=contrastive_loss(1), optimizer=keras.optimizers.RMSprop(0.01))
    train_x, train_y = pairs(0, 500, 1500)
    test_x, test_y = pairs(500, 700, 400)
    siamese.fit(list(train_x), train_y, batch_size=32, epochs=6, verbose=0)
    wrong = (siamese.predict(list(test_x), verbose=0)[:, 0] > 0.5) != test_y
    return wrong.mean(), 0.5


class Patches(layers.Layer):
    def __init__(self, patch_size):
        super().__init__()
        self.patch_size = patch_size

    def call(self, inputs):
        batch, height, width, channels = ops.shape(inputs)
        p = self.patch_size
        x = ops.reshape(inputs, (batch, height // p, p, width // p, p, channels))
        x = ops.transpose(x, (0, 1, 3, 2, 4, 5))
        return ops.reshape(x, (batch, (height // p) * (width // p), p * p * channels))

    def get_config(self):
        return {**super().get_config(), "patch_size": self.patch_size}


class PatchEncoder(layers.Layer):
    def __init__(self, num_patches, projection_dim):
        super().__init__()
        self.num_patches = num_patches
        self.projection = layers.Dense(units=projection_dim)
        self.position_embedding = layers.Embedding(num_patches, projection_dim)

    def call(self, patch):
        positions = ops.expand_dims(ops.arange(start=0, stop=self.num_patches, step=1), axis=0)
        return self.projection(patch) + self.position_embedding(positions)


@program(share=0.25)
def vision_transformer():
    x, y = images(900)
    inputs = keras.Input(shape=(8, 8, 1))
    encoded = PatchEncoder(16, 24)(Patches(2)(inputs))
    for _ in range(2):
        x1 = layers.LayerNormalization(epsilon=1e-6)(encoded)
        attention = layers.MultiHeadAttention(num_heads=2, key_dim=12, dropout=0.1)(x1, x1)
        x2 = layers.Add()([attention, encoded])
        x3 = layers.LayerNormalization(epsilon=1e-6)(x2)
        x3 = layers.Dense(48, activation=keras.activations.gelu)(x3)
        x3 = layers.Dropout(0.1)(x3)
        encoded = layers.Add()([layers.Dense(24)(x3), x2])
    representation = layers.LayerNormalization(epsilon=1e-6)(encoded)
    logits = layers.Dense(10)(layers.Flatten()(representation))
    model = keras.Model(inputs=inputs, outputs=logits)
    model.compile(
        optimizer=keras.optimizers.AdamW(learning_rate=0.005, weight_decay=1e-4),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseTopKCategoricalAccuracy(5, name="top-5-accuracy")],
    )
    model.fit(x[:700], y[:700], batch_size=64, epochs=5, validation_split=0.1, verbose=0)
    return error_rate(model, x[700:], y[700:])


class MLPMixerLayer(layers.Layer):
    def __init__(self, num_patches, hidden_units, dropout_rate):
        super().__init__()
        self.mlp1 = keras.Sequential(
            [layers.Dense(num_patches, activation="gelu"), layers.Dense(num_patches),
             layers.Dropout(rate=dropout_rate)]
        )  # fmt: skip
        self.mlp2 = keras.Sequential(
            [layers.Dense(hidden_units, activation="gelu"), layers.Dense(hidden_units),
             layers.Dropout(rate=dropout_rate)]
        )  # fmt: skip
        self.normalize = layers.LayerNormalization(epsilon=1e-6)

    def build(self, input_shape):
        self.built = True

    def call(self, inputs):
        x = self.normalize(inputs)
        channels = ops.transpose(x, axes=(0, 2, 1))
        x = ops.transpose(self.mlp1(channels), axes=(0, 2, 1)) + inputs
        return x + self.mlp2(self.normalize(x))


@program(share=0.25)
def mlp_mixer():
    x, y = images(900)
    blocks = keras.Sequential([MLPMixerLayer(16, 24, 0.1) for _ in range(2)])
    inputs = layers.Input(shape=(8, 8, 1))
    h = layers.Dense(units=24)(Patches(2)(inputs))
    h = layers.GlobalAveragePooling1D()(blocks(h))
    model = keras.Model(inputs, layers.Dense(10)(layers.Dropout(rate=0.1)(h)))
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=0.01),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    callbacks = [
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=5),
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=10, restore_best_weights=True),
    ]
    model.fit(
        x[:700], y[:700], batch_size=64, epochs=8, validation_split=0.1, callbacks=callbacks,
        verbose=0,
    )  # fmt: skip
    return error_rate(model, x[700:], y[700:])


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.student = student
        self.teacher = teacher

    def compile(self, optimizer, metrics, student_loss, distillation_loss, alpha, temperature):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss, self.distillation_loss = student_loss, distillation_loss
        self.alpha, self.temperature = alpha, temperature

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        teacher_pred = self.teacher(x, training=False)
        soft = self.distillation_loss(
            ops.softmax(teacher_pred / self.temperature, axis=1),
            ops.softmax(y_pred / self.temperature, axis=1),
        ) * (self.temperature**2)
        return self.alpha * self.student_loss(y, y_pred) + (1 - self.alpha) * soft

    def call(self, x):
        return self.student(x)


@program(share=0.3)
def knowledge_distillation():
    x, y = images(900)

    def network(width, name):
        return keras.Sequential(
            [
                keras.Input(shape=(8, 8, 1)),
                layers.Conv2D(width, (3, 3), strides=(2, 2), padding="same"),
                layers.LeakyReLU(negative_slope=0.2),
                layers.MaxPooling2D(pool_size=(2, 2), strides=(1, 1), padding="same"),
                layers.Flatten(),
                layers.Dense(10),
            ],
            name=name,
        )

    teacher, student = network(32, "teacher"), network(8, "student")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    teacher.compile(keras.optimizers.Adam(0.01), loss=loss, metrics=[accuracy])
    teacher.fit(x[:700], y[:700], epochs=5, verbose=0)
    distiller = Distiller(student=student, teacher=teacher)
    distiller.compile(
        optimizer=keras.optimizers.Adam(0.01), metrics=[keras.metrics.SparseCategoricalAccuracy()],
        student_loss=loss, distillation_loss=keras.losses.KLDivergence(), alpha=0.1, temperature=10,
    )  # fmt: skip
    frozen = [w.copy() for w in teacher.get_weights()]
    teacher.trainable = False
    distiller.fit(x[:700], y[:700], epochs=6, verbose=0)
    for before, after in zip(frozen, teacher.get_weights(), strict=True):
        np.testing.assert_array_equal(before, after)
    return error_rate(distiller.student, x[700:], y[700:])


class CTCLayer(layers.Layer):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.loss_fn = keras.losses.CTC()

    def call(self, y_true, y_pred):
        self.add_loss(ops.mean(self.loss_fn(y_true, y_pred)))
        return y_pred


@program(share=0.5)
def captcha_ctc():
    x, y = images(1400)
    rng = np.random.default_rng(3)

    def captchas(low, high, count):
        rows = rng.integers(low, high, (count, 3))
        return np.concatenate([x[rows[:, i]] for i in range(3)], axis=2), y[rows] + 1

    input_img = layers.Input(shape=(8, 24, 1), name="image")
    labels = layers.Input(name="label", shape=(None,), dtype="float32")
    h = layers.Conv2D(16, (3, 3), activation="relu", padding="same", name="Conv1")(input_img)
    h = layers.MaxPooling2D((2, 2), name="pool1")(h)
    h = layers.Permute((2, 1, 3))(h)
    h = layers.Reshape(target_shape=(12, 64), name="reshape")(h)
    h = layers.Dense(48, activation="relu", name="dense1")(h)
    h = layers.Bidirectional(layers.LSTM(32, return_sequences=True))(h)
    h = layers.Dense(11, activation="linear", name="dense2")(h)
    output = CTCLayer(name="ctc_loss")(labels, h)
    model = keras.Model(inputs=[input_img, labels], outputs=output, name="ocr")
    model.compile(optimizer=keras.optimizers.Adam(0.01))
    train_x, train_y = captchas(0, 1000, 1200)
    model.fit({"image": train_x, "label": train_y}, batch_size=32, epochs=6, verbose=0)
    prediction_model = keras.Model(input_img, model.get_layer(name="dense2").output)
    test_x, test_y = captchas(1000, 1400, 100)
    logits = prediction_model.predict(test_x, verbose=0)
    (decoded,), _ = ops.ctc_decode(logits, np.full(100, 12), strategy="greedy", mask_index=0)
    decoded = np.asarray(decoded)[:, :3]
    return np.mean((decoded != test_y).any(1)), 1 - 1e-3


@program(share=0.6)
def image_segmentation():
    """A small U-Net finds the pixels of the digit under a gradient of light."""
    x, _ = images(500)
    light = np.linspace(0, 1, 8, dtype="float32")[None, :, None, None]
    shaded, masks = x * 0.3 + light, (x > 0.4).astype("int32")
    inputs = keras.Input((8, 8, 1))
    h = layers.Conv2D(8, 3, padding="same")(inputs)
    h = previous = layers.Activation("relu")(layers.BatchNormalization()(h))
    h = layers.SeparableConv2D(16, 3, padding="same")(h)
    h = layers.BatchNormalization()(h)
    h = layers.MaxPooling2D(3, strides=2, padding="same")(h)
    residual = layers.Conv2D(16, 1, strides=2, padding="same")(previous)
    h = layers.add([h, residual])
    h = layers.Conv2DTranspose(8, 3, padding="same", activation="relu")(h)
    h = layers.UpSampling2D(2)(h)
    h = layers.concatenate([h, previous])
    outputs = layers.Conv2D(2, 3, activation="softmax", padding="same")(h)
    model = keras.Model(inputs, outputs)
    model.compile(
        keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy",
        metrics=[keras.metrics.MeanIoU(2, sparse_y_pred=False, name="iou")],
    )  # fmt: skip
    model.fit(shaded[:400], masks[:400], epochs=6, batch_size=32, verbose=0)
    found = model.evaluate(shaded[400:], masks[400:], verbose=0, return_dict=True)
    constant = (1 - masks[400:].mean()) / 2  # the IoU of a mask without the digit
    return 1 - found["iou"], 1 - constant


@program(share=0.8)
def super_resolution():
    """Depth to space, as in efficient sub-pixel networks."""
    x, _ = images(800)
    small = x.reshape(800, 4, 2, 4, 2, 1).mean((2, 4))

    def depth_to_space(t):
        return tf.nn.depth_to_space(t, 2)

    inputs = keras.Input(shape=(None, None, 1))
    h = layers.Conv2D(32, 3, activation="relu", padding="same", kernel_initializer="orthogonal")(
        inputs
    )
    h = layers.Conv2D(4, 3, padding="same", kernel_initializer="orthogonal")(h)
    model = keras.Model(inputs, layers.Lambda(depth_to_space)(h))
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.MeanSquaredError())
    model.fit(small[:600], x[:600], epochs=8, verbose=0)
    error = model.evaluate(small[600:], x[600:], verbose=0)
    repeated = small[600:].repeat(2, 1).repeat(2, 2)
    return error, np.mean((repeated - x[600:]) ** 2)
