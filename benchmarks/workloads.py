"""The workloads of train_step.py: shared initial weights and data in NumPy, from fixed seeds.

A workload is one entry here and a step in each file of `peers/`. The weights come in the order in
which a Keras model holds them, and in its layouts.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

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
    """How a problem is made, what a step does, and how long it may take.

    `must` and `wanted` are the most that it may take of the fastest peer's time. `ours` is the face
    of ours that counts, `against` the peers it is held to (all where empty);
    `other` are further promises, (peers, most); `plain` is the most without Numba.
    """

    make: Callable[[np.random.Generator], Problem]
    step: str
    must: float
    wanted: float
    plain: float = 1.2
    ours: str = "framework"
    against: str = ""
    other: tuple[tuple[str, float], ...] = ()
    compared: int = 16  # first steps whose outputs must agree
    agreement: float = 1e-4  # the most they may differ, relative to their size

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


def pinn(generator: np.random.Generator) -> Problem:
    """Points between 0 and 2 pi for u'' + u = 0, and a network 1-64-64-64-1."""
    sizes = (1, 64, 64, 64, 1)
    weights = {}
    for number, (rows, columns) in enumerate(itertools.pairwise(sizes)):
        weights |= dense(generator, f"dense_{number}", rows, columns)
    points = generator.uniform(0, 2 * np.pi, (BATCHES, 256, 1)).astype(np.float32)
    return Problem(weights, [(x,) for x in points])


# ---- classifiers ---------------------------------------------------------------------------------


def mlp(generator: np.random.Generator, sizes: Sequence[int], batch: int) -> Problem:
    """Dense layers named hidden_0, hidden_1, ..., logits."""
    weights = {}
    for number, (rows, columns) in enumerate(itertools.pairwise(sizes)):
        name = "logits" if number == len(sizes) - 2 else f"hidden_{number}"
        weights |= dense(generator, name, rows, columns)
    return classified(generator, weights, (batch, sizes[0]), sizes[-1])


def cnn(generator: np.random.Generator) -> Problem:
    """Two convolutions 3x3 without padding, pooled by 2: 12 x 12 x 64 are left of 28 x 28."""
    weights = {
        **convolution(generator, "conv_0", 1, 32),
        "conv_0/bias": np.zeros(32, np.float32),
        **convolution(generator, "conv_1", 32, 64),
        "conv_1/bias": np.zeros(64, np.float32),
        **dense(generator, "hidden", 12 * 12 * 64, 128),
        **dense(generator, "logits", 128, 10),
    }
    return classified(generator, weights, (64, 28, 28, 1), 10)


def cnn_deep(generator: np.random.Generator) -> Problem:
    """Six convolutions without biases, which batch normalisation would take away again."""
    weights, channels = {}, 3
    for number, filters in enumerate((64, 64, 128, 128, 256, 256)):
        weights |= convolution(generator, f"conv_{number}", channels, filters)
        weights |= batch_norm(f"norm_{number}", filters)
        channels = filters
    weights |= dense(generator, "logits", channels, 10)
    return classified(generator, weights, (64, 32, 32, 3), 10)


def lstm(generator: np.random.Generator) -> Problem:
    """Gates in the order input, forget, cell, output; the forget gates begin open."""
    bias = np.zeros(4 * 128, np.float32)
    bias[128:256] = 1
    weights = {
        "lstm/kernel": glorot(generator, 32, 4 * 128),
        "lstm/recurrent_kernel": orthogonal(generator, 128, 4 * 128),
        "lstm/bias": bias,
        **dense(generator, "logits", 128, 10),
    }
    return classified(generator, weights, (64, 64, 32), 10)


def transformer(generator: np.random.Generator) -> Problem:
    """Two blocks of width 128, with weights of attention by head as Keras has them."""
    weights = {}
    for number in range(2):
        block = f"block_{number}"
        weights |= layer_norm(f"{block}/norm_0", 128)
        for part in ("query", "key", "value"):
            weights[f"{block}/{part}/kernel"] = glorot(generator, 128, 128).reshape(128, 4, 32)
            weights[f"{block}/{part}/bias"] = np.zeros((4, 32), np.float32)
        weights[f"{block}/output/kernel"] = glorot(generator, 128, 128).reshape(4, 32, 128)
        weights[f"{block}/output/bias"] = np.zeros(128, np.float32)
        weights |= layer_norm(f"{block}/norm_1", 128)
        weights |= dense(generator, f"{block}/up", 128, 512)
        weights |= dense(generator, f"{block}/down", 512, 128)
    weights |= dense(generator, "logits", 128, 10)
    return classified(generator, weights, (32, 64, 128), 10)


# ---- parts ---------------------------------------------------------------------------------------


def dense(generator: np.random.Generator, name: str, rows: int, columns: int) -> Weights:
    kernel = glorot(generator, rows, columns)
    return {f"{name}/kernel": kernel, f"{name}/bias": np.zeros(columns, np.float32)}


def convolution(generator: np.random.Generator, name: str, channels: int, filters: int) -> Weights:
    limit = (6 / (9 * channels + 9 * filters)) ** 0.5
    kernel = generator.uniform(-limit, limit, (3, 3, channels, filters))
    return {f"{name}/kernel": kernel.astype(np.float32)}


def layer_norm(name: str, width: int) -> Weights:
    gamma, beta = np.ones(width, np.float32), np.zeros(width, np.float32)
    return {f"{name}/gamma": gamma, f"{name}/beta": beta}


def batch_norm(name: str, channels: int) -> Weights:
    mean, variance = np.zeros(channels, np.float32), np.ones(channels, np.float32)
    return {**layer_norm(name, channels), f"{name}/mean": mean, f"{name}/variance": variance}


def orthogonal(generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    basis, _ = np.linalg.qr(generator.normal(size=(columns, rows)))
    return np.ascontiguousarray(basis.T.astype(np.float32))


def classified(
    generator: np.random.Generator, weights: Weights, shape: tuple[int, ...], classes: int
) -> Problem:
    """Noise of that shape with the labels that a random linear teacher gives it."""
    teacher = generator.normal(size=(int(np.prod(shape[1:])), classes))
    batches = []
    for _ in range(BATCHES):
        x = generator.uniform(-1, 1, shape).astype(np.float32)
        batches.append((x, np.argmax(x.reshape(shape[0], -1) @ teacher, axis=1)))
    return Problem(weights, batches)


def scaled(width: int, batch: int) -> Workload:
    """`mlp_small` with another width and batch, for scaling.py."""
    make = partial(mlp, sizes=(784, width, 10), batch=batch)
    return Workload(make, f"784-{width}(relu)-10, batch {batch}", 1.0, 1.0)


def named(name: str) -> Workload:
    """A workload of the table, `scaled-WIDTH-BATCH`, or one of networks.py."""
    if name.startswith("scaled-"):
        width, batch = map(int, name.split("-")[1:])
        return scaled(width, batch)
    if name not in WORKLOADS:
        import networks  # which imports this file

        return networks.workload(name)
    return WORKLOADS[name]


WORKLOADS = {
    "linreg": Workload(
        linreg, "y = wx + b on scalars, batch 32, SGD 0.1", 0.5, 0.2,
        ours="framework, @function", other=(("torch", 0.1),),
    ),
    "ops": Workload(
        ops, "50 x (multiply, add, tanh, subtract) on float32[8], forward and backward, eager",
        0.55, 0.4, plain=0.55, ours="framework, eager", against="torch",
    ),
    "mlp_small": Workload(
        partial(mlp, sizes=(784, 128, 10), batch=64),
        "784-128(relu)-10, batch 64, sparse cross-entropy, Adam 1e-3", 0.6, 0.5,
    ),
    "pinn": Workload(
        pinn, "mean (u'' + u)^2 of a tanh MLP 1-64-64-64-1, 256 points, nested tapes, Adam 1e-3",
        0.6, 0.4, ours="framework, @function", compared=10, agreement=3e-4,
    ),
    "mlp_wide": Workload(
        partial(mlp, sizes=(1024, 4096, 4096, 1000), batch=256),
        "1024-4096-4096-1000 (relu), batch 256, Adam 1e-3", 0.85, 0.75, plain=1.1, compared=3,
    ),
    "cnn": Workload(
        cnn,
        "28x28x1: conv 32, conv 64 (3x3, relu), max pool 2, dense 128, 10, batch 64, Adam 1e-3",
        0.55, 0.45, compared=5,
    ),
    "cnn_deep": Workload(
        cnn_deep,
        "32x32x3: twice (conv 3x3 same, batch norm, relu) at 64, 128, 256, max pool between, "
        "global average, dense 10, batch 64, Adam 1e-3",
        0.5, 0.35, plain=1.4, compared=3, agreement=3e-4,
    ),
    "lstm": Workload(
        lstm, "LSTM(128) over 64 steps of 32 features, dense 10, batch 64, Adam 1e-3",
        0.8, 0.65, plain=2.0, compared=10,
    ),
    "transformer": Workload(
        transformer,
        "two pre-norm blocks, width 128, 4 heads, MLP 512 gelu, 64 tokens, mean, dense 10, "
        "batch 32, Adam 1e-3",
        0.8, 0.6, compared=5,
    ),
}  # fmt: skip
