"""Where infinities and NaNs are known results, NumPy does not warn."""

import subprocess
import sys

import numpy as np
import pytest

import framework as tf

HUGE = np.full((4, 4), 1e30, "float32")


@pytest.mark.parametrize(
    "run",
    [
        lambda x: tf.matmul(x, x),
        lambda x: tf.square(x),
        lambda x: tf.reduce_sum(tf.fill((40,), 1e38)),
        lambda x: tf.reduce_mean(tf.fill((40,), 1e38)),
        lambda x: tf.exp(x),
        lambda x: x / tf.zeros((4, 4)),
        lambda x: tf.math.log(-x),
    ],
)
def test_an_op_is_silent(run):
    run(tf.constant(HUGE))


PROGRAM = """
import warnings
import numpy as np
import framework as tf
x, v = tf.fill([3], 3e38), tf.Variable([3e38] * 3)
for y in (x + x, x * x, x - -x, x + v, v * x, tf.add(x, x), tf.multiply(x, 2.0), x * np.float32(4)):
    assert np.isinf(y.numpy()).all()
with tf.GradientTape() as tape:
    y = v * v * v
assert np.isinf(tape.gradient(y, v).numpy()).all()
try:
    x.numpy() * x.numpy()
except RuntimeWarning as warning:
    print(warning)
"""


def test_the_commonest_operators_are_silent_and_numpys_own_are_not():
    """In a process of its own: pytest sets the filters of warnings anew for each test."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "overflow encountered in multiply\n"
