"""MAML on sine waves: a net whose weights are a good place to learn any of them from.

The meta-gradient goes through the inner gradient step (Finn et al. 2017, arXiv:1703.03400). All
tasks of a batch are computed at once: each has its own copy of the weights, on a leading axis.

python examples/maml_sine.py
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

TASKS, POINTS, RATE = 25, 10, 0.01
RATES = [0.001, 0.003, 0.01]  # in the comparison each net gets the one that suits it best
SIZES = [1, 40, 40, 1]


def make_weights():
    keras.utils.set_random_seed(0)
    he = keras.initializers.HeNormal()
    kernels = [tf.Variable(he((n, m))) for n, m in itertools.pairwise(SIZES)]
    return [v for kernel in kernels for v in (kernel, tf.Variable(tf.zeros((1, kernel.shape[1]))))]


def sines(rng, tasks):
    """Points to learn from and points to be tested on, each of shape (tasks, POINTS, 1)."""
    amplitude, phase = rng.uniform(0.1, 5.0, (tasks, 1, 1)), rng.uniform(0.0, np.pi, (tasks, 1, 1))
    x = rng.uniform(-5.0, 5.0, (2, tasks, POINTS, 1))
    y = amplitude * np.sin(x - phase)
    return [(tf.constant(a, tf.float32), tf.constant(b, tf.float32)) for a, b in zip(x, y)]


def net(weights, x):
    for kernel, bias in zip(weights[0:-2:2], weights[1:-2:2]):
        x = tf.nn.relu(x @ kernel + bias)
    return x @ weights[-2] + weights[-1]


def losses(weights, x, y):
    """One for each task."""
    return tf.reduce_mean((net(weights, x) - y) ** 2, axis=(1, 2))


def adapted(weights, x, y, steps, rate=RATE):
    """The tasks' own weights after a few steps of descent; an outer tape sees the steps."""
    tasks = x.shape[0]
    weights = [tf.broadcast_to(w, (tasks, *w.shape)) for w in weights]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = losses(weights, x, y)
        gradients = tape.gradient(loss, weights)
        weights = [w - rate * g for w, g in zip(weights, gradients)]
    return weights


def train(inner_steps, iterations):
    """Weights trained to be good after `inner_steps`; 0 is plain training on all tasks."""
    weights, rng, optimizer = make_weights(), np.random.default_rng(1), keras.optimizers.Adam()
    for _ in range(iterations):
        support, query = sines(rng, TASKS)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(losses(adapted(weights, *support, inner_steps), *query))
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return weights


def learning_curve(weights, support, query, rate):
    """The mean loss on the query points after 0, 1, ... 5 steps on the support points."""
    after = [losses(adapted(weights, *support, steps, rate), *query) for steps in range(6)]
    return [float(tf.reduce_mean(loss)) for loss in after]


def main():
    iterations = 100 if SMALL else 6000
    support, query = sines(np.random.default_rng(2), 200)  # tasks that nobody has seen
    x = np.linspace(-5, 5, 200, dtype="float32")[:, None]
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    curves = {}
    for name, inner_steps in (("MAML", 1), ("pretrained", 0)):
        weights = train(inner_steps, iterations)
        found = {rate: learning_curve(weights, support, query, rate) for rate in RATES}
        rate = min(RATES, key=lambda rate: found[rate][-1])
        curves[name] = found[rate]
        start, one, *_, five = found[rate]
        print(f"{name}: loss {start:.4f}, after 1 step {one:.4f}, after 5 {five:.4f}, rate {rate}")
        left.plot(found[rate], marker="o", label=name)
        of_first = [w[0] for w in adapted(weights, *support, 5, rate)]
        right.plot(x, net(of_first, x), label=f"{name}, after 5 steps")
    for (x, y), marker in ((support, "k^"), (query, "k.")):
        right.plot(x[0, :, 0], y[0, :, 0], marker)
    left.set(xlabel="steps of descent on ten points", ylabel="loss on ten others")
    left.legend()
    right.legend()
    plt.savefig("maml_sine.png", dpi=120)
    return curves


if __name__ == "__main__":
    main()
