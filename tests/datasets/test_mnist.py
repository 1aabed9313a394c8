"""MNIST is found where it is said to be, and nothing in a file is trusted."""

import os
from pathlib import Path

import numpy as np
import pytest

from framework.core.errors import LoadError, NotFoundError
from framework.datasets import mnist


def parts(**changed):
    rng = np.random.default_rng(0)
    made = {}
    for part, n in (("train", 6), ("test", 3)):
        made[f"x_{part}"] = rng.integers(0, 256, (n, 28, 28)).astype(np.uint8)
        made[f"y_{part}"] = rng.integers(0, 10, n).astype(np.uint8)
    return {k: v for k, v in {**made, **changed}.items() if v is not None}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home folder, and no variable that names another."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("FRAMEWORK_DATA", raising=False)
    monkeypatch.delenv("KERAS_HOME", raising=False)
    return tmp_path


def write(file, **changed):
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, **parts(**changed))
    return file


PLACES = ["named", ".framework/datasets", "keras/datasets"]


@pytest.mark.parametrize("place", [*PLACES, ".keras/datasets"])
def test_found_in_each_place(home, monkeypatch, place):
    monkeypatch.setenv("FRAMEWORK_DATA", str(home / "named"))
    if place == "keras/datasets":
        monkeypatch.setenv("KERAS_HOME", str(home / "keras"))
    write(home / place / "mnist.npz")
    (x_train, y_train), (x_test, y_test) = mnist.load_data()
    for name, array in zip(("x_train", "y_train", "x_test", "y_test"),
                           (x_train, y_train, x_test, y_test)):  # fmt: skip
        np.testing.assert_array_equal(array, parts()[name])


def test_places_in_their_order(home, monkeypatch):
    monkeypatch.setenv("FRAMEWORK_DATA", str(home / "named"))
    monkeypatch.setenv("KERAS_HOME", str(home / "keras"))
    for marker, place in reversed(list(enumerate(PLACES))):
        write(home / place / "mnist.npz", y_test=np.full(3, marker, np.uint8))
        assert mnist.load_data()[1][1].tolist() == [marker] * 3


def test_an_absolute_path_and_another_name(home):
    file = write(home / "elsewhere" / "own.npz")
    assert mnist.load_data(str(file))[0][0].shape == (6, 28, 28)
    write(home / ".framework/datasets/other.npz")
    assert mnist.load_data("other.npz")[0][0].shape == (6, 28, 28)


@pytest.mark.parametrize("kind", [NotFoundError, FileNotFoundError, KeyError])
def test_a_missing_file_is_an_error_that_names_the_folders(home, kind):
    with pytest.raises(kind) as caught:
        mnist.load_data()
    told = str(caught.value)
    for part in ("mnist.npz", "FRAMEWORK_DATA", str(home / ".framework"), str(home / ".keras")):
        assert part in told
    with pytest.raises(kind, match=r"gone\.npz"):
        mnist.load_data(str(home / "gone.npz"))


class Malicious:
    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.mkdir, (self.file,)


@pytest.mark.parametrize("name", ["x_train", "y_test"])
def test_a_pickle_inside_is_never_run(home, name):
    victim = str(home / "victim")
    attack = np.array([Malicious(victim)], object)
    file = write(home / "mnist.npz", **{name: attack})
    with np.load(file, allow_pickle=True) as arrays:  # the attack works where it is let in
        _ = arrays[name]
    Path(victim).rmdir()

    with pytest.raises(LoadError, match="cannot be loaded"):
        mnist.load_data(str(file))
    assert not Path(victim).exists()


def test_a_pickle_is_never_loaded(home):
    victim = str(home / "victim")
    np.array([Malicious(victim)], object).dump(home / "mnist.npz")
    with pytest.raises(LoadError, match="cannot be loaded"):
        mnist.load_data(str(home / "mnist.npz"))
    assert not Path(victim).exists()


def cut(content):
    return content[: len(content) // 2]


def flipped(content):
    at = len(content) // 3
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


@pytest.mark.parametrize("damage", [cut, flipped, lambda content: b"", lambda content: b"text"])
def test_a_damaged_file(home, damage):
    file = write(home / "mnist.npz")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(LoadError, match=r"mnist\.npz"):
        mnist.load_data(str(file))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("x_train", None, "expected the arrays x_train"),
        ("x_train", np.zeros((6, 28, 28)), "float64"),
        ("x_test", np.zeros((3, 8, 8), np.uint8), r"\(3, 8, 8\)"),
        ("x_train", np.zeros((6, 784), np.uint8), r"\(6, 784\)"),
        ("y_train", np.zeros(5, np.uint8), "6 integers"),
        ("y_train", np.zeros(6, np.float32), "float32"),
        ("y_test", np.array([0, 1, 10]), "from 0 to 9"),
        ("y_test", np.array([0, 1, -1]), "from 0 to 9"),
    ],
)
def test_what_is_in_it_is_checked(home, name, value, told):
    file = write(home / "mnist.npz", **{name: value})
    with pytest.raises(LoadError, match=told):
        mnist.load_data(str(file))


@pytest.mark.mnist
def test_the_real_file():
    (x_train, y_train), (x_test, y_test) = mnist.load_data()
    assert (x_train.shape, x_test.shape) == ((60000, 28, 28), (10000, 28, 28))
    assert np.bincount(y_train).tolist()[:3] == [5923, 6742, 5958]
    assert y_test[:5].tolist() == [7, 2, 1, 0, 4]
