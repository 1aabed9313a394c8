"""MNIST: 70,000 images of handwritten digits, 28 x 28 pixels (Y. LeCun, C. Cortes, C. Burges)."""

from framework.core.errors import LoadError
from framework.datasets import archive

_SOURCE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"


def load_data(path="mnist.npz"):
    """Return `(x_train, y_train), (x_test, y_test)`: 60,000 and 10,000 images and their labels.

    Images are uint8 of shape (n, 28, 28), from 0 (paper) to 255 (ink); labels are uint8 of shape
    (n,), 0 to 9.

    Args:
        path: Keras's file `mnist.npz`: an absolute path, or a path in the folder of the environment
            variable FRAMEWORK_DATA, in ~/.framework/datasets or in Keras's cache ~/.keras/datasets
            ($KERAS_HOME/datasets if set).

    Raises:
        NotFoundError: there is no such file (also a FileNotFoundError). Nothing is downloaded.
        LoadError: the file is not MNIST. Nothing in it is unpickled.
    """
    file = archive.find(path, f"MNIST (Keras's mnist.npz, {_SOURCE})")
    names = ["x_train", "y_train", "x_test", "y_test"]
    x_train, y_train, x_test, y_test = archive.load(file, names)
    for part, x, y in (("train", x_train, y_train), ("test", x_test, y_test)):
        if x.dtype != "uint8" or x.ndim != 3 or x.shape[1:] != (28, 28):
            raise LoadError(
                f"{file}: x_{part}: expected uint8 of shape (n, 28, 28), got {x.dtype} of shape "
                f"{x.shape}."
            )
        if y.dtype.kind not in "iu" or y.shape != x.shape[:1] or (y < 0).any() or (y > 9).any():
            raise LoadError(
                f"{file}: y_{part}: expected {len(x)} integers from 0 to 9, got {y.dtype} of shape "
                f"{y.shape}."
            )
    return (x_train, y_train), (x_test, y_test)
