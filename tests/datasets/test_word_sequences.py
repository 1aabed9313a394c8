"""IMDB and Reuters: Keras's order and words, local files, downloads, hostile files."""

import json
import os

import numpy as np
import pytest

from framework import keras
from framework.core.errors import LoadError, NotFoundError, UnsafeFileError
from framework.datasets import word_sequences

IMDB, REUTERS = keras.datasets.imdb, keras.datasets.reuters


def objects(rows):
    array = np.empty(len(rows), object)
    array[:] = rows
    return array


TEXTS = objects([[1, 5, 3], [2], [7, 4], [3, 3, 3, 9], [6, 1]])
LABELS = np.arange(5)
OTHER = objects([[8, 1], [2, 2, 2], [5]])


def imdb(folder, **changed):
    path = folder / "imdb.npz"
    parts = {"x_train": TEXTS, "y_train": LABELS, "x_test": OTHER, "y_test": np.arange(3)}
    np.savez_compressed(path, **{**parts, **changed})
    return str(path)


def reuters(folder):
    np.savez(folder / "reuters.npz", x=TEXTS, y=LABELS)
    return str(folder / "reuters.npz")


def listed(parts):
    return [(list(x), list(map(int, y))) for x, y in parts]


# Keras 3.15 for these files
IMDB_CASES = {
    (): [([[1, 5], [1, 4, 8, 6], [1, 6, 6, 6, 2], [1, 10, 7], [1, 9, 4]], [1, 0, 3, 2, 4]), ([[1,
        5, 5, 5], [1, 11, 4], [1, 8]], [1, 0, 2])],
    (("num_words", 8),): [([[1, 5], [1, 4, 2, 6], [1, 6, 6, 6, 2], [1, 2, 7], [1, 2, 4]], [1, 0,
        3, 2, 4]), ([[1, 5, 5, 5], [1, 2, 4], [1, 2]], [1, 0, 2])],
    (("skip_top", 5), ("num_words", 100)): [([[2, 5], [2, 2, 8, 6], [2, 6, 6, 6, 12], [2, 10, 7],
        [2, 9, 2]], [1, 0, 3, 2, 4]), ([[2, 5, 5, 5], [2, 11, 2], [2, 8]], [1, 0, 2])],
    (("oov_char", None), ("num_words", 8)): [([[1, 5], [1, 4, 6], [1, 6, 6, 6], [1, 7], [1, 4]],
        [1, 0, 3, 2, 4]), ([[1, 5, 5, 5], [1, 4], [1]], [1, 0, 2])],
    (("start_char", None),): [([[5], [4, 8, 6], [6, 6, 6, 2], [10, 7], [9, 4]], [1, 0, 3, 2, 4]),
        ([[5, 5, 5], [11, 4], [8]], [1, 0, 2])],
    (("start_char", None), ("index_from", 0), ("seed", 1)): [([[7, 4], [2], [6, 1], [1, 5, 3], [3,
        3, 3, 2]], [2, 1, 4, 0, 3]), ([[8, 1], [5], [2, 2, 2]], [0, 2, 1])],
    (("maxlen", 4),): [([[1, 5], [1, 10, 7], [1, 9, 4]], [1, 2, 4]), ([[1, 2, 4], [1, 8]], [0,
        2])],
}  # fmt: skip
REUTERS_CASES = {
    (): [([[1, 5], [1, 4, 8, 6], [1, 6, 6, 6, 2], [1, 10, 7]], [1, 0, 3, 2]), ([[1, 9, 4]], [4])],
    (("test_split", 0.5), ("num_words", 8)): [([[1, 5], [1, 4, 2, 6]], [1, 0]), ([[1, 6, 6, 6, 2],
        [1, 2, 7], [1, 2, 4]], [3, 2, 4])],
    (("oov_char", None), ("skip_top", 5)): [([[5], [8, 6], [6, 6, 6], [10, 7]], [1, 0, 3, 2]),
        ([[9]], [4])],
    (("start_char", None), ("index_from", 0), ("seed", 1)): [([[7, 4], [2], [6, 1], [1, 5, 3]],
        [2, 1, 4, 0]), ([[3, 3, 3, 2]], [3])],
    (("maxlen", 4),): [([[1, 5], [1, 2, 7]], [1, 2]), ([[1, 9, 4]], [4])],
}  # fmt: skip


