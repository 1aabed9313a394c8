"""Read tables of numbers with one target per row: Keras's .npz files and the package's own."""

from pathlib import Path

import numpy as np

from framework.core.errors import InvalidArgumentError, LoadError
from framework.datasets import archive

SOURCE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def load_table(path, name, columns, rows=None, test_split=0.2, seed=113):
    """Return `(x_train, y_train), (x_test, y_test)` of the arrays `x` and `y` in a file.

    Args:
        path: the file, see `archive.find`.
        name: the name of the data set, with its file's source.
        columns: the expected number of columns of `x`.
        rows: the number of first rows to use; None for all.
        test_split: the fraction of rows in the test set, from 0 to 1.
        seed: the seed of the shuffling; equal seeds give the same order as in Keras.

    Raises:
        NotFoundError: there is no such file.
        LoadError: the file does not have the expected contents.
        InvalidArgumentError: `test_split` is not from 0 to 1.
    """
    file = archive.find(path, name)
    x, y = archive.load(file, ["x", "y"])
    if x.ndim != 2 or x.shape[1] != columns or x.dtype.kind != "f":
        raise LoadError(
            f"{file}: x: expected floats of shape (n, {columns}), got {x.dtype} of shape {x.shape}."
        )
    if y.shape != x.shape[:1] or y.dtype.kind != "f":
        raise LoadError(f"{file}: y: expected {len(x)} floats, got {y.dtype} of shape {y.shape}.")
    return _split(x[:rows], y[:rows], test_split, seed)


def packaged(name, test_split, seed):
    """Return the training and test parts of a table in the package, in float32.

    Raises:
        InvalidArgumentError: `test_split` is not from 0 to 1.
    """
    x, y = archive.load(Path(__file__).with_name(f"{name}.npz"), ["x", "y"])
    y = y if y.dtype == np.uint8 else y.astype(np.float32)
    return _split(x.astype(np.float32), y, test_split, seed)


def _split(x, y, test_split, seed):
    if not 0 <= test_split <= 1:
        raise InvalidArgumentError(f"load_data: test_split must be in [0, 1], got {test_split!r}.")
    order = np.random.RandomState(seed).permutation(len(x))
    x, y, first = x[order], y[order], int(len(x) * (1 - test_split))
    return (x[:first], y[:first]), (x[first:], y[first:])
