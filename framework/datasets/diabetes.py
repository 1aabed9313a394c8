"""Diabetes: 442 patients with ten measurements each, and the progression of the disease in a year.

The data of B. Efron, T. Hastie, I. Johnstone and R. Tibshirani, "Least Angle Regression" (2004),
Annals of Statistics 32, from scikit-learn's copy without its scaling (BSD-3-Clause).
"""

from framework.datasets.tables import packaged

FEATURES = (
    "age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6",
)  # fmt: skip
"""The names of the columns of x."""


def load_data(test_split=0.2, seed=113):
    """Return `(x_train, y_train), (x_test, y_test)`: measurements, float32, and targets.

    Targets measure the progression of the disease, from 25 to 346, in float32.

    Args:
        test_split: the fraction of rows in the test set, from 0 to 1.
        seed: the seed of the shuffling.

    Raises:
        InvalidArgumentError: `test_split` is not from 0 to 1.

    >>> (x_train, y_train), (x_test, y_test) = load_data()
    >>> x_train.shape, y_test.shape
    ((353, 10), (89,))
    """
    return packaged("diabetes", test_split, seed)
