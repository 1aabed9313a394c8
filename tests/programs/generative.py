"""Generative models: VAE, VQ-VAE, GANs, diffusion, normalizing flows."""

import math

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import images, program


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        epsilon = keras.random.normal(shape=ops.shape(z_mean), seed=self.seed_generator)
        return z_mean + ops.exp(0.5 * z_log_var) * epsilon


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [
            self.total_loss_tracker, self.reconstruction_loss_tracker, self.kl_loss_tracker,
        ]  # fmt: skip

    def train_step(self, data):
        with tf.GradientTape() as tape:
            z_mean, z_log_var, z = self.encoder(data)
            reconstruction = self.decoder(z)
            entropy = keras.losses.binary_crossentropy(data, reconstruction)
            reconstruction_loss = ops.mean(ops.sum(entropy, axis=(1, 2)))
            kl_loss = -0.5 * (1 + z_log_var - ops.square(z_mean) - ops.exp(z_log_var))
            kl_loss = ops.mean(ops.sum(kl_loss, axis=1))
            total_loss = reconstruction_loss + 0.2 * kl_loss
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {m.name: m.result() for m in self.metrics}


@program(share=0.8)
def variational_autoencoder():
    x, _ = images(900)
    encoder_inputs = keras.Input(shape=(8, 8, 1))
    h = layers.Conv2D(16, 3, activation="relu", strides=2, padding="same")(encoder_inputs)
    h = layers.Dense(32, activation="relu")(layers.Flatten()(h))
    z_mean, z_log_var = layers.Dense(4, name="z_mean")(h), layers.Dense(4, name="z_log_var")(h)
    z = Sampling()([z_mean, z_log_var])
    encoder = keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")
    latent_inputs = keras.Input(shape=(4,))
    h = layers.Reshape((4, 4, 16))(layers.Dense(256, activation="relu")(latent_inputs))
    h = layers.Conv2DTranspose(16, 3, activation="relu", strides=2, padding="same")(h)
    outputs = layers.Conv2DTranspose(1, 3, activation="sigmoid", padding="same")(h)
    decoder = keras.Model(latent_inputs, outputs, name="decoder")
    vae = VAE(encoder, decoder)
    vae.compile(optimizer=keras.optimizers.Adam(0.01))
    history = vae.fit(x[:800], epochs=12, batch_size=32, verbose=0).history
    assert set(history) == {"total_loss", "reconstruction_loss", "kl_loss"}
    assert history["kl_loss"][-1] > 1  # the code says something about the image
    repaired = decoder.predict(encoder.predict(x[800:], verbose=0)[0], verbose=0)
    return np.mean((repaired - x[800:]) ** 2), np.mean((x[:800].mean(0) - x[800:]) ** 2)


class VectorQuantizer(layers.Layer):
    def __init__(self, num_embeddings, embedding_dim, beta=0.25, **kwargs):
        super().__init__(**kwargs)
        self.embedding_dim, self.num_embeddings, self.beta = embedding_dim, num_embeddings, beta
        self.embeddings = self.add_weight(
            shape=(embedding_dim, num_embeddings), initializer="random_uniform", trainable=True,
            name="embeddings_vqvae",
        )  # fmt: skip

    def call(self, x):
        flattened = ops.reshape(x, (-1, self.embedding_dim))
        encodings = ops.one_hot(self.get_code_indices(flattened), self.num_embeddings)
        quantized = ops.matmul(encodings, ops.transpose(self.embeddings))
        quantized = ops.reshape(quantized, ops.shape(x))
        commitment = ops.mean((ops.stop_gradient(quantized) - x) ** 2)
        codebook = ops.mean((quantized - ops.stop_gradient(x)) ** 2)
        self.add_loss(self.beta * commitment + codebook)
        return x + ops.stop_gradient(quantized - x)

    def get_code_indices(self, flattened):
        distances = (
            ops.sum(flattened**2, axis=1, keepdims=True)
            + ops.sum(self.embeddings**2, axis=0)
            - 2 * ops.matmul(flattened, self.embeddings)
        )
        return ops.argmin(distances, axis=1)


@program(share=0.7)
def vq_vae():
    x, _ = images(900)
    inputs = keras.Input((8, 8, 1))
    h = layers.Conv2D(16, 3, activation="relu", strides=2, padding="same")(inputs)
    h = layers.Conv2D(8, 1, padding="same")(h)
    h = VectorQuantizer(16, 8, name="vector_quantizer")(h)
    h = layers.Conv2DTranspose(16, 3, activation="relu", strides=2, padding="same")(h)
    model = keras.Model(inputs, layers.Conv2DTranspose(1, 3, padding="same")(h))
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x[:800], x[:800], epochs=10, batch_size=64, verbose=0)
    assert len(model.losses) == 1
    repaired = model.predict(x[800:], verbose=0)
    return np.mean((repaired - x[800:]) ** 2), np.mean((x[:800].mean(0) - x[800:]) ** 2)