@pytest.mark.parametrize("case", IMDB_CASES, ids=str)
def test_imdb_of_keras(case, tmp_path):
    found = IMDB.load_data(imdb(tmp_path), **dict(case))
    assert listed(found) == IMDB_CASES[case]
    assert found[0][0].dtype == object
    assert found[0][0].ndim == 1


@pytest.mark.parametrize("case", REUTERS_CASES, ids=str)
def test_reuters_of_keras(case, tmp_path):
    assert listed(REUTERS.load_data(reuters(tmp_path), **dict(case))) == REUTERS_CASES[case]


def test_names_of_topics():
    names = REUTERS.get_label_names()
    assert len(set(names)) == 46
    assert (names[0], names[15], names[-1]) == ("cocoa", "carcass", "lead")


def test_files_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.delenv("FRAMEWORK_DATA", raising=False)
    (tmp_path / "datasets").mkdir()
    imdb(tmp_path / "datasets")
    assert len(IMDB.load_data()[0][0]) == 5
    for module, name in ((IMDB, "imdb"), (REUTERS, "reuters")):
        path = tmp_path / "datasets" / f"{name}_word_index.json"
        path.write_text(json.dumps({"the": 1, "é": 2}))
        assert module.get_word_index() == {"the": 1, "é": 2}
        path.write_text("{")
        with pytest.raises(LoadError, match="JSON"):
            module.get_word_index()


def test_a_missing_file_is_downloaded(tmp_path, monkeypatch, change):
    site = tmp_path / "site"
    site.mkdir()
    reuters(site)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.delenv("FRAMEWORK_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    change(word_sequences, SOURCE=f"{site.as_uri()}/")
    with pytest.raises(ValueError, match="hash"):  # it is not Keras's file
        REUTERS.load_data()
    change(word_sequences, get_file=_without_hash(word_sequences.get_file))
    assert len(REUTERS.load_data()[0][0]) == 4
    assert (tmp_path / "keras" / "datasets" / "reuters.npz").is_file()


def _without_hash(function):
    return lambda *args, file_hash: function(*args)


class _Evil:
    def __reduce__(self):
        return os.mkdir, ("canary",)


def test_what_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = objects([_Evil(), [1]])
    with pytest.raises(UnsafeFileError, match="mkdir"):
        IMDB.load_data(imdb(tmp_path, x_train=hostile, y_train=np.arange(2)))
    assert not (tmp_path / "canary").exists()
    for changed in (
        {"x_train": np.arange(5)}, {"y_train": np.arange(4)},
        {"x_test": objects([[1], ["a"], [2]])}, {"y_test": np.array([0.5, 1, 2])},
    ):  # fmt: skip
        with pytest.raises(LoadError, match="lists of ints"):
            IMDB.load_data(imdb(tmp_path, **changed))
    with pytest.raises(LoadError, match="x, y"):
        REUTERS.load_data(imdb(tmp_path))
    (tmp_path / "text.npz").write_text("text")
    with pytest.raises(LoadError, match=r"text\.npz"):
        REUTERS.load_data(str(tmp_path / "text.npz"))
    with pytest.raises(NotFoundError, match=r"imdb\.npz"):
        IMDB.load_data(str(tmp_path / "none.npz"))
    with pytest.raises(ValueError, match="Increase maxlen"):
        IMDB.load_data(imdb(tmp_path), maxlen=1)
    with pytest.raises(ValueError, match="test_split"):
        REUTERS.load_data(reuters(tmp_path), test_split=2)
    with pytest.raises(TypeError, match="nb_words"):
        IMDB.load_data(imdb(tmp_path), nb_words=3)
