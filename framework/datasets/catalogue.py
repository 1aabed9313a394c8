"""The table that `framework datasets` prints: each data set and its file."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from framework.datasets import archive


class Entry(NamedTuple):
    """A data set.

    Attributes:
        about: a description.
        file: its file (or one of them), relative to `archive.folders()`; "" if in the package.
        digest: the SHA-256 of Keras's file; "" if there is none to compare.
    """

    about: str
    file: str = ""
    digest: str = ""


ENTRIES = {
    "alice": Entry("the first page of Alice's Adventures in Wonderland"),
    "boston_housing": Entry(
        "506 suburbs with 13 numbers each, and house prices", "boston_housing.npz",
        "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    ),
    "breast_cancer": Entry("569 tumors with 30 measurements each, in two classes"),
    "california_housing": Entry(
        "20,640 districts with 8 numbers each, and house prices", "california_housing.npz",
        "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f",
    ),
    "cifar10": Entry(
        "60,000 images of 32 × 32 pixels in ten classes",
        "cifar-10-batches-py-target/cifar-10-batches-py/data_batch_1",
    ),
    "cifar100": Entry(
        "60,000 images of 32 × 32 pixels in a hundred classes",
        "cifar-100-python-target/cifar-100-python/train",
    ),
    "diabetes": Entry("442 patients with ten measurements each, and the progress of their disease"),
    "digits": Entry("1,797 handwritten digits of 8 × 8 pixels"),
    "fashion_mnist": Entry(
        "70,000 images of clothes of 28 × 28 pixels in ten classes",
        "fashion-mnist/train-images-idx3-ubyte.gz",
    ),
    "imdb": Entry(
        "50,000 film reviews as word indices, in two classes", "imdb.npz",
        "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    ),
    "mnist": Entry(
        "70,000 handwritten digits of 28 × 28 pixels", "mnist.npz",
        "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    ),
    "passengers": Entry("the numbers of airline passengers in 144 months"),
    "reuters": Entry(
        "11,228 news as word indices, in 46 topics", "reuters.npz",
        "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
    ),
    "wine": Entry("178 wines with 13 measurements each, in three classes"),
}  # fmt: skip


def found(entry):
    """Return the path of a data set's file; None if there is none."""
    places = [folder / entry.file for folder in archive.folders()]
    return next((place for place in places if place.is_file()), None)


def state(entry):
    """Return a text: the path of a data set's file, and whether it differs from Keras's file."""
    if not entry.file:
        return "in the package"
    path = found(entry)
    if path is None:
        return "not here"
    same = not entry.digest or digest(path) == entry.digest
    return f"{path}" if same else f"{path} (another file than Keras's)"


def digest(path):
    """Return the SHA-256 of a file as text."""
    sha = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()