def distance(a, b):
    """Return the energy distance between two samples: 0 if their distributions are the same."""
    a, b = (np.asarray(s, "float64").reshape(len(s), -1) for s in (a, b))

    def mean(p, q):
        return np.sqrt(((p[:, None] - q[None]) ** 2).sum(-1) + 1e-12).mean()

    return 2 * mean(a, b) - mean(a, a) - mean(b, b)


class GAN(keras.Model):
    def __init__(self, discriminator, generator, latent_dim):
        super().__init__()
        self.discriminator, self.generator = discriminator, generator
        self.latent_dim = latent_dim
        self.seed_generator = keras.random.SeedGenerator(1337)

    def compile(self, d_optimizer, g_optimizer, loss_fn):
        super().compile()
        self.d_optimizer, self.g_optimizer, self.loss_fn = d_optimizer, g_optimizer, loss_fn
        self.d_loss_metric = keras.metrics.Mean(name="d_loss")
        self.g_loss_metric = keras.metrics.Mean(name="g_loss")

    @property
    def metrics(self):
        return [self.d_loss_metric, self.g_loss_metric]

    def train_step(self, real_images):
        batch_size = tf.shape(real_images)[0]
        random_latent_vectors = tf.random.normal(shape=(batch_size, self.latent_dim))
        generated_images = self.generator(random_latent_vectors)
        combined_images = tf.concat([generated_images, real_images], axis=0)
        labels = tf.concat([tf.ones((batch_size, 1)), tf.zeros((batch_size, 1))], axis=0)
        labels += 0.05 * tf.random.uniform(tf.shape(labels))
        with tf.GradientTape() as tape:
            predictions = self.discriminator(combined_images)
            d_loss = self.loss_fn(labels, predictions)
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))

        random_latent_vectors = tf.random.normal(shape=(batch_size, self.latent_dim))
        misleading_labels = tf.zeros((batch_size, 1))
        with tf.GradientTape() as tape:
            predictions = self.discriminator(self.generator(random_latent_vectors))
            g_loss = self.loss_fn(misleading_labels, predictions)
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        self.d_loss_metric.update_state(d_loss)
        self.g_loss_metric.update_state(g_loss)
        return {"d_loss": self.d_loss_metric.result(), "g_loss": self.g_loss_metric.result()}


