"""Segments: values and gradients as TensorFlow gives them."""

import numpy as np
import pytest

import framework as tf

M = tf.math
D = [[1.0, 2.0], [3.0, 4.0], [1.0, 9.0], [5.0, 6.0]]
LOW, HIGH = np.finfo(np.float32).min, np.finfo(np.float32).max

SORTED = {  # of D with the segments 0, 0, 2, 2
    "segment_sum": [[4, 6], [0, 0], [6, 15]],
    "segment_mean": [[2, 3], [0, 0], [3, 7.5]],
    "segment_max": [[3, 4], [0, 0], [5, 9]],
    "segment_min": [[1, 2], [0, 0], [1, 6]],
    "segment_prod": [[3, 8], [1, 1], [5, 54]],
}
UNSORTED = {  # of D with the segments 0, -1, 2, 2 of 4
    "unsorted_segment_sum": [[1, 2], [0, 0], [6, 15], [0, 0]],
    "unsorted_segment_mean": [[1, 2], [0, 0], [3, 7.5], [0, 0]],
    "unsorted_segment_sqrt_n": [[1, 2], [0, 0], [4.2426405, 10.606602], [0, 0]],
    "unsorted_segment_max": [[1, 2], [LOW] * 2, [5, 9], [LOW] * 2],
    "unsorted_segment_min": [[1, 2], [HIGH] * 2, [1, 6], [HIGH] * 2],
    "unsorted_segment_prod": [[1, 2], [1, 1], [5, 54], [1, 1]],
}
OF_INTEGERS = {  # of 1, 2, 4 with the segments 0, 2, 2
    "segment_sum": [1, 0, 6], "segment_mean": [1, 0, 3], "segment_max": [1, 0, 4],
    "segment_min": [1, 0, 2], "segment_prod": [1, 1, 8],
    "unsorted_segment_sum": [1, 0, 6, 0], "unsorted_segment_mean": [1.0, 0, 3, 0],
    "unsorted_segment_max": [1, -(2**31), 4, -(2**31)],
    "unsorted_segment_min": [1, 2**31 - 1, 2, 2**31 - 1], "unsorted_segment_prod": [1, 1, 8, 1],
}  # fmt: skip
X = [[1.0, 0.0], [3.0, 0.0], [1.0, 9.0], [5.0, 6.0]]
THIRD = [1 / 3, 1 / 3]
SLOPES = {  # of X with the segments 0, 0, 0, 2; or 0, 2, 0, -1 of 3
    "segment_sum": np.ones((4, 2)),
    "segment_mean": [THIRD, THIRD, THIRD, [1, 1]],
    "segment_max": [[0, 0], [1, 0], [0, 1], [1, 1]],
    "segment_min": [[0.5, 0.5], [0, 0.5], [0.5, 0], [1, 1]],
    "segment_prod": [[3, 0], [1, 0], [3, 0], [1, 1]],
    "unsorted_segment_sum": [[1, 1], [1, 1], [1, 1], [0, 0]],
    "unsorted_segment_mean": [[0.5, 0.5], [1, 1], [0.5, 0.5], [0, 0]],
    "unsorted_segment_sqrt_n": [[0.5**0.5] * 2, [1, 1], [0.5**0.5] * 2, [0, 0]],
    "unsorted_segment_max": [[0.5, 0], [1, 1], [0.5, 1], [0, 0]],
    "unsorted_segment_min": [[0.5, 1], [1, 1], [0.5, 0], [0, 0]],
    "unsorted_segment_prod": [[1, 9], [1, 1], [1, 0], [0, 0]],
}


def test_every_name_is_tested():
    names = {n for n in dir(M) if "segment" in n}
    assert names == {*SORTED, *UNSORTED} == set(SLOPES)


@pytest.mark.parametrize("name", SORTED)
def test_sorted(name):
    found = getattr(M, name)(D, [0, 0, 2, 2])
    np.testing.assert_array_equal(found.numpy(), SORTED[name])
    assert found.dtype == "float32"
    assert getattr(M, name)(np.zeros((0, 2)), []).shape == (0, 2)


@pytest.mark.parametrize("name", UNSORTED)
def test_unsorted(name):
    found = getattr(M, name)(D, [0, -1, 2, 2], 4)
    np.testing.assert_allclose(found.numpy(), UNSORTED[name], rtol=1e-6)
    assert found.dtype == "float32"
    assert getattr(M, name)(D, [0, -1, 2, 2], tf.constant(4)).shape == (4, 2)


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers(name):
    count = (4,) if name.startswith("unsorted") else ()
    found = getattr(M, name)(tf.constant([1, 2, 4]), [0, 2, 2], *count)
    assert found.numpy().tolist() == OF_INTEGERS[name]
    assert found.dtype == ("float64" if name == "unsorted_segment_mean" else "int32")


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int64"])
@pytest.mark.parametrize("name", UNSORTED)
def test_ids_of_few_bits(name, kind):
    ids = np.arange(12) % 4
    x = np.arange(12 * 20000, dtype="float32").reshape(12, 20000) % 7
    found = getattr(M, name)(x, ids.astype(kind), 4)
    np.testing.assert_array_equal(found, getattr(M, name)(x, ids.astype("int32"), 4))


def test_segments_of_several_axes():
    found = M.unsorted_segment_sum(np.ones((2, 2, 3)), [[0, 1], [1, 1]], 3)
    np.testing.assert_array_equal(found.numpy(), [[1] * 3, [3] * 3, [0] * 3])


@pytest.mark.parametrize("name", SLOPES)
def test_gradients(name):
    x = tf.constant(X)
    ids = ([0, 2, 0, -1], 3) if name.startswith("unsorted") else ([0, 0, 0, 2],)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(M, name)(x, *ids)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), SLOPES[name], rtol=1e-6)


ERRORS = {
    "segment_sum: `segment_ids` must be non-negative and ascending": [
        lambda: M.segment_sum([1.0, 2.0], [1, 0]), lambda: M.segment_sum([1.0, 2.0], [-1, 0]),
        lambda: M.segment_sum([1.0, 2.0], np.uint8([1, 0])),
    ],
    "with one id for each row": [lambda: M.segment_max([1.0, 2.0], [0])],
    "`segment_ids` must lie below 3, got 5": [
        lambda: M.unsorted_segment_sum([1.0, 2.0], [0, 5], 3)
    ],
    "must begin with that of `segment_ids`": [
        lambda: M.unsorted_segment_min([1.0, 2.0], [0, 1, 2], 3)
    ],
    "must be integers, got float32": [lambda: M.segment_mean([1.0, 2.0], [0.0, 1.0])],
}  # fmt: skip


@pytest.mark.parametrize("message", ERRORS)
def test_errors(message):
    for call in ERRORS[message]:
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert message in str(caught.value)
