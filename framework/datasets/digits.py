"""Handwritten digits, 1,797 images of 8 x 8 pixels, shipped with the package.

They are the test part of "Optical Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak
(1998), UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, licensed CC BY 4.0: forms
of 43 people, collected by NIST, reduced from 32 x 32 bits to counts of set pixels in blocks of
4 x 4. `digits.npz` was made from scikit-learn's copy, `sklearn.datasets.load_digits()`, in its
order; its floats, all integers, are stored as bytes.
"""

from pathlib import Path

import numpy as np

_FILE = Path(__file__).with_name("digits.npz")


def load_data():
    """Return `(x_train, y_train), (x_test, y_test)`: 1,437 and 360 images and their labels.

    Images are uint8 of shape (n, 8, 8), from 0 (paper) to 16 (ink), as in the source; labels are
    uint8 of shape (n,), 0 to 9. The test set is every fifth image, those whose index % 5 is 0.

    >>> (x_train, y_train), (x_test, y_test) = load_data()
    >>> x_train.shape, y_test.shape, int(x_train.max())
    ((1437, 8, 8), (360,), 16)
    """
    with np.load(_FILE, allow_pickle=False) as file:
        images, labels = file["images"], file["labels"]
    test = np.arange(len(images)) % 5 == 0
    return (images[~test], labels[~test]), (images[test], labels[test])
