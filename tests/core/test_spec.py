"""TensorSpec: construction, comparison, what fits it."""

import copy
import pickle

import pytest

import framework as tf

SPECS = [
    tf.TensorSpec(None), tf.TensorSpec([]), tf.TensorSpec([3, None]),
    tf.TensorSpec((3, 4), "int32"), tf.TensorSpec([2], tf.float64, "x"),
]  # fmt: skip


def test_shape_dtype_and_name():
    spec = tf.TensorSpec([None, 3], "int64", name="x")
    assert isinstance(spec.shape, tf.TensorShape)
    assert (tuple(spec.shape), spec.dtype, spec.name) == ((None, 3), tf.int64, "x")
    assert tf.TensorSpec(None).shape is None
    assert tf.TensorSpec([]).dtype == tf.float32


def test_text():
    assert repr(SPECS[0]) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    assert repr(SPECS[4]) == "TensorSpec(shape=(2,), dtype=tf.float64, name='x')"


def test_equality_and_hash():
    again = [tf.TensorSpec(s.shape, s.dtype, s.name) for s in SPECS]
    assert again == SPECS
    assert len({*again, *SPECS}) == len(SPECS)
    assert tf.TensorSpec([]) != tf.TensorSpec([], name="x")
    assert tf.TensorSpec([]) != "TensorSpec"


@pytest.mark.parametrize("spec", SPECS)
def test_copies(spec):
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert tf.TensorSpec.from_spec(spec) == spec
    assert tf.TensorSpec.from_spec(spec, "other").name == "other"


def test_from_tensor():
    assert tf.TensorSpec.from_tensor(tf.ones([2, 3])) == tf.TensorSpec([2, 3])
    assert tf.TensorSpec.from_tensor(tf.Variable(1), "v") == tf.TensorSpec([], tf.int32, "v")


@pytest.mark.parametrize(
    ("spec", "other", "compatible", "subtype"),
    [
        (tf.TensorSpec([None, 3]), tf.TensorSpec([2, 3]), True, False),
        (tf.TensorSpec([2, 3]), tf.TensorSpec([None, 3]), True, True),
        (tf.TensorSpec([2, 3]), tf.TensorSpec(None), True, True),
        (tf.TensorSpec(None), tf.TensorSpec([2, 3]), True, False),
        (tf.TensorSpec([2, 3]), tf.TensorSpec([2, 4]), False, False),
        (tf.TensorSpec([2, 3]), tf.TensorSpec([2]), False, False),
        (tf.TensorSpec([2], tf.int32), tf.TensorSpec([2]), False, False),
    ],
)
def test_compatibility(spec, other, compatible, subtype):
    assert spec.is_compatible_with(other) == compatible
    assert spec.is_subtype_of(other) == subtype


@pytest.mark.parametrize("bad", [[-1], ["a"], [[2]]])
def test_bad_sizes(bad):
    with pytest.raises(ValueError, match="a size must be an int >= 0 or None"):
        tf.TensorSpec(bad)
