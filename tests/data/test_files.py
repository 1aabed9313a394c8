"""Files that datasets read and write: records, lines, CSV, saved elements; and damaged ones."""

import gzip
import zlib

import numpy as np
import pytest

import framework as tf
from framework.core.errors import (
    DataLossError,
    InvalidArgumentError,
    LoadError,
    MissingFileError,
)  # fmt: skip
from framework.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from framework.data.checksums import crc32c, masked_crc32c
from framework.data.csv_files import CsvDataset, make_csv_dataset
from framework.data.records import TFRecordOptions, TFRecordWriter
from tests.data.test_dataset import elements, plain

KINDS = [None, "GZIP", "ZLIB"]
RECORDS = [b"", b"a", bytes(63), b"\xff" * 64, *(bytes(range(n)) * 5 for n in (65, 103, 205, 256))]


def by_bits(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 * (crc & 1))
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("n", [0, 1, 63, 64, 1023, 1024, 1025, 1027, 1028, 2100])
def test_crc32c(n):
    data = np.random.default_rng(n).bytes(n)
    assert crc32c(data) == by_bits(data)


def test_crc32c_of_the_standard():
    assert crc32c(b"123456789") == 0xE3069283  # RFC 3720 has more
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert masked_crc32c(b"123456789") == 0xC78AB0E5  # measured with TensorFlow 2.21


@pytest.mark.parametrize("kind", KINDS)
def test_records(kind, tmp_path):
    path = tmp_path / "records"
    with TFRecordWriter(path, TFRecordOptions(kind)) as writer:
        for record in RECORDS:
            writer.write(record)
    assert elements(TFRecordDataset(path, kind)) == RECORDS
    assert elements(TFRecordDataset([path, str(path)], kind)) == RECORDS * 2
    turns = [record for record in RECORDS for _ in range(2)]
    assert elements(TFRecordDataset([path, path], kind, num_parallel_reads=2)) == turns
    assert TFRecordDataset(path).element_spec == tf.TensorSpec((), "string")


def test_a_record_of_tensorflow(tmp_path):
    """The bytes that TensorFlow 2.21 writes for b"one"."""
    with TFRecordWriter(tmp_path / "one") as writer:
        writer.write("one")
    written = (tmp_path / "one").read_bytes()
    assert written.hex() == "0300000000000000b099490e6f6e6501405508"


@pytest.mark.parametrize(("change", "told"), [
    (lambda d: d[:-1], "record 1 is truncated"),
    (lambda d: d[:25], "record 1 is truncated"),
    (lambda d: d[:12] + b"x" + d[13:], "data of record 0 does not match"),
    (lambda d: b"\x09" + d[1:], "length of record 0 does not match"),
    (lambda d: d + b"no record here", "length of record 2 does not match"),
])  # fmt: skip
def test_damaged_records(change, told, tmp_path):
    path = tmp_path / "records"
    with TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.write(b"two")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DataLossError, match=told):
        elements(TFRecordDataset(path))


