"""Where infinities and NaNs are known results, NumPy does not warn."""

import contextlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import framework as tf
from framework.core.errors import FrameworkError
from framework.core.numpy_warnings import _OPS
from framework.core.op import table
from tests.samples.ops import NAMES, SAMPLES

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


SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, 1e30, -1e30, 1e-40, 1.0], "float32")


def special(array):
    """Return an array with infinities, NaN, and large and small numbers; integers are kept."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
        return array
    return np.resize(SPECIAL, array.shape)


@pytest.mark.parametrize("name", NAMES)
def test_every_op_is_silent(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=_OPS)  # as at the import
        for sample in SAMPLES[name][:4]:
            args = [special(a) for a in sample.args]
            with contextlib.suppress(FrameworkError, np.linalg.LinAlgError):  # of NaN
                table[name](*args, **sample.attrs)


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
