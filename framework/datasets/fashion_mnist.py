"""Fashion-MNIST: 70,000 images of clothes, 28 x 28 pixels (H. Xiao, K. Rasul, R. Vollgraf)."""

import gzip
import math
import zlib

import numpy as np

from framework.core.errors import LoadError
from framework.datasets import archive
from framework.datasets.tables import SOURCE

_MOST = 1_000_000  # the largest accepted number of images in a file


def load_data():
    """Return `(x_train, y_train), (x_test, y_test)`: 60,000 and 10,000 images and their labels.

    Images are uint8 of shape (n, 28, 28); labels are uint8 of shape (n,): 0 T-shirt, 1 trouser,
    2 pullover, 3 dress, 4 coat, 5 sandal, 6 shirt, 7 sneaker, 8 bag, 9 ankle boot.

    The four files, "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz" and those that begin
    with "t10k", are searched for in a folder "fashion-mnist" in the folder of the environment
    variable FRAMEWORK_DATA, in ~/.framework/datasets and in Keras's cache ~/.keras/datasets.

    Raises:
        NotFoundError: there is no such file (also a FileNotFoundError). Nothing is downloaded.
        LoadError: a file does not have the expected contents.
    """
    parts = []
    for part in ("train", "t10k"):
        y = _read(f"{part}-labels-idx1-ubyte.gz", ())
        x = _read(f"{part}-images-idx3-ubyte.gz", (28, 28))
        if len(x) != len(y):
            raise LoadError(f"Fashion-MNIST: {part}: {len(x)} images, but {len(y)} labels.")
        parts.append((x, y))
    return tuple(parts)


def _read(name, each):
    """Return the uint8 array of an IDX file, whose elements have the shape `each`."""
    file = archive.find(f"fashion-mnist/{name}", f"Fashion-MNIST ({SOURCE}{name})")
    rank = 1 + len(each)
    try:
        with gzip.open(file) as opened:
            head = opened.read(4 + 4 * rank)
            numbers = np.frombuffer(head[: len(head) // 4 * 4], ">i4").tolist()
            shape = numbers[1:] or [0]
            if numbers != [0x0800 + rank, shape[0], *each] or not 0 <= shape[0] <= _MOST:
                expected = ", ".join(map(str, ("n", *each)))
                raise LoadError(
                    f"{file}: expected an IDX file of bytes of shape ({expected}), got a file that "
                    f"begins with {head.hex()}."
                )
            data = opened.read(math.prod(shape) + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise LoadError(f"{file} cannot be read as a gzip file: {error}") from None
    if len(data) != math.prod(shape):
        raise LoadError(f"{file}: expected {math.prod(shape)} bytes of data, got {len(data)}.")
    return np.frombuffer(data, np.uint8).reshape(shape).copy()
