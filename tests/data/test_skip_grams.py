"""Skip-grams and the sampling table, beside Keras's numbers."""

import random

import numpy as np

from framework import keras

sequence = keras.preprocessing.sequence


def test_all_pairs_within_the_window():
    pairs, labels = sequence.skipgrams([1, 0, 2, 3], 5, 2, negative_samples=0, shuffle=False)
    assert pairs == [[1, 2], [2, 1], [2, 3], [3, 2]]
    assert labels == [1] * 4
    pairs, labels = sequence.skipgrams([1, 2, 3, 4], 5, 1, negative_samples=0, shuffle=False)
    assert pairs == [[1, 2], [2, 1], [2, 3], [3, 2], [3, 4], [4, 3]]


def test_negative_samples_and_shuffle():
    random.seed(0)
    pairs, labels = sequence.skipgrams(list(range(1, 30)), 100, 2, 0.5, seed=3, categorical=True)
    assert labels.count([0, 1]) == 110
    assert labels.count([1, 0]) == 55
    true = [p for p, label in zip(pairs, labels) if label == [0, 1]]
    assert all(0 < abs(a - b) <= 2 for a, b in true)
    assert all(0 < b < 100 for _, b in pairs)


def test_the_sampling_table():
    """The numbers of Keras."""
    table = sequence.make_sampling_table(10)
    expected = [0.00315225, 0.00315225, 0.00547597, 0.00741556, 0.00912817,
                0.01068435, 0.01212381, 0.01347162, 0.01474487, 0.0159558]  # fmt: skip
    np.testing.assert_allclose(table, expected, rtol=1e-5)
    random.seed(1)
    none, _ = sequence.skipgrams([1] * 50, 5, sampling_table=np.zeros(5), negative_samples=0)
    assert none == []
