"""How each library does the workloads; a file here is imported only in that library's own process.

Each file has one function `library(mode)`, called once, which sets the mode and says the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workloads import Problem

Step = Callable[..., tuple]


@dataclass(frozen=True)
class Library:
    """What the measuring process needs of a library.

    `tensor` makes its own array of a NumPy array, `wait` returns when the outputs of a step are
    there, and `steps` has for each workload a function of the problem that returns the step. A
    step takes a batch and returns what shows that it did the work: the loss, and the gradient where
    nothing is updated.
    """

    version: str
    tensor: Callable[[Any], Any]
    wait: Callable[[tuple], object]
    steps: dict[str, Callable[[Problem], Step]]


@dataclass(frozen=True)
class Peer:
    """A library in one mode: the file here that drives it, and what it must be able to import."""

    file: str
    library: str
    mode: str


OURS = "framework"
REQUIRED = ("torch", "torch, 1 thread")

PEERS = {
    OURS: Peer("ours", "framework", "eager"),
    "torch": Peer("torch_eager", "torch", "default"),
    "torch, 1 thread": Peer("torch_eager", "torch", "one thread"),
    "tf.function": Peer("tensorflow_tape", "tensorflow", "function"),
    "tf eager": Peer("tensorflow_tape", "tensorflow", "eager"),
    "jax.jit": Peer("jax_jit", "jax", "jit"),
}
