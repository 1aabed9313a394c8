"""JAX: each step one jitted function of the parameters, with layers and optimizers written out."""

import jax
import jax.numpy as jnp
from jax import lax
from workloads import ADAM, Problem

from peers import Library, Step


def library(mode: str) -> Library:
    """JAX returns before the work is done, so each step waits for its outputs."""
    assert mode == "jit", mode
    return Library(jax.__version__, jnp.asarray, jax.block_until_ready, step)


def step(name: str, problem: Problem) -> Step:
    """The step of a workload."""
    if name in MAKERS:
        return MAKERS[name](problem)
    return classifier(MODELS.get(name, mlp), problem)


def training(update, state) -> Step:
    """The step that keeps the state: `update(state, *batch)` gives the next state and the loss."""
    update = jax.jit(update, donate_argnums=0)

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

    return training(update, on_device(problem.weights))


def ops(problem: Problem) -> Step:
    def loss_of(x, scale, up, down):
        for _ in range(50):
            x = jnp.tanh(x * scale + up) - down
        return jnp.sum(x)

    gradient = jax.jit(jax.value_and_grad(loss_of))
    x = jnp.asarray(problem.weights["x"])
    return lambda *batch: gradient(x, *batch)


def pinn(problem: Problem) -> Step:
    def u(point, weights):
        h = point[None]
        for number in range(4):
            h = dense(weights, f"dense_{number}", h if number == 0 else jnp.tanh(h))
        return h[0]

    bend = jax.grad(jax.grad(u))

    def loss_of(weights, x):
        points = x[:, 0]
        value = jax.vmap(u, (0, None))(points, weights)
        return jnp.mean(jnp.square(jax.vmap(bend, (0, None))(points, weights) + value))

    def update(state, x):
        weights, slots = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, x)
        return adam(weights, gradients, slots, **ADAM), loss

    weights = on_device(problem.weights)
    return training(update, (weights, adam_slots(weights)))


MAKERS = {"linreg": linreg, "ops": ops, "pinn": pinn}


# ---- classifiers ---------------------------------------------------------------------------------


def classifier(model, problem: Problem) -> Step:
    """`model(weights, statistics, x)` gives logits and the next statistics (of batch norms)."""

    def loss_of(weights, statistics, x, labels):
        logits, statistics = model(weights, statistics, x)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
        return -jnp.mean(chosen), statistics

    def update(state, x, labels):
        weights, statistics, slots = state
        slope = jax.value_and_grad(loss_of, has_aux=True)
        (loss, statistics), gradients = slope(weights, statistics, x, labels)
        weights, slots = adam(weights, gradients, slots, **ADAM)
        return (weights, statistics, slots), loss

    fixed = {name for name in problem.weights if name.endswith(("/mean", "/variance"))}
    weights = on_device({n: w for n, w in problem.weights.items() if n not in fixed})
    statistics = on_device({name: problem.weights[name] for name in fixed})
    return training(update, (weights, statistics, adam_slots(weights)))


def mlp(weights, statistics, x):
    hidden = sum(name.endswith("kernel") for name in weights) - 1
    for number in range(hidden):
        x = jax.nn.relu(dense(weights, f"hidden_{number}", x))
    return dense(weights, "logits", x), statistics


def cnn(weights, statistics, x):
    for name in ("conv_0", "conv_1"):
        x = conv(weights, name, x, "VALID") + weights[f"{name}/bias"]
        x = jax.nn.relu(x)
    x = max_pool(x).reshape(x.shape[0], -1)
    return dense(weights, "logits", jax.nn.relu(dense(weights, "hidden", x))), statistics


def cnn_deep(weights, statistics, x):
    statistics = dict(statistics)
    for number in range(6):
        if number in (2, 4):
            x = max_pool(x)
        x = conv(weights, f"conv_{number}", x, "SAME")
        x = jax.nn.relu(batch_norm(weights, statistics, f"norm_{number}", x))
    return dense(weights, "logits", jnp.mean(x, (1, 2))), statistics


def lstm(weights, statistics, x):
    inputs = x @ weights["lstm/kernel"] + weights["lstm/bias"]

    def one(carry, gates):
        h, c = carry
        i, f, g, o = jnp.split(gates + h @ weights["lstm/recurrent_kernel"], 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zeros = jnp.zeros((x.shape[0], weights["lstm/recurrent_kernel"].shape[0]), x.dtype)
    (h, _), _ = lax.scan(one, (zeros, zeros), jnp.swapaxes(inputs, 0, 1))
    return dense(weights, "logits", h), statistics


def transformer(weights, statistics, x):
    for number in range(2):
        block = f"block_{number}"
        x = x + attention(weights, block, layer_norm(weights, f"{block}/norm_0", x))
        h = dense(weights, f"{block}/up", layer_norm(weights, f"{block}/norm_1", x))
        x = x + dense(weights, f"{block}/down", jax.nn.gelu(h, approximate=False))
    return dense(weights, "logits", jnp.mean(x, 1)), statistics


MODELS = {"cnn": cnn, "cnn_deep": cnn_deep, "lstm": lstm, "transformer": transformer}


# ---- layers --------------------------------------------------------------------------------------


def dense(weights, name, x):
    return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]


def conv(weights, name, x, padding):
    layout = ("NHWC", "HWIO", "NHWC")
    kernel = weights[f"{name}/kernel"]
    return lax.conv_general_dilated(x, kernel, (1, 1), padding, dimension_numbers=layout)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def batch_norm(weights, statistics, name, x):
    mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
    for part, value in (("mean", mean), ("variance", variance)):
        key = f"{name}/{part}"
        statistics[key] = 0.99 * statistics[key] + 0.01 * lax.stop_gradient(value)
    return normalised(weights, name, x, mean, variance)


def layer_norm(weights, name, x):
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return normalised(weights, name, x, mean, variance)


def normalised(weights, name, x, mean, variance):
    scale = weights[f"{name}/gamma"] * lax.rsqrt(variance + 1e-3)
    return (x - mean) * scale + weights[f"{name}/beta"]


def attention(weights, block, x):
    query, key, value = (
        jnp.einsum("btw,whd->bhtd", x, weights[f"{block}/{part}/kernel"])
        + weights[f"{block}/{part}/bias"][:, None]
        for part in ("query", "key", "value")
    )
    scores = jnp.einsum("bhqd,bhkd->bhqk", query, key) * query.shape[-1] ** -0.5
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), value)
    out = jnp.einsum("bhtd,hdw->btw", mixed, weights[f"{block}/output/kernel"])
    return out + weights[f"{block}/output/bias"]


# ---- the optimizer -------------------------------------------------------------------------------


def on_device(weights):
    return {name: jnp.array(value) for name, value in weights.items()}


def adam_slots(weights) -> tuple:
    """First and second moments, and the number of steps done."""
    means, squares = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    return means, squares, jnp.zeros((), jnp.int32)


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
