"""The steps in GradientTape code, as the tutorials write it: for us and, unchanged, for TensorFlow.

`tf` is the library. `function` makes a step of a Python function: `tf.function`, or nothing at all.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType

from workloads import ADAM, Problem

from peers import Step

Wrapper = Callable[[Step], Step]


def eager(step: Step) -> Step:
    """The step as it is written."""
    return step


def linreg(tf: ModuleType, function: Wrapper, problem: Problem) -> Step:
    w, b = tf.Variable(problem.weights["w"]), tf.Variable(problem.weights["b"])
    optimizer = tf.keras.optimizers.SGD(0.1)

    @function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w * x + b - y))
        gradients = tape.gradient(loss, [w, b])
        optimizer.apply_gradients(zip(gradients, [w, b]))
        return (loss,)

    return step


def ops(tf: ModuleType, function: Wrapper, problem: Problem) -> Step:
    x = tf.Variable(problem.weights["x"])

    @function
    def step(scale, up, down):
        with tf.GradientTape() as tape:
            h = x
            for _ in range(50):
                h = tf.tanh(h * scale + up) - down
            loss = tf.reduce_sum(h)
        return loss, tape.gradient(loss, x)

    return step


def mlp_small(tf: ModuleType, function: Wrapper, problem: Problem) -> Step:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Input((784,)), layers.Dense(128, activation="relu"), layers.Dense(10)]
    )
    model.set_weights(list(problem.weights.values()))
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(ADAM["rate"], epsilon=ADAM["epsilon"])

    @function
    def step(x, labels):
        with tf.GradientTape() as tape:
            loss = cross_entropy(labels, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return (loss,)

    return step


def steps(tf: ModuleType, function: Wrapper) -> dict[str, Callable[[Problem], Step]]:
    """All of them, for one library."""
    makers = {"linreg": linreg, "ops": ops, "mlp_small": mlp_small}
    return {name: partial(make, tf, function) for name, make in makers.items()}
