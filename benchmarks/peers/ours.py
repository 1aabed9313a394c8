"""The framework itself: the explicit step, a raw tape under `@function` or eager, and fit."""

from functools import partial

from networks import NETWORKS, of_prediction
from workloads import Problem

import framework as tf
from peers import CLASSIFIERS, Library, Step, models, tape
from peers.fitting import Fit


def library(mode: str) -> Library:
    """Every step is done when it returns."""
    makers = {
        "step": explicit,
        "function": partial(tape.step, tf, tf.function),
        "eager": partial(tape.step, tf, tape.eager),
        "fit": partial(Fit, tf.keras),
        "best": best,
    }
    return Library(tf.__version__, tf.constant, tuple, makers[mode])


def explicit(name: str, problem: Problem) -> Step:
    """`model.training_step`; where there is no such loss of a model, the tape under @function."""
    network = of_prediction(name)
    if network:
        model = models.build(tf.keras, network, problem)
        return lambda x, labels: (model.predict(x, verbose=0).max(1),)
    if name not in (*CLASSIFIERS, *NETWORKS) and not name.startswith("scaled"):
        return tape.step(tf, tf.function, name, problem)
    model = models.build(tf.keras, name, problem)
    step = model.training_step(loss=models.loss(tf.keras), optimizer=models.adam(tf.keras))
    return lambda x, labels: (step(x, labels),)


def best(name: str, problem: Problem) -> Step:
    """The face that counts for the workload: `ops` is one of eager ops."""
    return tape.step(tf, tape.eager, name, problem) if name == "ops" else explicit(name, problem)
