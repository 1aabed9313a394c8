"""Datasets of the rows of files that need not fit into memory: HDF5, .npy, .npz, Parquet."""

from pathlib import Path
from typing import Any

from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.tensor_spec import TensorSpec
from framework.data import file_arrays
from framework.data.dataset import Dataset
from framework.data.row_gathering import Rows
from framework.data.stage import Slices, Stage
from framework.data.structure import array_in, map_named


class HDF5Dataset(Dataset):
    """A dataset of the rows of datasets in an HDF5 file, read when they are needed.

    Rows are read by their numbers, so that `shuffle`, `take`, `skip`, `shard` and `dataset[i]` read
    only their rows. For a file with chunks, use a shuffle buffer that is smaller than the file:
    `shuffle(10_000)` then reads each chunk about once; 64 MB of chunks are kept.

    Args:
        filename: the path of the file, which must not change while it is in use.
        names: the name of a dataset in the file, or a nest (tuple, dict) of names, which is the
            structure of the elements.

    Raises:
        InvalidArgumentError: there is no such dataset.
        LoadError: the file is not an HDF5 file.

    Example:
        >>> import os, tempfile, h5py
        >>> path = os.path.join(tempfile.mkdtemp(), "some.h5")
        >>> with h5py.File(path, "w") as file:
        ...     file["x"], file["y"] = [[1.0, 2.0], [3.0, 4.0]], [0, 1]
        >>> [(x.tolist(), y.item()) for x, y in HDF5Dataset(path, ("x", "y"))]
        [([1.0, 2.0], 0), ([3.0, 4.0], 1)]
    """

    def __init__(self, filename: Any, names: Any):
        wanted = []
        map_named(lambda name, _: wanted.append(name), names, "names")
        arrays = file_arrays.hdf5_arrays(Path(filename), wanted)
        super().__init__(Slices(map_named(lambda name, _: arrays[name], names, "names")))


class NumpyDataset(Dataset):
    """A dataset of the rows of a .npy file, or of arrays of an .npz file, read when needed.

    Arrays of an .npz file that are compressed (`np.savez_compressed`) are loaded whole.

    Args:
        filename: the path of the file, which must not change while it is in use.
        names: for an .npz file, the name of an array or a nest of names; all as a dict if None.

    Raises:
        LoadError: the file is damaged, or an array is in Fortran order.

    Example:
        >>> import os, tempfile
        >>> import numpy as np
        >>> path = os.path.join(tempfile.mkdtemp(), "some.npy")
        >>> np.save(path, np.arange(6).reshape(3, 2))
        >>> [row.tolist() for row in NumpyDataset(path).skip(1)]
        [[2, 3], [4, 5]]
    """

    def __init__(self, filename: Any, names: Any = None):
        path = Path(filename)
        if path.suffix != ".npz":
            super().__init__(Slices(file_arrays.npy_array(path)))
            return
        wanted = []
        if names is not None:
            map_named(lambda name, _: wanted.append(name), names, "names")
        arrays = file_arrays.npz_arrays(path, wanted or None)
        names = {name: name for name in arrays} if names is None else names
        super().__init__(Slices(map_named(lambda name, _: arrays[name], names, "names")))


class ParquetDataset(Dataset):
    """A dataset of the rows of Parquet files (extra `arrow`), dicts {column: scalar tensor}.

    Row groups are read one after the other, so that memory use stays constant.

    Args:
        filenames: a path or a list of paths.
        columns: the names of the columns to read; all if None.
        batch_rows: the number of rows that are decoded together.

    Raises:
        ImportError: pyarrow is not installed.
        InvalidArgumentError: a column is missing, or its values are not numbers, strings or bools.
    """

    def __init__(self, filenames: Any, columns: Any = None, batch_rows: Any = 65536):
        paths = [filenames] if isinstance(filenames, (str, Path)) else list(filenames)
        if not paths:
            raise InvalidArgumentError("ParquetDataset: filenames: expected at least one path.")
        super().__init__(ParquetRows([str(p) for p in paths], columns, int(batch_rows)))


class ParquetRows(Stage):
    """A pipeline stage that yields the rows of Parquet files, one `Rows` per record batch."""

    # True lets `prefetch` read files ahead in a thread, although no user code runs
    calls_python = True
    streams = True

    def __init__(self, paths, columns, batch_rows):
        super().__init__()
        self.paths, self.batch_rows = paths, batch_rows
        self.parquet = _parquet()
        first = self._opened(paths[0])
        known = list(first.schema_arrow.names)
        self.columns = known if columns is None else list(columns)
        missing = [name for name in self.columns if name not in known]
        if missing:
            raise InvalidArgumentError(
                f"ParquetDataset: columns: expected names of {known}, got {missing[0]!r}."
            )
        empty = first.schema_arrow.empty_table().select(self.columns)
        self._spec = {
            name: TensorSpec((), array_in(array, name).dtype if array.dtype != object else "string")
            for name, array in _arrays(empty, paths[0]).items()
        }
        self._length = sum(self._opened(path).metadata.num_rows for path in paths)

    def _opened(self, path):
        try:
            return self.parquet.ParquetFile(path)
        except (OSError, ValueError) as error:
            raise InvalidArgumentError(f"ParquetDataset: {path}: {error}") from None

    def length(self):
        return self._length

    def spec(self):
        return self._spec

    def elements(self):
        return (row for rows in self.passes() for row in rows)

    def passes(self):
        for path in self.paths:
            with self._opened(path) as file:
                for part in file.iter_batches(self.batch_rows, columns=self.columns):
                    arrays = _arrays(part.select(self.columns), path)
                    yield Rows.of(arrays, sorted(arrays))


def _arrays(table, path):
    """Return {column: array} of a table or record batch of Arrow."""
    found = {}
    for name, column in zip(table.schema.names, table.columns):
        if column.null_count and not str(column.type).startswith(("float", "double", "halffloat")):
            raise InvalidArgumentError(
                f"ParquetDataset: {path}: {name}: expected no missing values in a column of "
                f"{column.type}, got {column.null_count}."
            )
        array = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(False)
        found[name] = _checked(array, column.type, f"ParquetDataset: {path}: {name}")
    return found


def _checked(array, kind, name):
    if array.dtype == object and str(kind) not in ("string", "large_string", "binary"):
        raise InvalidArgumentError(f"{name}: expected numbers, strings or bools, got {kind}.")
    try:
        return array_in(array, name)
    except DTypeError as error:
        raise InvalidArgumentError(str(error)) from None


def _parquet():
    try:
        from pyarrow import parquet
    except ImportError:
        raise ImportError(
            "ParquetDataset needs pyarrow. Install it: pip install pyarrow, or framework[arrow]."
        ) from None
    return parquet
