"""CIFAR-10: 60,000 color images of 32 x 32 pixels in ten classes (A. Krizhevsky)."""

import numpy as np

from framework.datasets import cifar


def load_data():
    """Return `(x_train, y_train), (x_test, y_test)`: 50,000 and 10,000 images and their labels.

    Pictures are uint8 of shape (n, 32, 32, 3); labels are uint8 of shape (n, 1): 0 airplane,
    1 automobile, 2 bird, 3 cat, 4 deer, 5 dog, 6 frog, 7 horse, 8 ship, 9 truck.

    The files are searched for in a folder "cifar-10-batches-py" in the folder of the environment
    variable FRAMEWORK_DATA, in ~/.framework/datasets and in Keras's cache. If they are missing, the
    archive is downloaded to the cache.

    Raises:
        LoadError: a file does not have the expected contents. Nothing is unpickled.
        OSError: the archive cannot be downloaded.
    """
    folder = cifar.folder_of(
        "cifar-10-batches-py", "cifar-10-python.tar.gz",
        "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    )  # fmt: skip
    batches = [cifar.read(folder / f"data_batch_{i}", "labels") for i in range(1, 6)]
    parts = []
    for found in (batches, [cifar.read(folder / "test_batch", "labels")]):
        pictures = np.concatenate([x for x, _ in found])
        labels = np.concatenate([np.array(y, np.uint8) for _, y in found])
        parts.append((cifar.in_default_format(pictures), labels[:, None]))
    return tuple(parts)
