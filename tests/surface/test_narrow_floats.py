"""Functions of float16 and bfloat16: results stay so, and are float64's to their precision."""

import numpy as np
import pytest

import framework as tf
from framework import keras
from tests.looped import looped
from tests.surface.elementwise import ONE, REDUCED, TWO, M
from tests.surface.test_values import held

UNITS = 16  # of the last place of the largest number
LAST_PLACE = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
AT = np.array([[0.5, 1.0, 2.0], [0.25, 1.5, 0.75]])
NOT_OF_ONE = {"TYPE_CHECKING", "get", "serialize", "deserialize", "threshold", "glu"}
ACTIVATIONS = [n for n in dir(keras.activations) if n[0] != "_" and n not in NOT_OF_ONE]
KERAS = "exp2 log2 log10 sqrt square expm1 rsqrt erf gelu round mean std var softmax logsumexp"


def is_float(x):
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


CALLS = {f"tf.{n}": (held(n), (x,)) for n, (_, x) in ONE.items() if is_float(x)}
CALLS |= {f"tf.{n}": (held(n), xs) for n, (_, xs) in TWO.items() if n != "complex"}
CALLS |= {f"tf.{n}": (held(n), (M, 1)) for n in REDUCED}
CALLS |= {f"keras.activations.{n}": (getattr(keras.activations, n), (AT,)) for n in ACTIVATIONS}
CALLS |= {f"keras.ops.{n}": (getattr(keras.ops, n), (AT,)) for n in KERAS.split()}


@looped("dtype", LAST_PLACE)
@pytest.mark.parametrize("name", CALLS)
def test_narrow_in_narrow_out(name, dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
        if np.lib.NumpyVersion(np.__version__) < "2.1.0":
            pytest.skip("NumPy 2.0 makes float32 of bfloat16 and a Python int")
    function, args = CALLS[name]
    narrow = [tf.cast(x, dtype) if is_float(x) else x for x in args]
    wide = [tf.cast(n, tf.float64) if is_float(x) else x for n, x in zip(narrow, args)]
    found, expected = function(*narrow), function(*wide)
    assert found.dtype == (dtype if expected.dtype == "float64" else expected.dtype)
    expected = np.asarray(expected, np.float64)
    unit = LAST_PLACE[dtype] * max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0))
    np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=0, atol=UNITS * unit)
