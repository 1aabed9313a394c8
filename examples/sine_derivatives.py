"""The sine and its first three derivatives, by functions of functions and by nested tapes.

python examples/sine_derivatives.py
"""

import math

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf
from framework.autodiff import gradients_function


def derivative(f):
    """f', where f maps each element of a tensor by itself."""
    return lambda x: gradients_function(f)(x)[0]


def by_functions(x):
    """The sine at `x` and three derivatives: each is a function that can be derived again."""
    functions = [tf.sin]
    for _ in range(3):
        functions.append(derivative(functions[-1]))
    return [f(x) for f in functions]


def by_tapes(x):
    """The same, written out: each tape records the gradient that the tape inside it computes."""
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = tf.sin(x)
            dy = first.gradient(y, x)
        d2y = second.gradient(dy, x)
    d3y = third.gradient(d2y, x)
    return [y, dy, d2y, d3y]


def main():
    points = 50 if SMALL else 500
    x = tf.linspace(tf.constant(-2 * math.pi, tf.float64), 2 * math.pi, points)
    curves = by_functions(x)
    same = all(np.array_equal(a, b) for a, b in zip(curves, by_tapes(x), strict=True))
    print("Functions and tapes", "agree to the last bit." if same else "differ.")

    at = x.numpy()
    exact = [np.sin(at), np.cos(at), -np.sin(at), -np.cos(at)]
    names = ["sine", "first", "second", "third"]
    errors = [np.abs(a.numpy() - b).max() for a, b in zip(curves, exact, strict=True)]
    for name, curve, error in zip(names, curves, errors, strict=True):
        print(f"{name:>6}: largest error {error:.1e}")
        plt.plot(x, curve, label=name)
    plt.legend(loc="upper right")
    plt.savefig("sine_derivatives.png", dpi=120)
    return same, max(errors)


if __name__ == "__main__":
    main()
