"""California housing: 20,640 blocks of the 1990 census with 8 features each, and house prices."""

from framework.core.errors import InvalidArgumentError
from framework.datasets.tables import SOURCE, load_table


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    """Return `(x_train, y_train), (x_test, y_test)`: 8 numbers per block, and median prices in $.

    Args:
        version: "large" for all blocks, "small" for the first 600.
        path: Keras's file `california_housing.npz`: an absolute path, or a path in the folder of
            the environment variable FRAMEWORK_DATA, in ~/.framework/datasets or in Keras's cache
            ~/.keras/datasets ($KERAS_HOME/datasets if set).
        test_split: the fraction of rows in the test set.
        seed: the seed of the shuffling; equal seeds give the same order as in Keras.

    Raises:
        NotFoundError: there is no such file (also a FileNotFoundError). Nothing is downloaded.
        LoadError: the file does not have the expected contents. Nothing is unpickled.
    """
    if version not in ("large", "small"):
        raise InvalidArgumentError(f"version must be 'large' or 'small', got {version!r}.")
    name = f"California housing (Keras's california_housing.npz, {SOURCE}california_housing.npz)"
    rows = 600 if version == "small" else None
    return load_table(path, name, 8, rows, test_split, seed)
