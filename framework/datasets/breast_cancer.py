"""Breast cancer Wisconsin: 569 tumors, 30 measurements of cell nuclei in an image of each.

The data set "Breast Cancer Wisconsin (Diagnostic)" by W. Wolberg, O. Mangasarian, N. Street and
W. Street (1993), UCI Machine Learning Repository, https://doi.org/10.24432/C5DW2B, licensed
CC BY 4.0. `breast_cancer.npz` was made from scikit-learn's copy.
"""

from framework.datasets.tables import packaged

_KINDS = (
    "radius texture perimeter area smoothness compactness concavity concave_points symmetry "
    "fractal_dimension"
)
FEATURES = tuple(
    f"{which}_{kind}" for which in ("mean", "error", "worst") for kind in _KINDS.split()
)
"""The names of the columns of x."""


def load_data(test_split=0.2, seed=113):
    """Return `(x_train, y_train), (x_test, y_test)`: measurements, float32, and targets.

    Targets are 0 for malignant, 1 for benign, uint8.

    Args:
        test_split: the fraction of rows in the test set, from 0 to 1.
        seed: the seed of the shuffling.

    Raises:
        InvalidArgumentError: `test_split` is not from 0 to 1.

    >>> (x_train, y_train), (x_test, y_test) = load_data()
    >>> x_train.shape, y_test.shape
    ((455, 30), (114,))
    """
    return packaged("breast_cancer", test_split, seed)
