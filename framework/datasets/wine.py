"""Wine: 178 wines of three growers in one region of Italy, 13 measurements each.

The data set "Wine" by M. Forina et al., PARVUS (1988), UCI Machine Learning Repository,
https://doi.org/10.24432/C5PC7J, licensed CC BY 4.0. `wine.npz` was made from scikit-learn's copy.
"""

from framework.datasets.tables import packaged

FEATURES = (
    "alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols",
    "flavanoids", "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue",
    "od280/od315_of_diluted_wines", "proline",
)  # fmt: skip
"""The names of the columns of x."""


def load_data(test_split=0.2, seed=113):
    """Return `(x_train, y_train), (x_test, y_test)`: measurements, float32, and targets.

    Targets are the three growers, 0 to 2, uint8.

    Args:
        test_split: the fraction of rows in the test set, from 0 to 1.
        seed: the seed of the shuffling.

    Raises:
        InvalidArgumentError: `test_split` is not from 0 to 1.

    >>> (x_train, y_train), (x_test, y_test) = load_data()
    >>> x_train.shape, y_test.shape
    ((142, 13), (36,))
    """
    return packaged("wine", test_split, seed)
