"""TensorSpec: what fits it, equality, printing as TensorFlow's."""

import pickle

import numpy as np
import pytest

from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec


@pytest.mark.parametrize(
    ("shape", "dtype", "fits"),
    [((2, 3), "float32", True), ((None, 3), "float32", True), (None, "float32", True),
     ((2, 3), "float64", False), ((2,), "float32", False), ((3, 3), "float32", False)],
)  # fmt: skip
def test_what_fits(shape, dtype, fits):
    spec, tensor = TensorSpec(shape, dtype), Tensor(np.zeros((2, 3), np.float32))
    assert spec.is_compatible_with(tensor) is fits
    assert spec.is_compatible_with(TensorSpec.from_tensor(tensor)) is fits
    assert TensorSpec.from_tensor(tensor).is_compatible_with(spec) is fits


def test_equality_copies_and_text():
    spec = TensorSpec((None, 2), "int64", name="x")
    assert spec == TensorSpec([None, 2], np.int64, "x") == TensorSpec.from_spec(spec)
    assert spec == pickle.loads(pickle.dumps(spec))
    assert len({spec, TensorSpec((None, 2), "int64", "x"), TensorSpec((None, 2), "int64")}) == 2
    assert spec != TensorSpec((3, 2), "int64", "x")
    assert repr(spec) == "TensorSpec(shape=(None, 2), dtype=tf.int64, name='x')"
    assert repr(TensorSpec(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
