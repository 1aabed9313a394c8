"""A line through noisy points, y = 2x + 1, by gradient descent on two variables.

python examples/linear_regression.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf


def main():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(1000).astype("float32")
    y = 2.0 * x + 1.0 + 0.1 * rng.standard_normal(1000).astype("float32")
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

    w, b = tf.Variable(0.0), tf.Variable(0.0)
    epochs = 3 if SMALL else 20
    for epoch in range(epochs):
        for x_batch, y_batch in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w * x_batch + b - y_batch))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)
        print(f"Epoch {epoch + 1}: loss {loss:.5f}, w = {w.numpy():.4f}, b = {b.numpy():.4f}")

    line = np.linspace(x.min(), x.max(), 2, dtype="float32")
    plt.scatter(x, y, s=4, alpha=0.4)
    plt.plot(line, w * line + b, color="tab:red", label=f"{w.numpy():.3f} x + {b.numpy():.3f}")
    plt.legend()
    plt.savefig("linear_regression.png", dpi=120)
    return float(w), float(b)


if __name__ == "__main__":
    main()
