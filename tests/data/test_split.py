"""split_dataset: Keras's parts, its errors, and classes in proportion."""

import numpy as np
import pytest

import framework as tf
from framework import keras

split = keras.utils.split_dataset
X, Y = np.arange(10), np.arange(10) * 10


def numbers(data):
    return [int(x) for x in data]


@pytest.mark.parametrize(
    ("sizes", "left", "right"),
    [
        ({"left_size": 0.8}, 8, 2), ({"right_size": 3}, 7, 3), ({"left_size": 4}, 4, 6),
        ({"left_size": 3, "right_size": 2}, 3, 2), ({"left_size": 0.25, "right_size": 0.25}, 2, 2),
    ],
)  # fmt: skip
def test_first_and_last_rows(sizes, left, right):
    found = split(X, **sizes)
    assert list(map(numbers, found)) == [list(range(left)), list(range(10 - right, 10))]


@pytest.mark.parametrize(
    "make", [tuple, list, lambda parts: tf.data.Dataset.from_tensor_slices(parts)]
)
def test_rows_of_several_arrays(make):
    left, right = split(make((X, Y)), left_size=0.25)
    assert [(int(x), int(y)) for x, y in left] == [(0, 0), (1, 10)]
    assert len(list(right)) == 8


def test_a_dict():
    left, _ = split({"a": X, "b": Y}, left_size=1)
    assert [(int(row["a"]), int(row["b"])) for row in left] == [(0, 0)]


def test_shuffled_by_a_seed():
    first, again, other = (split(X, 0.5, shuffle=True, seed=s) for s in (1, 1, 2))
    assert numbers(first[0]) == numbers(again[0]) != numbers(other[0])
    assert sorted(numbers(first[0]) + numbers(first[1])) == list(range(10))
    assert numbers(first[0]) != list(range(5))


@pytest.mark.parametrize("shuffle", [False, True])
def test_classes_in_proportion(shuffle):
    classes = np.repeat([0, 1, 2], [60, 30, 10])
    left, right = split(classes, 0.7, shuffle=shuffle, seed=3, stratify=classes)
    assert np.bincount(numbers(left)).tolist() == [42, 21, 7]
    assert np.bincount(numbers(right)).tolist() == [18, 9, 3]
    left, right = split(np.arange(100), 10, 20, shuffle=shuffle, seed=3, stratify=classes)
    assert np.bincount(classes[numbers(left)]).tolist() == [6, 3, 1]
    assert np.bincount(classes[numbers(right)]).tolist() == [12, 6, 2]


MISTAKES = {
    "no size": ({}, ValueError, "at least one of left_size and right_size"),
    "too many": ({"left_size": 11}, ValueError, "left_size must be a number of rows below 10"),
    "beyond one": ({"left_size": 1.5}, ValueError, "a fraction between 0 and 1, got 1.5"),
    "below zero": ({"right_size": -1}, ValueError, "right_size must be"),
    "zero": ({"left_size": 0.0}, ValueError, "left_size must be"),
    "together": ({"left_size": 0.9, "right_size": 0.9}, ValueError, "mean 9 and 9"),
    "rows together": ({"left_size": 8, "right_size": 8}, ValueError, "mean 8 and 8"),
    "nothing left": ({"left_size": 0.01}, ValueError, "mean 0 and 10"),
    "a string": ({"left_size": "a"}, TypeError, "must be an int, a float or None, got 'a'"),
    "classes": ({"left_size": 3, "stratify": [1]}, ValueError, "one class per row"),
}


@pytest.mark.parametrize(("sizes", "error", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(sizes, error, message):
    with pytest.raises(error, match=message):
        split(X, **sizes)


def test_data_that_cannot_be_split():
    with pytest.raises(ValueError, match=r"different numbers of rows: \[3, 10\]"):
        split((X, Y[:3]), left_size=0.5)
    with pytest.raises(TypeError, match="got int"):
        split(5, left_size=0.5)
