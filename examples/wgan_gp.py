"""A Wasserstein GAN with gradient penalty, on a ring of eight Gaussians.

The penalty (Gulrajani et al. 2017, arXiv:1704.00028) is a function of the critic's gradient: to
train the critic is to differentiate that gradient. These second derivatives are checked against
finite differences first.

python examples/wgan_gp.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

BATCH, CRITIC_STEPS, WEIGHT = 128, 5, 1.0


def make(outputs, units=64, activation="relu", dtype="float32"):
    layers = [keras.layers.Dense(units, activation, dtype=dtype) for _ in range(3)]
    model = keras.Sequential([*layers, keras.layers.Dense(outputs, dtype=dtype)])
    model.build((None, 2))
    return model


def ring(rng, n):
    angle = rng.integers(0, 8, n) * np.pi / 4
    points = 2 * np.stack([np.cos(angle), np.sin(angle)], 1) + 0.05 * rng.standard_normal((n, 2))
    return tf.constant(points, tf.float32)


def penalty(critic, x):
    """How far the length of the critic's gradient at each x is from 1, squared."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        scores = critic(x)
    gradient = tape.gradient(scores, x)
    length = tf.sqrt(tf.reduce_sum(gradient**2, axis=1) + 1e-12)
    return tf.reduce_mean((length - 1.0) ** 2)


def check_penalty():
    """The penalty's derivatives by weights and points against differences, in float64."""
    critic = make(outputs=1, units=16, activation="tanh", dtype="float64")
    x = np.random.default_rng(0).standard_normal((32, 2))
    return tf.debugging.check_gradients(lambda x: penalty(critic, x), [x])


def train(rng, iterations):
    generator, critic = make(outputs=2), make(outputs=1)
    g_optimizer, c_optimizer = (keras.optimizers.Adam(1e-3, 0.5, 0.9) for _ in range(2))
    for _ in range(iterations):
        for _ in range(CRITIC_STEPS):
            real, fake = ring(rng, BATCH), generator(tf.random.normal((BATCH, 2)))
            between = real + tf.random.uniform((BATCH, 1)) * (fake - real)
            with tf.GradientTape() as tape:
                distance = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
                loss = -distance + WEIGHT * penalty(critic, between)
            gradients = tape.gradient(loss, critic.trainable_variables)
            c_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(critic(generator(tf.random.normal((BATCH, 2)))))
        gradients = tape.gradient(loss, generator.trainable_variables)
        g_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    return generator, critic, float(distance)


def main():
    keras.utils.set_random_seed(0)
    report = check_penalty()
    print(report)
    assert report, "the derivatives of the penalty are right"

    rng = np.random.default_rng(0)
    generator, critic, distance = train(rng, 40 if SMALL else 2000)
    made, real = generator(tf.random.normal((1000, 2))).numpy(), ring(rng, 1000).numpy()
    near = np.mean(np.linalg.norm(made[:, None] - real, axis=-1).min(axis=1) < 0.2)
    print(f"critic's distance {distance:.4f}; share of samples near the data {near:.4f}")

    grid = np.stack(np.meshgrid(*[np.linspace(-3, 3, 80, dtype="float32")] * 2), -1)
    heights = critic(grid.reshape(-1, 2)).numpy().reshape(80, 80)
    plt.contourf(grid[..., 0], grid[..., 1], heights, levels=20, cmap="Greys")
    plt.scatter(*real.T, s=4, label="data")
    plt.scatter(*made.T, s=4, label="generator")
    plt.legend()
    plt.savefig("wgan_gp.png", dpi=120)
    return near


if __name__ == "__main__":
    main()
