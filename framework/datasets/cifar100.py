"""CIFAR-100: 60,000 color images of 32 x 32 pixels in a hundred classes."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.datasets import cifar


def load_data(label_mode="fine"):
    """Return `(x_train, y_train), (x_test, y_test)`: 50,000 and 10,000 images and their labels.

    Pictures are uint8 of shape (n, 32, 32, 3); labels are int64 of shape (n, 1).

    Args:
        label_mode: "fine" for 100 classes, "coarse" for 20 groups of classes.

    The files are in a folder "cifar-100-python", searched for as that of `cifar10.load_data`.

    Raises:
        LoadError: a file does not have the expected contents. Nothing is unpickled.
        OSError: the archive cannot be downloaded.
    """
    if label_mode not in ("fine", "coarse"):
        raise InvalidArgumentError(
            f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.'
        )
    folder = cifar.folder_of(
        "cifar-100-python", "cifar-100-python.tar.gz",
        "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    )  # fmt: skip
    parts = []
    for name in ("train", "test"):
        pictures, labels = cifar.read(folder / name, f"{label_mode}_labels")
        parts.append((cifar.in_default_format(pictures), np.array(labels, np.int64)[:, None]))
    return tuple(parts)
