"""TensorShape: a tuple with TensorFlow's methods."""

import pytest

import framework as tf


def test_shapes():
    shape = tf.TensorShape([2, None, 4])
    assert shape == (2, None, 4)
    assert (shape.rank, shape.ndims, shape.as_list()) == (3, 3, [2, None, 4])
    assert shape.num_elements() is None
    assert tf.TensorShape([2, 3]).num_elements() == 6
    assert isinstance(shape[1:], tf.TensorShape)
    assert shape[1:] == (None, 4)
    assert shape.concatenate([5]).as_list() == [2, None, 4, 5]
    assert not shape.is_fully_defined()
    assert shape.is_compatible_with([2, 3, 4])
    assert not shape.is_compatible_with([2, 3])


def test_lists_are_as_good_as_tuples():
    shape = tf.zeros([2, 3]).shape
    assert shape == [2, 3]
    assert [2, 3] == shape  # noqa: SIM300 (what is tested)
    assert shape != [2, 4]
    assert not shape != (2, 3)  # noqa: SIM202 (what is tested)
    assert hash(shape) == hash((2, 3))
    for joined in ([4] + shape, (4,) + shape, shape + [4], shape + (4,)):  # noqa: RUF005 (too)
        assert isinstance(joined, tf.TensorShape)
        assert sorted(joined) == [2, 3, 4]
    assert [4] + shape == [4, 2, 3]  # noqa: RUF005 (what is tested)


def test_static_shapes_of_two_branches_are_merged():
    shape = tf.TensorShape([None, 3])
    assert shape.merge_with([2, None]) == [2, 3]
    assert shape.with_rank(2) is shape.with_rank_at_least(1) is shape.with_rank_at_most(2) is shape


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda s: s.assert_is_compatible_with([3, 3]), "incompatible"),
        (lambda s: s.merge_with([3, None]), "incompatible"),
        (lambda s: s.with_rank(3), "must have rank 3"),
        (lambda s: s.assert_has_rank(1), "must have rank 1"),
        (lambda s: s.with_rank_at_least(3), "3 at least"),
        (lambda s: s.with_rank_at_most(1), "1 at most"),
        (lambda s: s.assert_same_rank([1]), "same rank"),
        (lambda s: s.assert_is_fully_defined(), "not known"),
    ],
)
def test_what_does_not_hold(check, said):
    with pytest.raises(ValueError, match=said):
        check(tf.TensorShape([2, None]))


def test_a_shape_is_a_leaf_and_an_argument():
    shape = tf.zeros([2, 3]).shape
    assert tf.nest.flatten({"a": shape}) == [shape]
    f = tf.function(lambda x, shape: tf.reshape(x, shape) + float(shape.rank))
    for _ in range(3):
        assert f(tf.zeros([6]), shape).numpy().tolist() == [[2.0] * 3] * 2
    assert "1 plan" in f.explain()
