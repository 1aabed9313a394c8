"""Momentum written by hand on a long narrow valley, beside plain descent and keras's SGD.

python examples/momentum_from_scratch.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras


def valley(p):
    """Fifty times as steep across as along; the minimum is at (0, 0)."""
    return 0.5 * (p[0] ** 2 + 50.0 * p[1] ** 2)


def descend(update, steps):
    """The path of a point from (-4, 1) under `update(point, gradient)`."""
    point = tf.Variable([-4.0, 1.0])
    path = [point.numpy()]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            height = valley(point)
        update(point, tape.gradient(height, point))
        path.append(point.numpy())
    return np.array(path)


def momentum_by_hand(learning_rate, momentum):
    velocity = tf.Variable([0.0, 0.0])

    def update(point, gradient):
        velocity.assign(momentum * velocity - learning_rate * gradient)
        point.assign_add(velocity)

    return update


def main():
    steps = 20 if SMALL else 80
    sgd = keras.optimizers.SGD(0.02, momentum=0.8)
    paths = {
        "plain": descend(lambda point, gradient: point.assign_sub(0.02 * gradient), steps),
        "momentum by hand": descend(momentum_by_hand(0.02, 0.8), steps),
        "keras SGD": descend(
            lambda point, gradient: sgd.apply_gradients([(gradient, point)]), steps
        ),
    }
    for name, path in paths.items():
        print(f"{name:>17}: distance from the minimum {np.linalg.norm(path[-1]):.6f}")
        plt.plot(*path.T, marker=".", label=name, alpha=0.7)
    plt.legend()
    plt.savefig("momentum_from_scratch.png", dpi=120)
    return {name: float(np.linalg.norm(path[-1])) for name, path in paths.items()}


if __name__ == "__main__":
    main()
