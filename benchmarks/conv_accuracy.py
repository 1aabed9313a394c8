"""How far twelve steps of training stray from direct convolution, by each other form of it.

Winograd's F(4 x 4, 3 x 3) is the default as long as every loss stays within the limit. Small
differences grow from step to step: where im2col, which differs from direct convolution by the order
of sums alone, strays beyond the limit itself, a training tells nothing, and the line says so.
"""

import argparse
import os

import numpy as np
from peers import models
from workloads import ADAM, WORKLOADS

import framework as tf
from framework.kernels.conv import set_conv_algorithm

FORMS = ("im2col", "winograd2", "winograd4")
LIMIT = 2e-4
OPTIMIZERS = {
    "sgd": lambda: tf.keras.optimizers.SGD(0.01, momentum=0.9),
    "adam": lambda: tf.keras.optimizers.Adam(ADAM["rate"], epsilon=ADAM["epsilon"]),
}


def losses(name: str, optimizer: str, form: str, seed: int, steps: int) -> np.ndarray:
    """The losses of the first steps, from the workload's weights for a seed."""
    before = set_conv_algorithm(form)
    try:
        problem = WORKLOADS[name].make(np.random.default_rng(seed))
        model = models.build(tf.keras, name, problem)
        step = model.training_step(
            loss=models.loss(tf.keras), optimizer=OPTIMIZERS[optimizer]()
        )  # fmt: skip
        batches = [problem.batches[i % len(problem.batches)] for i in range(steps)]
        return np.array([float(step(x, y)) for x, y in batches])
    finally:
        set_conv_algorithm(before)


def strays(name: str, optimizer: str, seed: int, steps: int) -> dict[str, float]:
    """The largest relative difference of a loss from direct convolution's, for each form."""
    direct = losses(name, optimizer, "direct", seed, steps)
    return {
        form: float(np.max(np.abs(losses(name, optimizer, form, seed, steps) / direct - 1)))
        for form in FORMS
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--workloads", nargs="*", default=["cnn", "cnn_deep"])
    options = parser.parse_args()
    kept = True
    for name in options.workloads:
        for optimizer in OPTIMIZERS:
            for seed in range(options.seeds):
                found = strays(name, optimizer, seed, options.steps)
                telling = found["im2col"] <= LIMIT
                kept = kept and (found["winograd4"] <= LIMIT or not telling)
                figures = "  ".join(f"{form} {far:.1e}" for form, far in found.items())
                note = "" if telling else "  (rounding alone strays too far)"
                print(f"{name:9} {optimizer:5} seed {seed}  {figures}{note}", flush=True)
    print(f"winograd4 {'stays' if kept else 'does NOT stay'} within {LIMIT:.0e} of direct")
    return 0 if kept else 1


if __name__ == "__main__":
    os.environ.pop("OPENBLAS_CORETYPE", None)
    raise SystemExit(main())
