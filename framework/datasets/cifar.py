"""Read the files of CIFAR-10 and CIFAR-100: pickled images of 32 x 32 pixels (A. Krizhevsky)."""

from pathlib import Path

import numpy as np

from framework.core.downloads import get_file
from framework.core.errors import LoadError
from framework.core.pickled_arrays import ARRAYS
from framework.core.plain_pickle import loads
from framework.core.program_settings import image_data_format
from framework.datasets import archive

_SOURCE = "https://www.cs.toronto.edu/~kriz/"


def folder_of(inner, name, file_hash):
    """Return the folder of the pickle files: a local one, or a download in Keras's cache.

    Args:
        inner: the folder's name in the archive.
        name: the archive's name at its source.
        file_hash: the archive's hash.
    """
    outer = f"{inner}-target"
    for place in archive.folders():
        for folder in (place / outer / inner, place / inner):
            if folder.is_dir():
                return folder
    return Path(get_file(outer, _SOURCE + name, extract=True, file_hash=file_hash), inner)


def read(file, labels):
    """Return a file's images, uint8 (n, 3, 32, 32), and the list that has the key `labels`.

    Raises:
        LoadError: the file is missing or has other contents. Nothing is unpickled.
    """
    if not file.is_file():
        raise LoadError(f"{file}: this file of images does not exist.")
    found = loads(file.read_bytes(), ARRAYS, encoding="bytes", what=str(file))
    known = {_text(name): value for name, value in found.items()} if type(found) is dict else {}
    data, numbers = known.get("data"), known.get(labels)
    is_pictures = isinstance(data, np.ndarray) and data.dtype == "uint8" and data.ndim == 2
    if not is_pictures or data.shape[1] != 3072 or type(numbers) is not list or (
        len(numbers) != len(data) or not all(type(n) is int and 0 <= n < 100 for n in numbers)
    ):  # fmt: skip
        raise LoadError(
            f"{file}: expected uint8 'data' of shape (n, 3072) and a list {labels!r} of n ints, "
            f"got entries {sorted(map(str, known))}."
        )
    return data.reshape(-1, 3, 32, 32), numbers


def _text(name):
    return name.decode("latin1") if isinstance(name, bytes) else name


def in_default_format(pictures):
    """Return images in the layout of `keras.config.image_data_format()`."""
    if image_data_format() == "channels_last":
        return pictures.transpose(0, 2, 3, 1)
    return pictures