@program(share=0.7)
def dcgan():
    x, y = images(1400)
    x = x[y == 0]
    discriminator = keras.Sequential(
        [
            keras.Input(shape=(8, 8, 1)),
            layers.Conv2D(16, kernel_size=4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2D(32, kernel_size=4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Flatten(),
            layers.Dropout(0.2),
            layers.Dense(1, activation="sigmoid"),
        ],
        name="discriminator",
    )
    generator = keras.Sequential(
        [
            keras.Input(shape=(16,)),
            layers.Dense(2 * 2 * 32),
            layers.Reshape((2, 2, 32)),
            layers.Conv2DTranspose(32, kernel_size=4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2DTranspose(16, kernel_size=4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2D(1, kernel_size=5, padding="same", activation="sigmoid"),
        ],
        name="generator",
    )
    noise = np.random.default_rng(1).normal(size=(100, 16)).astype("float32")
    before = distance(generator.predict(noise, verbose=0), x)
    gan = GAN(discriminator=discriminator, generator=generator, latent_dim=16)
    gan.compile(
        d_optimizer=keras.optimizers.Adam(learning_rate=0.002, beta_1=0.5),
        g_optimizer=keras.optimizers.Adam(learning_rate=0.002, beta_1=0.5),
        loss_fn=keras.losses.BinaryCrossentropy(),
    )
    gan.fit(tf.data.Dataset.from_tensor_slices(x).batch(32), epochs=20, verbose=0)
    return distance(generator.predict(noise, verbose=0), x), before


class WGAN(keras.Model):
    def __init__(self, critic, generator, latent_dim, critic_steps=3, gp_weight=1.0):
        super().__init__()
        self.critic, self.generator = critic, generator
        self.latent_dim, self.critic_steps, self.gp_weight = latent_dim, critic_steps, gp_weight

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer

    def gradient_penalty(self, batch_size, real, fake):
        alpha = tf.random.uniform([batch_size, 1], 0.0, 1.0)
        interpolated = real + alpha * (fake - real)
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.critic(interpolated, training=True)
        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real):
        if isinstance(real, tuple):
            real = real[0]
        batch_size = tf.shape(real)[0]
        for _ in range(self.critic_steps):
            latent = tf.random.normal(shape=(batch_size, self.latent_dim))
            with tf.GradientTape() as tape:
                fake = self.generator(latent, training=True)
                cost = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(
                    self.critic(real, training=True)
                )
                gp = self.gradient_penalty(batch_size, real, fake)
                d_loss = cost + gp * self.gp_weight
            gradient = tape.gradient(d_loss, self.critic.trainable_variables)
            self.d_optimizer.apply_gradients(zip(gradient, self.critic.trainable_variables))
        latent = tf.random.normal(shape=(batch_size, self.latent_dim))
        with tf.GradientTape() as tape:
            fake = self.generator(latent, training=True)
            g_loss = -tf.reduce_mean(self.critic(fake, training=True))
        gradient = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(gradient, self.generator.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


class GANMonitor(keras.callbacks.Callback):
    def __init__(self, noise):
        super().__init__()
        self.noise, self.drawn = noise, []

    def on_epoch_end(self, epoch, logs=None):
        self.drawn.append(self.model.generator(self.noise).numpy())


@program(share=0.3)
def wgan_gp():
    """Points on a ring."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 640)
    ring = np.stack([np.cos(angle), np.sin(angle)], 1) + rng.normal(0, 0.05, (640, 2))
    ring = ring.astype("float32")

    def network(inputs, outputs):
        return keras.Sequential(
            [keras.Input((inputs,)), layers.Dense(32), layers.LeakyReLU(negative_slope=0.2),
             layers.Dense(32), layers.LeakyReLU(negative_slope=0.2), layers.Dense(outputs)]
        )  # fmt: skip

    generator = network(2, 2)
    noise = rng.normal(size=(300, 2)).astype("float32")
    before = distance(generator.predict(noise, verbose=0), ring)
    wgan = WGAN(network(2, 1), generator, latent_dim=2)
    wgan.compile(
        d_optimizer=keras.optimizers.Adam(learning_rate=0.005, beta_1=0.5, beta_2=0.9),
        g_optimizer=keras.optimizers.Adam(learning_rate=0.002, beta_1=0.5, beta_2=0.9),
    )
    monitor = GANMonitor(noise)
    wgan.fit(ring, batch_size=64, epochs=25, callbacks=[monitor], verbose=0)
    assert len(monitor.drawn) == 25
    return distance(monitor.drawn[-1], ring), before


@keras.saving.register_keras_serializable(package="tests.programs")
def sinusoidal_embedding(x):
    frequencies = ops.exp(ops.linspace(ops.log(1.0), ops.log(20.0), 4))
    angular_speeds = ops.cast(2.0 * math.pi * frequencies, "float32")
    return ops.concatenate([ops.sin(angular_speeds * x), ops.cos(angular_speeds * x)], axis=-1)


class DiffusionModel(keras.Model):
    def __init__(self, network, ema_network):
        super().__init__()
        self.normalizer = layers.Normalization(axis=-1)
        self.network, self.ema_network = network, ema_network
        self.seed_generator = keras.random.SeedGenerator(1)

    def compile(self, **kwargs):
        super().compile(**kwargs)
        self.noise_loss_tracker = keras.metrics.Mean(name="n_loss")

    @property
    def metrics(self):
        return [self.noise_loss_tracker]

    def diffusion_schedule(self, diffusion_times):
        start_angle, end_angle = math.acos(0.95), math.acos(0.02)
        angles = start_angle + diffusion_times * (end_angle - start_angle)
        return ops.sin(angles), ops.cos(angles)

    def denoise(self, noisy, noise_rates, signal_rates, training):
        network = self.network if training else self.ema_network
        pred_noises = network([noisy, noise_rates**2], training=training)
        return pred_noises, (noisy - noise_rates * pred_noises) / signal_rates

    def generate(self, count, diffusion_steps):
        points = keras.random.normal((count, 2), seed=self.seed_generator)
        for step in range(diffusion_steps):
            times = ops.ones((count, 1)) - step / diffusion_steps
            pred_noises, pred = self.denoise(points, *self.diffusion_schedule(times), False)
            next_noise, next_signal = self.diffusion_schedule(times - 1 / diffusion_steps)
            points = next_signal * pred + next_noise * pred_noises
        return self.normalizer.mean + pred * self.normalizer.variance**0.5

    def train_step(self, points):
        points = self.normalizer(points, training=True)
        noises = keras.random.normal(ops.shape(points), seed=self.seed_generator)
        times = keras.random.uniform((ops.shape(points)[0], 1), seed=self.seed_generator)
        noise_rates, signal_rates = self.diffusion_schedule(times)
        noisy = signal_rates * points + noise_rates * noises
        with tf.GradientTape() as tape:
            pred_noises, _ = self.denoise(noisy, noise_rates, signal_rates, training=True)
            noise_loss = self.loss(noises, pred_noises)
        gradients = tape.gradient(noise_loss, self.network.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.network.trainable_weights))
        self.noise_loss_tracker.update_state(noise_loss)
        for weight, ema_weight in zip(self.network.weights, self.ema_network.weights, strict=True):
            ema_weight.assign(0.9 * ema_weight + 0.1 * weight)
        return {m.name: m.result() for m in self.metrics}


@program(share=0.7)
def denoising_diffusion_implicit_model():
    """Points on two moons; the baseline is a normal distribution with their mean and variance."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 800)
    moon = np.stack([np.cos(angle), np.sin(angle)], 1)
    moon[400:] = np.array([1.0, 0.5]) - moon[400:]
    points = (moon + rng.normal(0, 0.03, (800, 2))).astype("float32")
    noisy, variances = keras.Input((2,)), keras.Input((1,))
    h = layers.Concatenate()([noisy, layers.Lambda(sinusoidal_embedding)(variances)])
    for _ in range(3):
        h = layers.Dense(64, activation=keras.activations.swish)(h)
    network = keras.Model([noisy, variances], layers.Dense(2, kernel_initializer="zeros")(h))
    model = DiffusionModel(network, keras.models.clone_model(network))
    model.ema_network.set_weights(network.get_weights())
    model.compile(
        optimizer=keras.optimizers.AdamW(learning_rate=5e-3, weight_decay=1e-4),
        loss=keras.losses.mean_squared_error,
    )
    model.normalizer.adapt(points)
    dataset = tf.data.Dataset.from_tensor_slices(points).shuffle(800, seed=0).batch(100)
    model.fit(dataset.repeat(10), epochs=8, verbose=0)
    plain = rng.normal(points.mean(0), points.std(0), (400, 2))
    return distance(model.generate(400, 20), points), distance(plain, points)


class RealNVP(keras.Model):
    def __init__(self, num_coupling_layers):
        super().__init__()
        self.num_coupling_layers = num_coupling_layers
        self.masks = np.array([[0, 1], [1, 0]] * (num_coupling_layers // 2), dtype="float32")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.layers_list = [self.coupling() for _ in range(num_coupling_layers)]

    @staticmethod
    def coupling():
        inputs = keras.Input(shape=(2,))
        settings = {"activation": "relu", "kernel_regularizer": keras.regularizers.l2(1e-4)}
        t = layers.Dense(2)(layers.Dense(24, **settings)(inputs))
        s = layers.Dense(2, activation="tanh")(layers.Dense(24, **settings)(inputs))
        return keras.Model(inputs=inputs, outputs=[s, t])

    @property
    def metrics(self):
        return [self.loss_tracker]

    def call(self, x, training=True):
        log_det_inv = 0
        direction = -1 if training else 1
        for i in range(self.num_coupling_layers)[::direction]:
            x_masked = x * self.masks[i]
            reversed_mask = 1 - self.masks[i]
            s, t = self.layers_list[i](x_masked)
            s, t = s * reversed_mask, t * reversed_mask
            gate = (direction - 1) / 2
            x = (
                reversed_mask * (x * ops.exp(direction * s) + direction * t * ops.exp(gate * s))
                + x_masked
            )
            log_det_inv += gate * ops.sum(s, axis=1)
        return x, log_det_inv

    def log_loss(self, x):
        y, logdet = self(x)
        log_likelihood = -0.5 * ops.sum(y**2, axis=1) - math.log(2 * math.pi) + logdet
        return -ops.mean(log_likelihood)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.log_loss(data)
            total = loss + ops.sum(self.losses)
        g = tape.gradient(total, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        self.loss_tracker.update_state(self.log_loss(data))
        return {"loss": self.loss_tracker.result()}


@program(share=0.85)
def real_nvp():
    """The error is the negative log-likelihood; the baseline a normal distribution's."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 900)
    points = np.stack([np.cos(angle), np.sin(angle)], 1)
    points[450:] = np.array([1.0, 0.5]) - points[450:]
    points = rng.permutation(points + rng.normal(0, 0.05, (900, 2)))
    points = ((points - points.mean(0)) / points.std(0)).astype("float32")
    model = RealNVP(num_coupling_layers=4)
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01))
    model.fit(
        points[:700], batch_size=64, epochs=16, verbose=0, validation_data=(points[700:],),
    )  # fmt: skip
    found = model.evaluate(points[700:], verbose=0, return_dict=True)["loss"]
    normal = np.mean(0.5 * (points[700:] ** 2).sum(1) + math.log(2 * math.pi))
    inverse, _ = model(model(points[:50])[0], training=False)
    np.testing.assert_allclose(inverse, points[:50], atol=1e-3)
    return found, normal
