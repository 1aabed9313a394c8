"""The small data sets in the package, and the list of all."""

import numpy as np
import pytest
from sklearn import datasets as reference

from framework import datasets
from framework.__main__ import main
from framework.core.errors import InvalidArgumentError
from framework.datasets import catalogue

SOURCES = {
    "wine": (reference.load_wine, {}),
    "breast_cancer": (reference.load_breast_cancer, {}),
    "diabetes": (reference.load_diabetes, {"scaled": False}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_tables_are_those_of_scikit_learn(name):
    load, arguments = SOURCES[name]
    expected = load(**arguments)
    module = getattr(datasets, name)
    (x, y), (x_test, y_test) = module.load_data(test_split=0.25, seed=3)
    assert len(x_test) == len(expected.data) - int(len(expected.data) * 0.75)
    x, y = np.concatenate([x, x_test]), np.concatenate([y, y_test])
    order = np.random.RandomState(3).permutation(len(x))
    np.testing.assert_array_equal(x, expected.data[order].astype(np.float32))
    np.testing.assert_array_equal(y, expected.target[order])
    assert x.dtype == np.float32
    assert len(module.FEATURES) == x.shape[1]
    with pytest.raises(InvalidArgumentError, match="test_split"):
        module.load_data(test_split=2)


def test_the_series_and_the_text():
    train, test = datasets.passengers.load_data(test_years=3)
    assert (len(train), len(test), train.sum() + test.sum()) == (108, 36, 40363)
    text = datasets.alice.load_data()
    assert text.count("\n\n") == 3
    assert text.endswith("out again.\n")


def test_the_command_lists_where_files_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FRAMEWORK_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    (tmp_path / "mnist.npz").write_bytes(b"other")
    assert main(["datasets"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert set(catalogue.ENTRIES) <= set(lines)
    assert "in the package" in lines["wine"]
    assert "mnist.npz (another file than Keras's)" in lines["mnist"]
    assert lines["reuters"].endswith("not here")


def test_the_list_has_every_data_set():
    assert set(catalogue.ENTRIES) == set(dir(datasets)) - {"annotations"}
