"""Physics-informed networks: nets trained to obey a differential equation, without any data.

The damped oscillator u'' + 2 d u' + w0^2 u = 0, and Burgers' equation u_t + u u_x = nu u_xx, each
beside its exact solution. Initial and boundary values are built into the form of the solution, so
that the loss is the equation's residual alone.

python examples/pinn.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

DAMPING, FREQUENCY, VISCOSITY = 1.0, 6.0, 0.1


def train(residual, inputs, steps):
    """A network trained until `residual(net, points)` is small at random points of [0, 1]^n."""
    keras.utils.set_random_seed(0)
    net = keras.Sequential([keras.layers.Dense(32, activation="tanh") for _ in range(2)])
    net.add(keras.layers.Dense(1))
    net.build((None, inputs))
    optimizer = keras.optimizers.Adam()
    for step in range(steps):
        optimizer.learning_rate = 0.01 * 0.01 ** (step / steps)
        points = tf.random.uniform((200, inputs))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(residual(net, points) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return net


def oscillation(net, t):
    """u(0) = 1 and u'(0) = 0, whatever the network says."""
    return 1.0 + t**2 * net(t)


def oscillator_residual(net, t):
    with tf.GradientTape() as outer:
        outer.watch(t)
        with tf.GradientTape() as inner:
            inner.watch(t)
            u = oscillation(net, t)
        du = inner.gradient(u, t)
    d2u = outer.gradient(du, t)
    return (d2u + 2 * DAMPING * du + FREQUENCY**2 * u) / FREQUENCY**2


def exact_oscillation(t):
    w = np.sqrt(FREQUENCY**2 - DAMPING**2)
    return np.exp(-DAMPING * t) * (np.cos(w * t) + DAMPING / w * np.sin(w * t))


def wave(net, t, x):
    """u(0, x) = -sin(pi x) and u(t, 1) = u(t, -1) = 0, whatever the network says."""
    return -tf.sin(np.pi * x) + t * (1 - x**2) * net(tf.concat([t, x], axis=1))


def burgers_residual(net, points):
    t, x = points[:, :1], 2 * points[:, 1:] - 1
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch([t, x])
            u = wave(net, t, x)
        u_t, u_x = inner.gradient(u, [t, x])
    u_xx = outer.gradient(u_x, x)
    return u_t + u * u_x - VISCOSITY * u_xx


def exact_wave(t, x):
    """The Cole-Hopf transformation, its integrals by Gauss-Hermite quadrature."""
    z, weights = np.polynomial.hermite.hermgauss(60)
    y = x[..., None] - np.sqrt(4 * VISCOSITY * t)[..., None] * z
    f = weights * np.exp(-np.cos(np.pi * y) / (2 * np.pi * VISCOSITY))
    return -np.sum(np.sin(np.pi * y) * f, axis=-1) / np.sum(f, axis=-1)


def compare(axis, x, exact, found, name):
    """Draw both; the largest difference."""
    axis.plot(x, exact, label=name)
    axis.plot(x, found, "k:")
    axis.legend()
    return np.abs(found.numpy() - exact).max()


def main():
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    steps = 100 if SMALL else 6000
    net = train(oscillator_residual, 1, steps)
    t = np.linspace(0, 1, 200, dtype="float32")[:, None]
    of_oscillator = compare(left, t, exact_oscillation(t), oscillation(net, t), "oscillator")
    print(f"oscillator: largest error {of_oscillator:.6f}")

    net = train(burgers_residual, 2, steps)
    x = 2 * t - 1
    of_burgers = max(
        compare(right, x, exact_wave(now, x), wave(net, now, x), f"t = {now[0, 0]}")
        for now in (np.full_like(x, time) for time in (0.0, 0.25, 0.5, 1.0))
    )
    print(f"Burgers: largest error {of_burgers:.6f}")
    plt.savefig("pinn.png", dpi=120)
    return of_oscillator, of_burgers


if __name__ == "__main__":
    main()
