"""The workloads of train_step.py: shared initial weights and data in NumPy, from fixed seeds.

A workload is one entry here and one function of the same name in each file of `peers/`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Weights = dict[str, np.ndarray]
Batch = tuple[np.ndarray, ...]

# Keras and torch add Adam's epsilon in different places; so small a one makes no difference.
ADAM = {"rate": 1e-3, "epsilon": 1e-10}

BATCHES = 16  # different ones, used in turn, so that no data stays in the nearest cache for free


@dataclass(frozen=True)
class Problem:
    """What every peer starts from: weights by name, and the batches of the data in order."""

    weights: Weights
    batches: list[Batch]


@dataclass(frozen=True)
class Workload:
    """How a problem is made, what a step does, and the most our step may take of torch's."""

    make: Callable[[np.random.Generator], Problem]
    step: str
    target: float | None = None

    def problem(self) -> Problem:
        """Make it, always the same one."""
        return self.make(np.random.default_rng(0))


def glorot(generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Uniform initial weights of a dense layer, rows in, columns out."""
    limit = (6 / (rows + columns)) ** 0.5
    return generator.uniform(-limit, limit, (rows, columns)).astype(np.float32)


def linreg(generator: np.random.Generator) -> Problem:
    """Points around the line 2x + 1, to be fitted from w = b = 0."""
    zero = np.zeros((), np.float32)
    batches = []
    for _ in range(BATCHES):
        x = generator.normal(size=32).astype(np.float32)
        noise = generator.normal(scale=0.1, size=32).astype(np.float32)
        batches.append((x, 2 * x + 1 + noise))
    return Problem({"w": zero, "b": zero}, batches)


def ops(generator: np.random.Generator) -> Problem:
    """A vector and three constants, near which 50 rounds of tanh let the gradient through."""
    x = generator.uniform(-0.5, 0.5, 8).astype(np.float32)
    scale = generator.uniform(0.95, 1.0, 8).astype(np.float32)
    shifts = generator.uniform(0.1, 0.2, (2, 8)).astype(np.float32)
    return Problem({"x": x}, [(scale, shifts[0], shifts[1])])


def mlp_small(generator: np.random.Generator) -> Problem:
    """Noise images with the labels that a random linear teacher gives them."""
    weights = {
        "hidden/kernel": glorot(generator, 784, 128),
        "hidden/bias": np.zeros(128, np.float32),
        "logits/kernel": glorot(generator, 128, 10),
        "logits/bias": np.zeros(10, np.float32),
    }
    teacher = generator.normal(size=(784, 10))
    batches = []
    for _ in range(BATCHES):
        x = generator.uniform(-1, 1, (64, 784)).astype(np.float32)
        batches.append((x, np.argmax(x @ teacher, axis=1)))
    return Problem(weights, batches)


WORKLOADS = {
    "linreg": Workload(linreg, "y = wx + b on scalars, batch 32, SGD 0.1", target=0.8),
    "ops": Workload(
        ops, "50 x (multiply, add, tanh, subtract) on float32[8], forward and backward", target=0.55
    ),
    "mlp_small": Workload(
        mlp_small, "784-128(relu)-10, batch 64, sparse cross-entropy, Adam 1e-3", target=1.2
    ),
}
