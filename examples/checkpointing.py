"""Memory for time: a deep network whose inner values are computed again on the way back.

`tf.recompute_grad` (also `keras.remat`) keeps a block's inputs and variables, and nothing that is
between. The gradients are the same to the last bit.

python examples/checkpointing.py
"""

import time
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework import keras

DEPTH, WIDTH, BATCH = (16, 32, 64) if SMALL else (64, 256, 1024)


def make_layers():
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(WIDTH, activation="gelu") for _ in range(DEPTH)]
    for layer in layers:
        layer.build((None, WIDTH))
    return layers


def in_blocks(layers, size):
    """Functions that each call `size` layers and keep nothing for the way back but their input."""
    blocks = [keras.Sequential(layers[i : i + size]) for i in range(0, len(layers), size)]
    return [tf.recompute_grad(block) for block in blocks]


def measure(functions, x, variables):
    """Gradients, the peak of memory above what was there before, and seconds."""
    tracemalloc.start()
    start = time.perf_counter()
    with tf.GradientTape() as tape:
        y = x
        for function in functions:
            y = function(y)
        loss = tf.reduce_mean(y * y)
    gradients = tape.gradient(loss, variables)
    seconds = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return gradients, peak / 2**20, seconds


def main():
    layers = make_layers()
    variables = [v for layer in layers for v in layer.trainable_variables]
    x = tf.random.normal((BATCH, WIDTH), seed=0)
    ways = {"keeping all": layers}
    for size in (1, 4, 8, 16):
        ways[f"blocks of {size}"] = in_blocks(layers, size)

    plain, peaks = None, {}
    for name, functions in ways.items():
        gradients, peaks[name], seconds = measure(functions, x, variables)
        plain = plain or gradients
        same = all(np.array_equal(a, b) for a, b in zip(plain, gradients, strict=True))
        bits = "same" if same else "different"
        print(f"{name}: peak {peaks[name]:.2f} MiB, {seconds:.2f} s, {bits} gradients")

    plt.bar(list(peaks), list(peaks.values()))
    plt.ylabel("peak memory, MiB")
    plt.savefig("checkpointing.png", dpi=120)
    return peaks


if __name__ == "__main__":
    main()
