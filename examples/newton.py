"""Newton's method on Rosenbrock's valley: the Hessian is the jacobian of a gradient.

Near the minimum each step squares the distance, up to a factor: the digits double.

python examples/newton.py
"""

import matplotlib.pyplot as plt
import numpy as np
from digits_or_mnist import SMALL

import framework as tf


def rosenbrock(p):
    """The minimum, 0, is at (1, 1), in a narrow bent valley."""
    return (1.0 - p[0]) ** 2 + 100.0 * (p[1] - p[0] ** 2) ** 2


def derivatives(f, p):
    """f(p), its gradient and its Hessian."""
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            value = f(p)
        gradient = inner.gradient(value, p)
    return value, gradient, outer.jacobian(gradient, p)


def newton(f, start, steps):
    """The path of p - H^-1 g."""
    p = tf.Variable(start, dtype=tf.float64)
    path = [p.numpy()]
    for _ in range(steps):
        _, gradient, hessian = derivatives(f, p)
        p.assign_sub(tf.linalg.solve(hessian, gradient[:, None])[:, 0])
        path.append(p.numpy())
    return np.array(path)


def descent(f, start, steps, learning_rate=0.001):
    """The path of plain gradient descent, for comparison."""
    p = tf.Variable(start, dtype=tf.float64)
    path = [p.numpy()]
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = f(p)
        p.assign_sub(learning_rate * tape.gradient(value, p))
        path.append(p.numpy())
    return np.array(path)


def main():
    start, minimum = [-1.2, 1.0], np.array([1.0, 1.0])
    path = newton(rosenbrock, start, steps=6)
    distances = np.linalg.norm(path - minimum, axis=1)
    print("step  distance      distance / previous squared")
    for step, distance in enumerate(distances):
        ratio = f"{distance / distances[step - 1] ** 2:.3f}" if step else ""
        print(f"{step:4d}  {distance:.6e}  {ratio}")

    slow = descent(rosenbrock, start, steps=100 if SMALL else 5000)
    left = np.linalg.norm(slow[-1] - minimum)
    print(f"Gradient descent after {len(slow) - 1} steps: distance {left:.6f}")

    x, y = np.meshgrid(np.linspace(-1.8, 1.8, 200), np.linspace(-3.5, 2, 200))
    plt.contourf(x, y, np.log10(rosenbrock([x, y]) + 1e-3), levels=20, cmap="Greys")
    plt.plot(*slow.T, label=f"gradient descent, {len(slow) - 1} steps")
    plt.plot(*path.T, marker="o", label=f"Newton, {len(path) - 1} steps")
    plt.plot(*minimum, "r*", markersize=12)
    plt.legend()
    plt.savefig("newton.png", dpi=120)
    return distances


if __name__ == "__main__":
    main()
