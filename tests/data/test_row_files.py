"""Datasets of rows in files: against the same arrays in memory, at constant memory."""

import subprocess
import sys

import h5py
import numpy as np
import pytest

from framework.core import random
from framework.core.errors import DTypeError, InvalidArgumentError, LoadError
from framework.data import Dataset, HDF5Dataset, NumpyDataset, ParquetDataset
from framework.data.file_arrays import ChunkedArray, RawArray

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(57, 3, 2)).astype(np.float32), np.arange(57)
PIPELINES = {
    "elements": lambda d: d,
    "batches": lambda d: d.batch(8),
    "shuffle": lambda d: d.shuffle(57).batch(5),
    "buffer": lambda d: d.shuffle(7).repeat(2).batch(9, drop_remainder=True),
    "slices": lambda d: d.skip(3).shard(4, 1).take(9).batch(2),
    "map": lambda d: d.map(lambda x, y: (x * 2.0, y + 1)).batch(10).prefetch(1),
}


def hdf5(tmp_path, **how):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("in/x", data=X, **how)
        file.create_dataset("y", data=Y)
    return HDF5Dataset(tmp_path / "a.h5", ("in/x", "y"))


def npz(tmp_path, save=np.savez):
    save(tmp_path / "a.npz", x=X, y=Y)
    return NumpyDataset(tmp_path / "a.npz", ("x", "y"))


SOURCES = {
    "raw": hdf5,
    "chunks": lambda p: hdf5(p, chunks=(10, 3, 2), compression="gzip"),
    "npz": npz,
    "compressed npz": lambda p: npz(p, np.savez_compressed),
}


def plain(data):
    return [[(a.tobytes(), a.shape) for a in element] for element in data.as_numpy_iterator()]


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("source", SOURCES)
def test_rows_of_files_are_those_of_arrays(source, pipeline, tmp_path):
    found = []
    for data in (SOURCES[source](tmp_path), Dataset.from_tensor_slices((X, Y))):
        random.set_seed(1)
        made = PIPELINES[pipeline](data)
        found.append([plain(made), plain(made)])
    assert found[0] == found[1]


def test_the_fastest_way_to_read_is_chosen(tmp_path):
    kinds = [[type(a) for a in SOURCES[name](tmp_path)._framework.all.arrays] for name in SOURCES]
    assert kinds == [[RawArray] * 2, [ChunkedArray, RawArray], [RawArray] * 2, [np.ndarray] * 2]


def test_an_open_file_and_a_npy_file(tmp_path):
    np.save(tmp_path / "x.npy", X)
    hdf5(tmp_path)
    with h5py.File(tmp_path / "a.h5") as file:
        data = Dataset.from_tensor_slices({"x": file["in/x"], "y": Y})
    assert data.element_spec["x"].shape == (3, 2)
    np.testing.assert_array_equal(next(iter(data.batch(57)))["x"], X)
    np.testing.assert_array_equal(next(iter(NumpyDataset(tmp_path / "x.npy").batch(57))), X)


def test_bad_files_are_refused(tmp_path):
    hdf5(tmp_path)
    with pytest.raises(InvalidArgumentError, match="got 'z'"):
        HDF5Dataset(tmp_path / "a.h5", "z")
    (tmp_path / "b.h5").write_bytes(b"no")
    with pytest.raises(LoadError, match="HDF5"):
        HDF5Dataset(tmp_path / "b.h5", "z")
    (tmp_path / "b.npy").write_bytes(b"no")
    with pytest.raises(LoadError, match="npy"):
        NumpyDataset(tmp_path / "b.npy")
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    with pytest.raises(LoadError, match="C order"):
        NumpyDataset(tmp_path / "f.npy")
    np.save(tmp_path / "big.npy", X.astype(">f4"))
    with pytest.raises(DTypeError, match="byte order"):
        NumpyDataset(tmp_path / "big.npy")
    np.save(tmp_path / "cut.npy", X)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-5])
    with pytest.raises(LoadError, match="truncated"):
        NumpyDataset(tmp_path / "cut.npy")


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    words = [f"w{i}" for i in range(57)]
    table = pa.table({"x": X[:, 0, 0], "y": Y, "w": words, "b": Y % 2 == 0})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=20)
    names = ["x", "y", "w", "b"]
    memory = {"x": X[:, 0, 0], "y": Y, "w": np.array(words), "b": Y % 2 == 0}
    for columns in (None, ["y", "x"]):
        data = ParquetDataset(tmp_path / "a.parquet", columns, batch_rows=9)
        kept = {n: memory[n] for n in columns or names}
        for make in (
            lambda d: d,
            lambda d: d.batch(8).prefetch(1),
            lambda d: d.prefetch(2).shuffle(13, seed=3).repeat(2).batch(10),
            lambda d: d.map(lambda e: e["x"] * 2.0).batch(7),
        ):
            found, expected = make(data), make(Dataset.from_tensor_slices(kept))
            for _ in range(2):
                rows = list(found.as_numpy_iterator())
                np.testing.assert_equal(rows, list(expected.as_numpy_iterator()))
        assert len(data) == 57
        assert data.element_spec == Dataset.from_tensor_slices(kept).element_spec
    with pytest.raises(InvalidArgumentError, match="got 'z'"):
        ParquetDataset(tmp_path / "a.parquet", ["z"])
    parquet.write_table(pa.table({"y": [1, None]}), tmp_path / "null.parquet")
    with pytest.raises(InvalidArgumentError, match="missing"):
        list(ParquetDataset(tmp_path / "null.parquet"))


PROGRAM = """
import resource, sys
import h5py
from framework.data import HDF5Dataset
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("x", (1 << 17, 1024), "float32")[-1] = 1.0
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
data = HDF5Dataset(sys.argv[1], "x").batch(1024)
iterator = iter(data)
next(iterator)
before = peak()
count = sum(len(batch) for batch in iterator)
print(count, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs sparse files")
def test_a_large_file_needs_little_memory(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "large.h5")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows, grown = map(int, done.stdout.split())
    assert rows == (1 << 17) - 1024
    assert grown < 60  # MB, of 512
