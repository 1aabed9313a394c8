"""Tables and columns of pandas, polars and pyarrow as arrays."""

import datetime as dt

import numpy as np
import pytest

from framework import keras
from framework.core import tables
from framework.data import Dataset

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

DATA = {
    "age": [30, 40, 50],
    "height": [1.5, None, 1.75],
    "member": [True, False, True],
    "word": ["red", None, "blue"],
}


def categories(library):
    if library is pandas:
        return pandas.Series(["a", "b", "a"], dtype="category")
    if library is polars:
        return polars.Series(["a", "b", "a"], dtype=polars.Categorical)
    return pyarrow.chunked_array([pyarrow.array(["a", "b", "a"]).dictionary_encode()])


TABLES = {
    "pandas": (pandas, pandas.DataFrame(DATA)),
    "pandas nullable": (pandas, pandas.DataFrame(DATA).convert_dtypes()),
    "polars": (polars, polars.DataFrame(DATA)),
    "pyarrow": (pyarrow, pyarrow.table(DATA)),
}


@pytest.mark.parametrize("kind", TABLES)
def test_columns(kind):
    _, table = TABLES[kind]
    assert tables.is_table(table)
    columns = tables.columns_of(table)
    assert list(columns) == list(DATA)
    np.testing.assert_array_equal(columns["age"], [30, 40, 50])
    np.testing.assert_array_equal(columns["height"], np.array([1.5, np.nan, 1.75], "float32"))
    np.testing.assert_array_equal(columns["member"], [1, 0, 1])
    assert columns["word"].tolist() == ["red", "", "blue"]


@pytest.mark.parametrize("library", [pandas, polars, pyarrow])
def test_categories_are_their_values(library):
    series = categories(library)
    assert not tables.is_table(series)
    assert tables.column(series).tolist() == ["a", "b", "a"]
    vocabulary = keras.layers.StringLookup()
    vocabulary.adapt(series)
    assert vocabulary.get_vocabulary() == ["[UNK]", "a", "b"]


@pytest.mark.parametrize("kind", TABLES)
def test_numbers_are_a_matrix(kind):
    library, _ = TABLES[kind]
    numbers = {"a": [1, 2], "b": [0.5, 1.5]}
    table = {pandas: pandas.DataFrame, polars: polars.DataFrame, pyarrow: pyarrow.table}[library](
        numbers
    )
    np.testing.assert_array_equal(tables.matrix(table), [[1, 0.5], [2, 1.5]])
    layer = keras.layers.Normalization()
    layer.adapt(table)
    np.testing.assert_allclose(np.ravel(layer.mean), [1.5, 1.0])
    rows = list(Dataset.from_tensor_slices(table).as_numpy_iterator())
    np.testing.assert_array_equal(rows, [[1, 0.5], [2, 1.5]])


def test_errors_name_the_column_and_the_remedy():
    with pytest.raises(TypeError, match=r"x: the column 'word' of the table has texts.*StringLook"):
        tables.matrix(TABLES["polars"][1])
    dates = pandas.DataFrame({"day": [dt.datetime(2020, 1, 1)]})
    with pytest.raises(TypeError, match=r"column 'day' has dates.*weekday"):
        tables.columns_of(dates)
    with pytest.raises(TypeError, match=r"column 'a': expected .*type list: \[1\]"):
        tables.columns_of(pandas.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(TypeError, match=r"LazyFrame has no rows yet.*collect"):
        tables.columns_of(polars.DataFrame({"a": [1]}).lazy())
