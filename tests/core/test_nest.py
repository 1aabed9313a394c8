"""Nests: flattening order, packing, mapping, and what does not fit."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import framework as tf

Point = namedtuple("Point", "x y")  # noqa: PYI024 (users have both kinds)

NESTS = [
    (1, [1]),
    ([1, 2], [1, 2]),
    ((1, [2, (3,)]), [1, 2, 3]),
    ({"b": 1, "a": (2, 3)}, [2, 3, 1]),  # by sorted key
    (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
    (Point(1, [2]), [1, 2]),
    ([], []),
    ([[], {}, ()], []),
    ("ab", ["ab"]),
    (None, [None]),
    ([None, {"k": None}], [None, None]),
]


@pytest.mark.parametrize(("nest", "leaves"), NESTS, ids=str)
def test_flatten_and_pack(nest, leaves):
    assert tf.nest.flatten(nest) == leaves
    packed = tf.nest.pack_sequence_as(nest, leaves)
    assert packed == nest
    assert type(packed) is type(nest)


@pytest.mark.parametrize(("nest", "leaves"), NESTS, ids=str)
def test_map_structure(nest, leaves):
    wrapped = tf.nest.map_structure(lambda x: [x], nest)
    assert tf.nest.flatten(wrapped) == leaves


def test_dicts_keep_their_order():
    assert list(tf.nest.map_structure(str, {"b": 1, "a": 2})) == ["b", "a"]
    assert list(tf.nest.pack_sequence_as({"b": 0, "a": 0}, [1, 2]).items()) == [("b", 2), ("a", 1)]


def test_tensors_arrays_shapes_and_sets():
    x, v = tf.constant([1.0, 2.0]), tf.Variable(1.0)
    assert [leaf is each for leaf, each in zip(tf.nest.flatten([x, (v,)]), (x, v), strict=True)]
    assert len(tf.nest.flatten(np.zeros((2, 2)))) == 1
    assert tf.nest.is_nested([1]) is tf.nest.is_nested({}) is tf.nest.is_nested(()) is True
    assert tf.nest.is_nested("a") is tf.nest.is_nested(x) is tf.nest.is_nested({1}) is False


def test_map_over_several():
    assert tf.nest.map_structure(lambda a, b: a + b, {"k": (1, 2)}, {"k": (10, 20)}) == {
        "k": (11, 22)
    }


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tf.nest.pack_sequence_as([1, 2], [1]), "2 leaves.*1 elements"),
        (lambda: tf.nest.map_structure(max, [1], [1, 2]), "number of elements: 1 and 2"),
        (lambda: tf.nest.map_structure(max, [1], 1), "same nesting"),
        (lambda: tf.nest.assert_same_structure({"a": 1}, {"b": 1}), "same set of keys"),
        (lambda: tf.nest.assert_same_structure({"a": 1}, [1]), "type"),
        (lambda: tf.nest.map_structure(max), "at least one structure"),
    ],
)
def test_what_does_not_fit(call, said):
    with pytest.raises(ValueError, match=said):
        call()
