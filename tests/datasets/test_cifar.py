"""CIFAR: pickles of Python 2 in local folders and downloaded archives; nothing in them is run."""

import os
import pickle
import struct
import tarfile

import numpy as np
import pytest

from framework import keras
from framework.core.errors import LoadError, UnsafeFileError
from framework.datasets import cifar

RNG = np.random.default_rng(0)


def text(value):
    return b"U" + bytes([len(value)]) + value


def pickled(pictures, **lists):
    """Return a pickle as Python 2 writes it: text is bytes, and arrays have the old names."""
    data = pictures.tobytes()
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\nt" + text(b"b")
    array += b"tR(I1\n(I%d\nI%d\nt" % pictures.shape + b"cnumpy\ndtype\n(" + text(b"u1")
    array += b"I0\nI1\ntR(I3\n" + text(b"|") + b"NNNI-1\nI-1\nI0\ntbI00\nT"
    array += struct.pack("<i", len(data)) + data + b"tb"
    made = b"(" + text(b"data") + array
    for name, numbers in lists.items():
        items = b"".join(b"I%d\n" % n for n in numbers)
        made += text(name.encode()) + b"(" + items + b"l"
    return b"\x80\x02" + made + b"d."


def images(n):
    return RNG.integers(0, 256, (n, 3072)).astype(np.uint8)


TEN = {f"data_batch_{i}": (images(2), [i, 9 - i]) for i in range(1, 6)} | {
    "test_batch": (images(3), [0, 1, 2])
}
HUNDRED = {"train": (images(4), [99, 0, 1, 2]), "test": (images(1), [5])}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("FRAMEWORK_DATA", raising=False)
    folder = tmp_path / "datasets"
    folder.mkdir()
    return folder


def write(folder):
    ten, hundred = folder / "cifar-10-batches-py", folder / "cifar-100-python"
    for made in (ten, hundred):
        made.mkdir()
    for name, (pictures, labels) in TEN.items():
        (ten / name).write_bytes(pickled(pictures, labels=labels))
    for name, (pictures, labels) in HUNDRED.items():
        coarse = [n // 5 for n in labels]
        (hundred / name).write_bytes(pickled(pictures, fine_labels=labels, coarse_labels=coarse))
    return ten, hundred


def test_the_pickles_are_those_of_python_2():
    made = pickle.loads(pickled(*TEN["test_batch"][:1], labels=[3]), encoding="bytes")
    assert made[b"labels"] == [3]
    np.testing.assert_array_equal(made[b"data"], TEN["test_batch"][0])


def test_local_folders(cache):
    write(cache)
    (x, y), (x_test, y_test) = keras.datasets.cifar10.load_data()
    assert (x.shape, x.dtype, y.shape, y.dtype) == ((10, 32, 32, 3), "uint8", (10, 1), "uint8")
    expected = np.concatenate([TEN[f"data_batch_{i}"][0] for i in range(1, 6)])
    np.testing.assert_array_equal(x.transpose(0, 3, 1, 2).reshape(10, -1), expected)
    assert y[:4, 0].tolist() == [1, 8, 2, 7]
    assert (len(x_test), y_test[:, 0].tolist()) == (3, [0, 1, 2])
    (x, y), (_, y_test) = keras.datasets.cifar100.load_data()
    assert (x.shape, y.dtype, y[:, 0].tolist()) == ((4, 32, 32, 3), "int64", [99, 0, 1, 2])
    (_, y), _ = keras.datasets.cifar100.load_data("coarse")
    assert y[:, 0].tolist() == [19, 0, 0, 0]
    with pytest.raises(ValueError, match="fine"):
        keras.datasets.cifar100.load_data("medium")


def test_an_archive_is_downloaded(cache, tmp_path, change):
    site = tmp_path / "site"
    site.mkdir()
    for folder, name in zip(write(site), ("cifar-10-python", "cifar-100-python")):
        with tarfile.open(site / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(folder, folder.name)
    change(cifar, _SOURCE=f"{site.as_uri()}/")
    with pytest.raises(ValueError, match="hash"):
        keras.datasets.cifar10.load_data()
    change(cifar, get_file=_without_hash(cifar.get_file))
    assert keras.datasets.cifar10.load_data()[1][0].shape == (3, 32, 32, 3)
    assert keras.datasets.cifar100.load_data()[1][0].shape == (1, 32, 32, 3)
    assert (cache / "cifar-10-batches-py-target" / "cifar-10-batches-py").is_dir()
    assert (cache / "cifar-100-python-target_archive").is_file()


def _without_hash(function):
    return lambda *args, extract, file_hash: function(*args, extract=extract)


class _Evil:
    def __reduce__(self):
        return os.mkdir, ("canary",)


BAD = {
    "a call": (pickle.dumps({b"data": _Evil()}, 2), UnsafeFileError),
    "a list": (pickle.dumps([1], 2), LoadError),
    "other pictures": (pickled(images(2)[:, :9], labels=[1, 2]), LoadError),
    "few labels": (pickled(images(2), labels=[1]), LoadError),
    "large labels": (pickled(images(2), labels=[1, 100]), LoadError),
    "other labels": (pickled(images(2), fine_labels=[1, 2]), LoadError),
    "no end": (pickled(images(2), labels=[1, 2])[:-9], LoadError),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name, cache, monkeypatch):
    monkeypatch.chdir(cache)
    ten, _ = write(cache)
    data, error = BAD[name]
    (ten / "test_batch").write_bytes(data)
    with pytest.raises(error, match="test_batch"):
        keras.datasets.cifar10.load_data()
    assert not (cache / "canary").exists()
    (ten / "test_batch").unlink()
    with pytest.raises(LoadError, match="does not exist"):
        keras.datasets.cifar10.load_data()
