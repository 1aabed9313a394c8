"""Fashion-MNIST: four IDX files, and files that are none."""

import gzip

import numpy as np
import pytest

from framework.core.errors import LoadError, NotFoundError
from framework.datasets import fashion_mnist

X = np.random.default_rng(0).integers(0, 256, (5, 28, 28)).astype(np.uint8)
Y = np.array([3, 0, 9, 9, 1], np.uint8)


def idx(array):
    head = np.array([0x0800 + array.ndim, *array.shape], ">i4")
    return head.tobytes() + array.tobytes()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FRAMEWORK_DATA", str(tmp_path))
    made = tmp_path / "fashion-mnist"
    made.mkdir()
    for part, n in (("train", 5), ("t10k", 2)):
        (made / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(X[:n])))
        (made / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(Y[:n])))
    return made


def test_images_and_labels(folder):
    (x, y), (x_test, y_test) = fashion_mnist.load_data()
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(x_test, X[:2])
    np.testing.assert_array_equal(y_test, Y[:2])
    x[0] = 0  # an array of its own


BROKEN = {
    "no gzip file": (idx(X), "cannot be read as a gzip file"),
    "cut": (gzip.compress(idx(X))[:-200], "cannot be read as a gzip file"),
    "empty": (gzip.compress(b""), "expected an IDX file"),
    "too few": (gzip.compress(idx(X)[:-1]), "expected 3920 bytes of data, got 3919"),
    "too many": (gzip.compress(idx(X) + b"0" * 9), "expected 3920 bytes of data, got 3921"),
    "other pixels": (gzip.compress(idx(X[:, 1:])), "expected an IDX file"),
    "labels": (gzip.compress(idx(Y)), "expected an IDX file"),
    "endless": (gzip.compress(idx(X)[:4] + b"\x7f" * 4 + idx(X)[8:]), "expected an IDX file"),
    "fewer images": (gzip.compress(idx(X[:3])), "train: 3 images, but 5 labels"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_refused(folder, kind):
    content, message = BROKEN[kind]
    (folder / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises(LoadError, match=message):
        fashion_mnist.load_data()


def test_a_missing_file(folder):
    (folder / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(NotFoundError, match=r"Fashion-MNIST .*t10k-labels.*Nothing is downloaded"):
        fashion_mnist.load_data()