@pytest.mark.parametrize("kind", KINDS[1:])
def test_damaged_compression(kind, tmp_path):
    path = tmp_path / "records"
    with TFRecordWriter(path, kind) as writer:
        writer.write(b"some text " * 100)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataLossError, match="record 0"):
        elements(TFRecordDataset(path, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_lines_and_parts(kind, tmp_path):
    data = b"one\r\ntwo\n\nlast"
    packed = {None: data, "GZIP": gzip.compress(data), "ZLIB": zlib.compress(data)}[kind]
    (tmp_path / "file").write_bytes(packed)
    path = tmp_path / "file"
    assert elements(TextLineDataset(path, kind)) == [b"one", b"two", b"", b"last"]
    parts = FixedLengthRecordDataset(path, 3, 1, 1, compression_type=kind)
    assert elements(parts) == [b"ne\r", b"\ntw", b"o\n\n", b"las"]
    with pytest.raises(InvalidArgumentError, match="multiple of 4 bytes"):
        elements(FixedLengthRecordDataset(path, 4, compression_type=kind))


def test_missing_files_and_patterns(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        elements(TextLineDataset(tmp_path / "none"))
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text(name)
    pattern = str(tmp_path / "*.txt")
    paths = Dataset.list_files(pattern, shuffle=False)
    assert elements(paths) == [str(tmp_path / n).encode() for n in ("a.txt", "b.txt")]
    assert elements(TextLineDataset(paths)) == [b"a.txt", b"b.txt"]
    assert sorted(elements(Dataset.list_files(pattern, seed=1))) == elements(paths)
    with pytest.raises(InvalidArgumentError, match="no file matches"):
        Dataset.list_files(str(tmp_path / "none*"))


# ---- CSV -----------------------------------------------------------------------------------------

CSV = 'n,x,t\n1,2.5,"a, ""b"""\n-3,1e3,\n4,NA,c d\n'


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.csv").write_text(CSV)
    return str(tmp_path / "table.csv")


def test_csv_rows(table):
    rows = CsvDataset(table, ["int64", 7.0, "?"], header=True, na_value="NA")
    assert elements(rows) == [(1, 2.5, b'a, "b"'), (-3, 1000.0, b"?"), (4, 7.0, b"c d")]
    assert [spec.dtype for spec in rows.element_spec] == ["int64", "float32", "string"]
    some = CsvDataset(table, [0], header=True, select_cols=[0])
    assert elements(some) == [(1,), (-3,), (4,)]
    assert elements(CsvDataset(table, [0], header=True, exclude_cols=[1, 2])) == elements(some)


@pytest.mark.parametrize(("defaults", "told"), [
    ([0, 0.0, "", 0], "expected 4 fields, got 3"),
    (["int32", "int32", ""], "field 1 is not a valid int32: '2.5'"),
    (["int32", 0.0, "string"], "row 2: field 2 is required but is empty"),
])  # fmt: skip
def test_csv_errors(table, defaults, told):
    with pytest.raises(InvalidArgumentError, match=told):
        elements(CsvDataset(table, defaults, header=True, na_value="NA"))


def test_csv_lines():
    lines = tf.constant([["1,a", "2,"], ['3,"b, c"', ",d"]])
    numbers, texts = tf.io.decode_csv(lines, [np.int64(7), "?"])
    assert numbers.tolist() == [[1, 2], [3, 7]]
    assert numbers.dtype == "int64"
    assert texts.tolist() == [[b"a", b"?"], [b"b, c", b"d"]]
    assert tf.io.decode_csv(b"4,5.5", [0.0], select_cols=[1])[0].item() == 5.5
    with pytest.raises(InvalidArgumentError, match="row 1: expected 2 fields, got 1"):
        tf.io.decode_csv(["1,2", "3"], [0, 0])


def test_csv_batches(table):
    data = make_csv_dataset(table, 2, label_name="n", na_value="NA", num_epochs=1, shuffle=False)
    assert elements(data) == [
        ({"x": [2.5, 1000.0], "t": [b'a, "b"', b""]}, [1, -3]),
        ({"x": [0.0], "t": [b"c d"]}, [4]),
    ]
    assert data.element_spec[0]["x"] == tf.TensorSpec((None,))
    endless = make_csv_dataset(table, 2, select_columns=["x", 0], na_value="NA", shuffle_seed=1)
    assert endless.cardinality().item() in (-1, -2)
    assert list(next(iter(endless))) == ["n", "x"]


# ---- saved elements ------------------------------------------------------------------------------


def some():
    return Dataset.range(5).map(
        lambda i: (i, {"t": tf.constant(["a", "bc"]), "x": tf.zeros((2, 0), "bfloat16"), "c": 1j})
    )


@pytest.mark.parametrize("kind", [None, "GZIP"])
def test_save_and_load(kind, tmp_path):
    data = some()
    data.save(tmp_path / "made", kind, shard_func=lambda i, _: i % 2)
    loaded = Dataset.load(tmp_path / "made")
    assert elements(loaded) == [elements(data)[i] for i in (0, 2, 4, 1, 3)]
    assert loaded.element_spec == data.element_spec
    assert len(loaded) == 5
    turns = Dataset.load(
        tmp_path / "made", reader_func=lambda files: files.interleave(lambda f: f, cycle_length=2)
    )
    assert elements(turns) == elements(data)
    Dataset.range(0).save(tmp_path / "empty")
    assert elements(Dataset.load(tmp_path / "empty")) == []


def test_damaged_elements(tmp_path):
    some().save(tmp_path)
    (file,) = tmp_path.glob("*.elements")
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.rindex(b'{"count"') - 13])
    with pytest.raises(DataLossError, match="incomplete: it ends after 5"):
        elements(Dataset.load(tmp_path))
    with TFRecordWriter(file) as writer:
        writer.write(b"other")
    with pytest.raises(LoadError, match="not a file of dataset elements"):
        elements(Dataset.load(tmp_path))
    (tmp_path / "dataset.json").write_text("{")
    with pytest.raises(LoadError, match="damaged"):
        Dataset.load(tmp_path)
    with pytest.raises(MissingFileError, match="no saved dataset"):
        Dataset.load(tmp_path / "none")


@pytest.mark.parametrize("method", ["cache", "snapshot"])
def test_elements_are_kept_in_files(method, tmp_path):
    calls = []
    data = Dataset.range(4).map(lambda i: calls.append(1) or i.item())
    for _ in range(2):  # the second pipeline is as one of another program
        kept = getattr(data, method)(str(tmp_path / "kept"))
        next(iter(kept))  # an iteration that stops early keeps nothing
        assert elements(kept) == elements(kept) == [0, 1, 2, 3]
        made, calls[:] = len(calls), []
    assert made == 0


def test_elements_that_cannot_be_saved(tmp_path):
    with pytest.raises(InvalidArgumentError, match="cannot be stored"):
        Dataset.range(4).window(2).save(tmp_path)
    assert plain(tf.constant(1)) == 1
