"""The steps in GradientTape code, as the tutorials write it: for us and, unchanged, for TensorFlow.

`tf` is the library. `function` makes a step of a Python function: `tf.function`, or nothing at all.
"""

from collections.abc import Callable
from types import ModuleType

from networks import of_prediction
from workloads import Problem

from peers import Step, models

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


def pinn(tf: ModuleType, function: Wrapper, problem: Problem) -> Step:
    model = models.build(tf.keras, "pinn", problem)
    optimizer = models.adam(tf.keras)

    @function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    u = model(x)
                slope = inner.gradient(u, x)
            loss = tf.reduce_mean(tf.square(outer.gradient(slope, x) + u))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return (loss,)

    return step


def classifier(tf: ModuleType, function: Wrapper, name: str, problem: Problem) -> Step:
    model = models.build(tf.keras, name, problem)
    cross_entropy, optimizer = models.loss(tf.keras), models.adam(tf.keras)

    @function
    def step(x, labels):
        with tf.GradientTape() as tape:
            loss = cross_entropy(labels, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return (loss,)

    return step


MAKERS = {"linreg": linreg, "ops": ops, "pinn": pinn}


def step(tf: ModuleType, function: Wrapper, name: str, problem: Problem) -> Step:
    """The step of a workload, for one library."""
    if name in MAKERS:
        return MAKERS[name](tf, function, problem)
    network = of_prediction(name)
    if network:
        model = models.build(tf.keras, network, problem)
        scores_of = function(lambda x: model(x, training=False))
        return lambda x, labels: (scores_of(x).numpy().max(1),)
    return classifier(tf, function, name, problem)
