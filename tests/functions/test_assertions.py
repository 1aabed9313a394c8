"""tf.debugging: each assertion passes on what holds, and names what does not."""

import numpy as np
import pytest

import framework as tf

d = tf.debugging

HOLDING = [
    lambda: d.assert_equal([1, 2], [1, 2]), lambda: d.assert_none_equal([1, 2], [2, 1]),
    lambda: d.assert_greater([2.0], 1.0), lambda: d.assert_greater_equal([2, 1], 1),
    lambda: d.assert_less(1, [2]), lambda: d.assert_less_equal([1.0], [1.0]),
    lambda: d.assert_near(1.0, 1.0 + 1e-7), lambda: d.assert_near(1.0, 1.1, atol=0.2),
    lambda: d.assert_positive([1.0]), lambda: d.assert_non_negative([0, 1]),
    lambda: d.assert_negative([-1]), lambda: d.assert_non_positive([0.0]),
    lambda: d.assert_all_finite([1.0], "m"), lambda: d.check_numerics([1.0], "m"),
    lambda: d.assert_rank([[1]], 2), lambda: d.assert_rank_at_least([[1]], 1),
    lambda: d.assert_rank_in([1], (0, 1)), lambda: d.assert_scalar(1.0),
    lambda: d.assert_type(tf.constant(1.0), tf.float32), lambda: d.assert_integer([1]),
    lambda: d.assert_shapes([(tf.zeros([2, 3]), ("N", 3)), (tf.zeros([2]), ("N",))]),
]  # fmt: skip


@pytest.mark.parametrize("assertion", HOLDING)
def test_what_holds(assertion):
    assertion()


@pytest.mark.parametrize(
    ("assertion", "said"),
    [
        (lambda: d.assert_equal([1, 2, 3], [1, 5, 3], "Labels."),
         r"Labels\. the condition x == y.*index \(1,\).*x = \[1 2 3\]"),
        (lambda: d.assert_none_equal([1], [1]), "x != y"),
        (lambda: d.assert_greater([1.0, 0.0], 0.0), r"x > y.*index \(1,\)"),
        (lambda: d.assert_less([[1], [2]], [3, 2]), r"x < y.*index \(1, 1\)"),
        (lambda: d.assert_near(1.0, 1.1), "differ by more than"),
        (lambda: d.assert_positive([0.0]), "assert_positive: the condition x > 0"),
        (lambda: d.assert_negative([0]), "x < 0"),
        (lambda: d.check_numerics([np.nan, 1.0], "loss"), "loss : Tensor had NaN"),
        (lambda: d.assert_all_finite([np.inf], "grad"), "grad : Tensor had Inf"),
        (lambda: d.assert_rank([1], 2), r"expected rank 2, got shape \(1,\)"),
        (lambda: d.assert_rank_at_least(1.0, 1), "at least rank 1"),
        (lambda: d.assert_rank_in([[1]], [0, 1]), r"\[0, 1\]"),
        (lambda: d.assert_scalar([1]), "0-d"),
        (lambda: d.assert_type(tf.constant(1), tf.float32), "expected float32, got int32"),
        (lambda: d.assert_integer(1.0), "got float32"),
        (lambda: d.assert_shapes([(tf.zeros([2, 3]), "ND"), (tf.zeros([4]), "N")]),
         r"expected shape \('N',\), where .*'N': 2.*got \(4,\)"),
    ],
)  # fmt: skip
def test_what_does_not(assertion, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        assertion()


def test_they_are_at_the_top_level_too():
    tf.assert_equal(1, 1)
    assert tf.debugging.is_numeric_tensor(tf.constant(1))
    assert not tf.debugging.is_numeric_tensor(tf.constant("a"))
