"""How each library does the workloads; a file here is imported only in that library's own process.

Each file has one function `library(mode)`, called once, which sets the mode and says the rest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workloads import Problem

Step = Callable[..., tuple]


@dataclass(frozen=True)
class Library:
    """What the measuring process needs of a library.

    `tensor` makes its own array of a NumPy array, `wait` returns when the outputs of a step are
    there, and `step` makes for a workload's name and its problem the step, or a `Fit`. A step takes
    a batch and returns what shows that it did the work: the loss, and the gradient where nothing is
    updated. It raises KeyError for a workload that the library, so used, does not do.
    """

    version: str
    tensor: Callable[[Any], Any]
    wait: Callable[[tuple], object]
    step: Callable[[str, Problem], Any]


@dataclass(frozen=True)
class Peer:
    """A library in one mode: the file here that drives it, and what it must be able to import.

    The first of `modules` says which option names its interpreter; `variables` are set for it.
    """

    file: str
    mode: str
    modules: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    skips: tuple[str, ...] = ()  # workloads that it does not do


CLASSIFIERS = ("mlp_small", "mlp_wide", "cnn", "cnn_deep", "lstm", "transformer")
OTHERS = ("linreg", "ops", "pinn")

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
JAX_ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "NPROC": "1",
}
TF = {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "2"}
JAX = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}

PLAIN = "framework, no Numba"

# A peer named "torch ..." is PyTorch, "framework ..." is ours; the rest of the name is for readers.
PEERS = {
    "framework": Peer("ours", "step", ("framework",)),
    "framework, @function": Peer("ours", "function", ("framework",)),
    "framework, eager": Peer("ours", "eager", ("framework",)),
    "framework, fit": Peer("ours", "fit", ("framework",), skips=OTHERS),
    PLAIN: Peer("ours", "best", ("framework",), {"FRAMEWORK_COMPILE": "numpy"}),
    "torch": Peer("torch_nn", "default", ("torch",)),
    "torch, 1 thread": Peer("torch_nn", "one thread", ("torch",), ONE_THREAD),
    "torch, tuned": Peer("torch_nn", "tuned", ("torch",), skips=("linreg", "ops")),
    "torch.compile": Peer("torch_nn", "compile", ("torch",), skips=("ops",)),
    "jax.jit": Peer("jax_jit", "jit", ("jax",), JAX),
    "jax.jit, 1 thread": Peer("jax_jit", "jit", ("jax",), {**JAX, **JAX_ONE_THREAD}),
    "tf.function": Peer("tensorflow_tape", "function", ("tensorflow",), TF),
    "tf.function, 1 thread": Peer("tensorflow_tape", "one thread", ("tensorflow",), TF),
    "tf.function, XLA": Peer("tensorflow_tape", "xla", ("tensorflow",), TF),
    "tf eager": Peer("tensorflow_tape", "eager", ("tensorflow",), TF),
    "keras on jax, jit": Peer("keras_jax", "stateless", ("jax", "keras"), JAX, OTHERS),
    "keras on jax, fit": Peer("keras_jax", "fit", ("jax", "keras"), JAX, OTHERS),
    "keras on tf, fit": Peer("tensorflow_tape", "fit", ("tensorflow", "keras"), TF, OTHERS),
}


def is_ours(peer: str) -> bool:
    return peer.startswith("framework")
