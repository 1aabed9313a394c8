"""The measuring process of jacobian.py: `jacobian_worker.py PEER CASE SECONDS`.

Answers with the median and the least time of a call, and with some numbers of its result, from
which jacobian.py sees whether all libraries computed the same.
"""

import itertools
import statistics
import sys
import time
from collections.abc import Callable

import measure
import numpy as np

BATCH = 32
MLP = (64, 64, 64, 64)  # batch_jacobian: three layers of tanh
SMALL = (7, 27, 27, 1)  # hessian: 1,000 parameters, tanh between the layers, mean squared error
SHOWN = 50  # numbers of the result, evenly apart
WARM_UP = 5  # calls
FEWEST = 15  # timed calls, however long one takes

Call = Callable[[], list]  # computes the arrays and waits for them


def problem(sizes: tuple[int, ...]) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Kernels and biases in turn, inputs, and outputs to be reached; always the same."""
    generator = np.random.default_rng(0)
    weights = []
    for rows, columns in itertools.pairwise(sizes):
        kernel = generator.normal(size=(rows, columns)) / rows**0.5
        weights += [kernel, generator.normal(scale=0.1, size=columns)]
    x, y = (generator.normal(size=(BATCH, size)) for size in (sizes[0], sizes[-1]))
    return [w.astype(np.float32) for w in weights], x.astype(np.float32), y.astype(np.float32)


def by_tape(tf, case: str) -> Call:
    """The framework and TensorFlow, eager: the same code."""
    arrays, x, y = problem(MLP if case == "batch_jacobian" else SMALL)
    weights = [tf.Variable(w) for w in arrays]
    x, y = tf.constant(x), tf.constant(y)

    def batch_jacobian() -> list:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            h = x
            for kernel, bias in zip(weights[::2], weights[1::2], strict=True):
                h = tf.tanh(tf.matmul(h, kernel) + bias)
        return [tape.batch_jacobian(h, x)]

    def hessian() -> list:
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                h = x
                for kernel, bias in zip(weights[::2], weights[1::2], strict=True):
                    h = tf.matmul(h if h is x else tf.tanh(h), kernel) + bias
                loss = tf.reduce_mean(tf.square(h - y))
            gradients = inner.gradient(loss, weights)
        return [block for g in gradients for block in outer.jacobian(g, weights)]

    return {"batch_jacobian": batch_jacobian, "hessian": hessian}[case]


def by_jax(case: str) -> Call:
    """JAX, each call one jitted function; the better of its two modes for each."""
    import jax
    import jax.numpy as jnp

    arrays, x, y = problem(MLP if case == "batch_jacobian" else SMALL)
    weights, x = [jnp.asarray(w) for w in arrays], jnp.asarray(x)

    def network(x, weights):
        for kernel, bias in zip(weights[::2], weights[1::2], strict=True):
            x = jnp.tanh(x @ kernel + bias)
        return x

    def loss(weights):
        h = x
        for kernel, bias in zip(weights[::2], weights[1::2], strict=True):
            h = (h if h is x else jnp.tanh(h)) @ kernel + bias
        return jnp.mean(jnp.square(h - y))

    compiled = {
        "batch_jacobian": jax.jit(jax.vmap(jax.jacfwd(network), (0, None))),
        "hessian": jax.jit(jax.hessian(loss)),
    }[case]
    given = (x, weights) if case == "batch_jacobian" else (weights,)
    return lambda: jax.tree.leaves(jax.block_until_ready(compiled(*given)))


def prepared(peer: str, case: str) -> tuple[Call, str]:
    """The call, and the library's version."""
    if peer == "jax.jit":
        import jax

        return by_jax(case), jax.__version__
    if peer == "tf eager":
        import tensorflow as tf
    else:
        import framework as tf
    return by_tape(tf, case), tf.__version__


def main() -> None:
    """Prepare, warm up, measure, answer."""
    peer, case, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    call, version = prepared(peer, case)
    numbers = np.concatenate([np.ravel(np.asarray(block)) for block in call()])
    for _ in range(WARM_UP):
        call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < FEWEST:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    measure.answer(
        {
            "median": statistics.median(times),
            "least": min(times),
            "calls": len(times),
            "version": version,
            "outputs": [float(v) for v in numbers[:: max(len(numbers) // SHOWN, 1)]],
            "size": len(numbers),
        }
    )


if __name__ == "__main__":
    main()
