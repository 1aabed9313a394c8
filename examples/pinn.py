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


def main():
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    net = train(oscillator_residual, inputs=1, steps=100 if SMALL else 6000)
    t = np.linspace(0, 1, 200, dtype="float32")[:, None]
    exact, found = exact_oscillation(t), oscillation(net, t).numpy()
    oscillator_error = np.abs(found - exact).max()
    print(f"oscillator: largest error {oscillator_error:.6f}")
    left.plot(t, exact, label="exact")
    left.plot(t, found, "--", label="network")
    left.legend()

    net = train(burgers_residual, inputs=2, steps=100 if SMALL else 6000)
    x = np.linspace(-1, 1, 200, dtype="float32")[:, None]
    burgers_error = 0.0
    for time in (0.0, 0.25, 0.5, 1.0):
        now = np.full_like(x, time)
        exact, found = exact_wave(now, x), wave(net, now, x).numpy()
        burgers_error = max(burgers_error, np.abs(found - exact).max())
        right.plot(x, exact, label=f"t = {time}")
        right.plot(x, found, "k:")
    print(f"Burgers: largest error {burgers_error:.6f}")
    right.legend()
    plt.savefig("pinn.png", dpi=120)
    return oscillator_error, burgers_error


if __name__ == "__main__":
    main()
