"""The measuring process of op_overhead.py: each case beside the NumPy calls that it comes down to.

Answers with the seconds per op of every run of every case, ours and bare NumPy's alternating.
"""

import itertools
import operator
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import measure
import numpy as np

import framework as tf

LINKS = 100  # of multiply, add, tanh: a chain of 300 ops
CHAINS = 40  # a run of a chain case
CALLS = 40_000  # a run of a single-op case
SIZE = 8


@dataclass(frozen=True)
class Case:
    """Two callables that do `ops` ops a call, one through the framework and one without it."""

    name: str
    ours: Callable[[], object]
    bare: Callable[[], object]
    ops: int
    calls: int = 1


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, weight and shift for which neither values nor gradients vanish along the chain.

    Gradients that fade into denormal numbers would be slow, and not for any library's fault.
    """
    generator = np.random.default_rng(0)
    ranges = ((-0.5, 0.5), (0.95, 1.0), (-0.01, 0.01))
    x, weight, shift = (generator.uniform(*limits, SIZE).astype(np.float32) for limits in ranges)
    return x, weight, shift


def chain_on_tape(
    x: tf.Tensor, weight: tf.Tensor, shift: tf.Tensor, sources: list[tf.Tensor]
) -> list[tf.Tensor]:
    """Record 300 ops and pull the gradient of the last back to the sources."""
    with tf.GradientTape() as tape:
        for source in sources:
            tape.watch(source)
        h = x
        for _ in itertools.repeat(None, LINKS):
            h = tf.tanh(h * weight + shift)
    return tape.gradient(h, sources)


def chain_by_hand(x: np.ndarray, weight: np.ndarray, shift: np.ndarray) -> list[np.ndarray]:
    """The same forward and backward NumPy calls, for the gradient of x alone."""
    h, outputs = x, []
    for _ in itertools.repeat(None, LINKS):
        h = np.tanh(np.add(np.multiply(h, weight), shift))
        outputs.append(h)
    g = np.ones_like(h)
    for y in reversed(outputs):
        g = np.multiply(g, np.subtract(1.0, np.multiply(y, y)))
        g = np.multiply(g, weight)
    return [g]


def chain_by_hand_all(x: np.ndarray, weight: np.ndarray, shift: np.ndarray) -> list[np.ndarray]:
    """The same for x, weight and shift, whose gradients are sums over the links."""
    h, inputs, outputs = x, [], []
    for _ in itertools.repeat(None, LINKS):
        inputs.append(h)
        h = np.tanh(np.add(np.multiply(h, weight), shift))
        outputs.append(h)
    g, of_weight, of_shift = np.ones_like(h), 0.0, 0.0
    for y, before in zip(reversed(outputs), reversed(inputs), strict=True):
        g = np.multiply(g, np.subtract(1.0, np.multiply(y, y)))
        of_shift = np.add(of_shift, g)
        of_weight = np.add(of_weight, np.multiply(g, before))
        g = np.multiply(g, weight)
    return [g, of_weight, of_shift]


def chain_cases() -> Iterator[Case]:
    """Recorded forward and backward, with one watched input and with three."""
    values = arrays()
    x, weight, shift = map(tf.constant, values)
    watched = {
        "recorded": ([x], chain_by_hand),
        "recorded, all inputs watched": ([x, weight, shift], chain_by_hand_all),
    }
    for name, (sources, by_hand) in watched.items():
        ours = partial(chain_on_tape, x, weight, shift, sources)
        bare = partial(by_hand, *values)
        for gradient, expected in zip(ours(), bare(), strict=True):
            np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-4)
        yield Case(name, ours, bare, ops=3 * LINKS, calls=CHAINS)


def call(function: Callable[..., object], *operands: object) -> None:
    """Call it often: the cost of the loop and of the call is the same with NumPy and with us."""
    for _ in itertools.repeat(None, CALLS):
        function(*operands)


def single_cases() -> Iterator[Case]:
    """One op with no tape open: operators on tensors, public functions with a Python scalar."""
    a, b, _ = arrays()
    x, y = tf.constant(a), tf.constant(b)
    pairs = [
        ("x * y", (operator.mul, x, y), (np.multiply, a, b)),
        ("x - y", (operator.sub, x, y), (np.subtract, a, b)),
        ("x * 2.0", (operator.mul, x, 2.0), (np.multiply, a, 2.0)),
        ("tf.multiply(x, 2.0)", (tf.multiply, x, 2.0), (np.multiply, a, 2.0)),
        ("tf.add(x, 2.0)", (tf.add, x, 2.0), (np.add, a, 2.0)),
        ("tf.tanh(x)", (tf.tanh, x), (np.tanh, a)),
    ]
    for name, ours, bare in pairs:
        yield Case(name, partial(call, *ours), partial(call, *bare), ops=CALLS)


def seconds_per_op(function: Callable[[], object], case: Case) -> float:
    """One run: the CPU's time for `case.calls` calls, over the ops that they do.

    On an idle machine that is the wall's time, as nothing here waits or uses a second thread.
    """
    start = time.process_time()
    for _ in itertools.repeat(None, case.calls):
        function()
    return (time.process_time() - start) / (case.calls * case.ops)


def measured(case: Case, rounds: int) -> dict[str, list[float]]:
    """Alternating runs of us and bare NumPy, after one of each that does not count."""
    runs = {
        "ours": partial(seconds_per_op, case.ours, case),
        "bare": partial(seconds_per_op, case.bare, case),
    }
    measure.alternate(runs, 1)
    return measure.alternate(runs, rounds)


def main() -> None:
    """`op_cases.py ROUNDS`: measure every case in this process."""
    rounds = int(sys.argv[1])
    cases = [*chain_cases(), *single_cases()]
    measure.answer(
        {
            "numpy": np.__version__,
            "cases": {case.name: measured(case, rounds) for case in cases},
        }
    )


if __name__ == "__main__":
    main()
