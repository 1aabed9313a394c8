"""A generative adversarial network on points of a sine curve, by two training steps.

Goodfellow et al. 2014, arXiv:1406.2661. The discriminator learns to tell data from the
generator's points; the generator learns, through the discriminator, to be taken for data.

python examples/gan_2d.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

BATCH = 64


def make(name, activation, outputs):
    layers = [keras.layers.Dense(32, activation) for _ in range(2)]
    return keras.Sequential([*layers, keras.layers.Dense(outputs)], name=name)


def curve(rng, n):
    x = rng.uniform(-np.pi, np.pi, n)
    points = np.stack([x, np.sin(x)], 1) + 0.05 * rng.standard_normal((n, 2))
    return tf.constant(points, tf.float32)


def train(rng, iterations):
    generator = make("generator", "relu", outputs=2)
    discriminator = make("discriminator", "leaky_relu", outputs=1)
    together = keras.Sequential([generator, discriminator])

    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    adam = keras.optimizers.Adam(1e-3, beta_1=0.5)
    only_generator = keras.optimizers.Adam(
        1e-3, beta_1=0.5, groups={"discriminator/*": {"trainable": False}}
    )
    train_discriminator = discriminator.training_step(loss=loss, optimizer=adam)
    train_generator = together.training_step(loss=loss, optimizer=only_generator)

    ones, zeros = tf.ones((BATCH, 1)), tf.zeros((BATCH, 1))
    for _ in range(iterations):
        points = tf.concat([curve(rng, BATCH), generator(tf.random.normal((BATCH, 2)))], 0)
        d_loss = train_discriminator(points, tf.concat([ones, zeros], 0))
        g_loss = train_generator(tf.random.normal((BATCH, 2)), ones)
    return generator, float(d_loss), float(g_loss)


def main():
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    generator, d_loss, g_loss = train(rng, 200 if SMALL else 3000)

    made, real = generator(tf.random.normal((1000, 2))).numpy(), curve(rng, 1000).numpy()
    distances = np.linalg.norm(made[:, None] - real, axis=-1)
    near, covered = np.mean(distances.min(1) < 0.2), np.mean(distances.min(0) < 0.2)
    print(f"losses: discriminator {d_loss:.4f}, generator {g_loss:.4f}")
    print(f"share of samples near the data {near:.4f}, of the data near samples {covered:.4f}")

    plt.scatter(*real.T, s=4, label="data")
    plt.scatter(*made.T, s=4, label="generator")
    plt.legend()
    plt.savefig("gan_2d.png", dpi=120)
    return near, covered


if __name__ == "__main__":
    main()
