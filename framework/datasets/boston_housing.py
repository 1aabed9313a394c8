"""Boston housing: 506 suburbs with 13 features each, and the median price of their houses."""

from framework.datasets.tables import SOURCE, load_table


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """Return `(x_train, y_train), (x_test, y_test)`: 13 numbers per suburb, and prices in 1000 $.

    One of the numbers is computed from the share of Black inhabitants; `california_housing` is a
    data set without it.

    Args:
        path: Keras's file `boston_housing.npz`: an absolute path, or a path in the folder of the
            environment variable FRAMEWORK_DATA, in ~/.framework/datasets or in Keras's cache
            ~/.keras/datasets ($KERAS_HOME/datasets if set).
        test_split: the fraction of rows in the test set.
        seed: the seed of the shuffling; equal seeds give the same order as in Keras.

    Raises:
        NotFoundError: there is no such file (also a FileNotFoundError). Nothing is downloaded.
        LoadError: the file does not have the expected contents. Nothing is unpickled.
    """
    name = f"Boston housing (Keras's boston_housing.npz, {SOURCE}boston_housing.npz)"
    return load_table(path, name, 13, test_split=test_split, seed=seed)
