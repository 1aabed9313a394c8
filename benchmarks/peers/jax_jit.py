"""JAX: each step one jitted function of the parameters, with the optimizers written out."""

import jax
import jax.numpy as jnp
from workloads import ADAM, Problem

from peers import Library, Step


def library(mode: str) -> Library:
    """JAX returns before the work is done, so each step waits for its outputs."""
    assert mode == "jit", mode
    steps = {"linreg": linreg, "ops": ops, "mlp_small": mlp_small}
    return Library(jax.__version__, jnp.asarray, jax.block_until_ready, steps)


def training(update, state) -> Step:
    """The step that keeps the state: `update(state, *batch)` gives the next state and the loss."""
    update = jax.jit(update)

    def step(*batch):
        nonlocal state
        state, loss = update(state, *batch)
        return (loss,)

    return step


def linreg(problem: Problem) -> Step:
    def loss_of(weights, x, y):
        return jnp.mean(jnp.square(weights["w"] * x + weights["b"] - y))

    def update(weights, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        return jax.tree.map(lambda weight, g: weight - 0.1 * g, weights, gradients), loss

    return training(update, jax.tree.map(jnp.asarray, problem.weights))


def ops(problem: Problem) -> Step:
    def loss_of(x, scale, up, down):
        for _ in range(50):
            x = jnp.tanh(x * scale + up) - down
        return jnp.sum(x)

    gradient = jax.jit(jax.value_and_grad(loss_of))
    x = jnp.asarray(problem.weights["x"])
    return lambda *batch: gradient(x, *batch)


def mlp_small(problem: Problem) -> Step:
    def loss_of(weights, x, labels):
        hidden = jax.nn.relu(x @ weights["hidden/kernel"] + weights["hidden/bias"])
        logits = hidden @ weights["logits/kernel"] + weights["logits/bias"]
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
        return -jnp.mean(chosen)

    def update(state, x, labels):
        weights, slots = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, labels)
        weights, slots = adam(weights, gradients, slots, **ADAM)
        return (weights, slots), loss

    weights = jax.tree.map(jnp.asarray, problem.weights)
    return training(update, (weights, adam_slots(weights)))


def adam_slots(weights) -> tuple:
    """First and second moments, and the number of steps done."""
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return zeros, zeros, jnp.zeros((), jnp.int32)


def adam(weights, gradients, slots, rate, epsilon, beta_1=0.9, beta_2=0.999) -> tuple:
    """Adam as Keras has it; returns the new weights and the new slots."""
    means, squares, steps = slots
    steps = steps + 1
    rate = rate * jnp.sqrt(1 - beta_2**steps) / (1 - beta_1**steps)
    means = jax.tree.map(lambda m, g: beta_1 * m + (1 - beta_1) * g, means, gradients)
    squares = jax.tree.map(lambda s, g: beta_2 * s + (1 - beta_2) * g * g, squares, gradients)
    weights = jax.tree.map(
        lambda w, m, s: w - rate * m / (jnp.sqrt(s) + epsilon), weights, means, squares
    )
    return weights, (means, squares, steps)
