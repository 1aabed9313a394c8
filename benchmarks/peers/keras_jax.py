"""Keras on JAX: its stateless calls in one jitted function, and fit."""

from functools import partial

import jax
import jax.numpy as jnp
import keras
from workloads import Problem

from peers import Library, Step, models
from peers.fitting import Fit


def library(mode: str) -> Library:
    """JAX returns before the work is done, so each step waits for its outputs."""
    assert keras.backend.backend() == "jax", keras.backend.backend()
    version = f"{keras.__version__}, jax {jax.__version__}"
    make = {"stateless": stateless, "fit": partial(Fit, keras)}[mode]
    return Library(version, jnp.asarray, jax.block_until_ready, make)


def stateless(name: str, problem: Problem) -> Step:
    """The step of Keras's guide to training loops in JAX."""
    model, optimizer = models.build(keras, name, problem), models.adam(keras)
    cross_entropy = models.loss(keras)
    optimizer.build(model.trainable_variables)

    def loss_of(trained, fixed, x, labels):
        logits, fixed = model.stateless_call(trained, fixed, x, training=True)
        return cross_entropy(labels, logits), fixed

    @jax.jit
    def update(state, x, labels):
        trained, fixed, slots = state
        slope = jax.value_and_grad(loss_of, has_aux=True)
        (loss, fixed), gradients = slope(trained, fixed, x, labels)
        trained, slots = optimizer.stateless_apply(slots, gradients, trained)
        return (trained, fixed, slots), loss

    parts = (model.trainable_variables, model.non_trainable_variables, optimizer.variables)
    state = tuple([variable.value for variable in part] for part in parts)

    def step(*batch):
        nonlocal state
        state, loss = update(state, *batch)
        return (loss,)

    return step
