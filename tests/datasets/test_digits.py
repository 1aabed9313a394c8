"""The digits in the package are scikit-learn's, split as documented."""

import numpy as np
import pytest

from framework.datasets import digits


def test_shapes_dtypes_and_ranges():
    (x_train, y_train), (x_test, y_test) = digits.load_data()
    assert (x_train.shape, y_train.shape) == ((1437, 8, 8), (1437,))
    assert (x_test.shape, y_test.shape) == ((360, 8, 8), (360,))
    assert {a.dtype.name for a in (x_train, y_train, x_test, y_test)} == {"uint8"}
    assert (x_train.min(), x_train.max()) == (0, 16)
    assert sorted(set(y_test.tolist())) == list(range(10))


def test_it_is_the_source_and_the_test_set_every_fifth_row():
    source = pytest.importorskip("sklearn.datasets").load_digits()
    (x_train, y_train), (x_test, y_test) = digits.load_data()
    test = np.arange(1797) % 5 == 0
    np.testing.assert_array_equal(x_test, source.images[test])
    np.testing.assert_array_equal(y_test, source.target[test])
    np.testing.assert_array_equal(x_train, source.images[~test])
    np.testing.assert_array_equal(y_train, source.target[~test])


def test_arrays_are_the_callers_own():
    (x_train, _), _ = digits.load_data()
    x_train[:] = 0
    assert digits.load_data()[0][0].max() == 16
