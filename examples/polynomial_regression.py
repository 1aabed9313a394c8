"""The coefficients of a parabola from its points, with Adam on three variables.

python examples/polynomial_regression.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras


def main():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, 400).astype("float32")
    y = 6.0 * x**2 + 8.0 * x + 2.0 + rng.standard_normal(400).astype("float32")
    x, y = tf.constant(x), tf.constant(y)

    coefficients = tf.Variable(tf.zeros(3))
    optimizer = keras.optimizers.Adam(0.1)

    def polynomial(x):
        a, b, c = coefficients[0], coefficients[1], coefficients[2]
        return a * x**2 + b * x + c

    for step in range(100 if SMALL else 1000):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((polynomial(x) - y) ** 2)
        gradient = tape.gradient(loss, coefficients)
        optimizer.apply_gradients([(gradient, coefficients)])
        if step % 100 == 0:
            print(f"Step {step}: loss {loss:.4f}")

    a, b, c = coefficients.numpy()
    print(f"y = {a:.3f} x^2 + {b:.3f} x + {c:.3f}   (made with 6 x^2 + 8 x + 2 and noise)")
    curve = tf.linspace(-2.0, 2.0, 100)
    plt.scatter(x, y, s=4, alpha=0.4)
    plt.plot(curve, polynomial(curve), color="tab:red")
    plt.savefig("polynomial_regression.png", dpi=120)
    return float(a), float(b), float(c)


if __name__ == "__main__":
    main()
