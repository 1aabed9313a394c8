"""Tables and columns of pandas, polars and pyarrow as arrays; none of them is imported here.

A column of numbers or booleans becomes an array of its dtype, or float32 with nan for missing
values. A column of texts or categories becomes an array of texts, with "" for missing ones.
"""

from collections.abc import Iterable

import numpy as np

from framework.core.errors import DTypeError

_LIBRARIES = frozenset(("pandas", "polars", "pyarrow"))


def from_library(value):
    """Return whether an object belongs to pandas, polars or pyarrow."""
    return type(value).__module__.partition(".")[0] in _LIBRARIES


def is_table(value):
    """Return whether an object is a table of columns, not a single column."""
    return from_library(value) and (hasattr(value, "columns") or hasattr(value, "column_names"))


def columns_of(table):
    """Return {name: array} of a table.

    Raises:
        DTypeError: a column contains values other than numbers, booleans and strings.
    """
    if hasattr(table, "collect"):
        raise DTypeError(
            f"A {type(table).__name__} has no rows yet: call its collect(), and pass the result."
        )
    names = getattr(table, "column_names", None)
    if names is None:
        return {str(name): column(table[name], str(name)) for name in table.columns}
    return {name: column(table.column(name), name) for name in names}


def column(series, name=""):
    """Return a column as an array of one dimension."""
    kind = getattr(series, "type", None)  # This attribute is the type of a pyarrow column.
    if hasattr(kind, "value_type") and hasattr(kind, "index_type"):
        # Categories are replaced by their values.
        series = series.cast(kind.value_type)
    array = series.to_numpy(zero_copy_only=False) if _is_arrow_array(series) else series.to_numpy()
    if array.dtype.kind in "biuf":
        return array
    named = f"The column {name!r}" if name else "The column"
    if array.dtype.kind in "Mm":
        raise DTypeError(
            f"{named} has dates or times. Convert them to numbers, such as days since a date, or "
            "columns of the month and the weekday."
        )
    values = array.tolist()
    if all(isinstance(value, (str, bytes)) or _is_missing(value) for value in values):
        return np.array(["" if _is_missing(v) else v for v in values] or [""], object)[
            : len(values)
        ]
    if all(isinstance(value, (bool, int, float)) or _is_missing(value) for value in values):
        return np.array([np.nan if _is_missing(v) else v for v in values], np.float32)
    odd = next(v for v in values if not isinstance(v, (str, bytes)) and not _is_missing(v))
    raise DTypeError(
        f"{named}: expected numbers, booleans or texts, got a value of type {type(odd).__name__}: "
        f"{odd!r}. Convert the column, or leave it out."
    )


def _is_arrow_array(series):
    """Return whether a column is pyarrow's Array, whose `to_numpy` copies only on request."""
    return hasattr(series, "type") and not hasattr(series, "chunks")


def _is_missing(value):
    """Return whether a value of a column marks a missing value: None, nan or pandas.NA."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value  # noqa: PLR0124


def matrix(table, name="x"):
    """Return the columns of a table as an array of rows.

    Raises:
        DTypeError: some columns are text, and others are not.
    """
    columns = columns_of(table)
    texts = [key for key, array in columns.items() if array.dtype.kind == "O"]
    if texts and len(texts) < len(columns):
        raise DTypeError(
            f"{name}: the column{'s' * (len(texts) > 1)} {listed(texts)} of the table "
            f"{'have' if len(texts) > 1 else 'has'} texts, but the model takes numbers. Give the "
            "model one Input per column, with a StringLookup or TextVectorization layer behind "
            "those of texts (FeatureSpace makes them), or encode the columns first."
        )
    arrays = list(columns.values())
    dtype = np.result_type(*{a.dtype for a in arrays}) if arrays else np.float32
    return np.stack([a.astype(dtype, copy=False) for a in arrays], 1)


def listed(names: Iterable[str]):
    """Return the names as one text, each in quotes."""
    return ", ".join(map(repr, names))


def array_from(value, name):
    """Return a table as a matrix, and a column as an array; errors begin with `name`."""
    if is_table(value):
        return matrix(value, name)
    return column(value, getattr(value, "name", None) or "")
