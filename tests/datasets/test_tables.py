"""Housing data sets: Keras's order of rows, and files that hold something else."""

import numpy as np
import pytest

from framework import keras
from framework.core.errors import LoadError, NotFoundError

BOSTON, CALIFORNIA = keras.datasets.boston_housing, keras.datasets.california_housing


def written(folder, rows, columns, **changed):
    path = folder / "table.npz"
    x = np.arange(rows * columns, dtype=float).reshape(rows, columns)
    np.savez(path, **{"x": x, "y": np.arange(rows, dtype=float), **changed})
    return str(path)


def test_the_order_is_keras(tmp_path):
    (x, y), (x_test, y_test) = BOSTON.load_data(written(tmp_path, 10, 13), test_split=0.3)
    assert (y.tolist(), y_test.tolist()) == ([9, 3, 6, 1, 0, 7, 4], [8, 2, 5])  # Keras 3.15
    np.testing.assert_array_equal(x[:, 0] / 13, y)
    np.testing.assert_array_equal(x_test[:, 0] / 13, y_test)


def test_versions(tmp_path):
    path = written(tmp_path, 700, 8)
    assert len(CALIFORNIA.load_data(path=path)[0][0]) == 560
    assert CALIFORNIA.load_data("small", path)[0][1].max() < 600
    with pytest.raises(ValueError, match="'large' or 'small', got 'tiny'"):
        CALIFORNIA.load_data("tiny", path)


def test_what_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match=r"Boston housing .*boston_housing\.npz"):
        BOSTON.load_data(str(tmp_path / "none.npz"))
    with pytest.raises(ValueError, match=r"test_split must be in \[0, 1\], got 20"):
        BOSTON.load_data(written(tmp_path, 5, 13), test_split=20)
    for changed, message in (
        ({"x": np.zeros((5, 12))}, r"shape \(n, 13\), got float64 of shape \(5, 12\)"),
        ({"x": np.zeros((5, 13), int)}, "got int64"),
        ({"y": np.zeros(4)}, "expected 5 floats"),
        ({"y": np.array([None] * 5)}, "cannot be loaded"),
    ):
        with pytest.raises(LoadError, match=message):
            BOSTON.load_data(written(tmp_path, 5, 13, **changed))
