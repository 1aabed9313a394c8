"""How far twelve steps of training stray from direct convolution, by each form of convolution.

The two convolutional workloads of `workloads.py`. Winograd's F(4 x 4, 3 x 3) is the default as long
as every loss stays within the limit; the same steps in float64 show what rounding alone does.
"""

import argparse
import os

import numpy as np
from peers import models
from workloads import WORKLOADS

import framework as tf
from framework.kernels.conv import set_conv_algorithm

FORMS = ("direct", "im2col", "winograd2", "winograd4")
LIMIT = 2e-4


def losses(name: str, form: str, steps: int, dtype: str = "float32") -> np.ndarray:
    """The losses of the first steps, from the workload's weights."""
    before = set_conv_algorithm(form)
    floatx = tf.keras.config.floatx()
    tf.keras.config.set_floatx(dtype)
    try:
        problem = WORKLOADS[name].problem()
        model = models.build(tf.keras, name, problem)
        step = model.training_step(
            loss=models.loss(tf.keras), optimizer=models.adam(tf.keras)
        )  # fmt: skip
        batches = [problem.batches[i % len(problem.batches)] for i in range(steps)]
        return np.array([float(step(x.astype(dtype), y)) for x, y in batches])
    finally:
        tf.keras.config.set_floatx(str(floatx))
        set_conv_algorithm(before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--workloads", nargs="*", default=["cnn", "cnn_deep"])
    parser.add_argument("--double", action="store_true", help="compare with float64 too")
    options = parser.parse_args()
    strayed = 0.0
    for name in options.workloads:
        found = {form: losses(name, form, options.steps) for form in FORMS}
        if options.double:
            found["float64"] = losses(name, "im2col", options.steps, "float64")
        for form, values in found.items():
            far = np.abs(values - found["direct"]) / np.abs(found["direct"])
            print(f"{name:9} {form:10} worst {far.max():.1e}  each", *(f"{f:.0e}" for f in far))
        far = np.abs(found["winograd4"] - found["direct"]) / np.abs(found["direct"])
        strayed = max(strayed, far.max())
    print(f"winograd4 strays by {strayed:.1e}, at most {LIMIT:.0e} allowed")
    return int(strayed > LIMIT)


if __name__ == "__main__":
    os.environ.pop("OPENBLAS_CORETYPE", None)
    raise SystemExit(main())
