"""Checksums of arrays in HDF5 and safetensors files: damage is found, and the arrays are named."""

import json
import struct

import h5py
import numpy as np
import pytest

from framework import keras
from framework.core.errors import DamagedFileError
from framework.saving import array_sums, hdf5, sections
from framework.saving.limits import DEFAULT

KERNELS = {
    "weights.h5": "layers/dense_1/vars/0",
    "h5": "model_weights/two/m/two/kernel",
    "safetensors": "layers/dense_1/kernel",
}


def model(seed=0):
    keras.utils.set_random_seed(seed)
    dense = [keras.layers.Dense(8, name="one"), keras.layers.Dense(5, name="two")]
    return keras.Sequential([keras.Input((6,)), *dense], name="m")


def saved(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    made = model()
    made.save(path) if ending == "h5" else made.save_weights(path)
    return made, path


def load(path):
    return keras.models.load_model(path) if path.name == "m.h5" else model(1).load_weights(path)


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("ending", KERNELS)
def test_a_damaged_array_is_named(ending, threads, tmp_path, change):
    change(array_sums, _SHARE=1, _LARGE=10**9 if threads == 3 else 1, _THREADS=threads)
    made, path = saved(tmp_path, ending)
    load(path)
    flip(path, path.read_bytes().index(made.layers[1].kernel.numpy().tobytes()) + 11)
    with pytest.raises(DamagedFileError, match="checksums of 1 of 4 arrays") as caught:
        load(path)
    assert KERNELS[ending] in str(caught.value)
    assert "The other arrays are intact" in str(caught.value)


@pytest.mark.parametrize("ending", KERNELS)
def test_large_arrays_are_added_by_a_thread(ending, tmp_path, change):
    change(sections, _BESIDE=1)
    made, path = saved(tmp_path, ending)
    load(path)
    flip(path, path.read_bytes().index(made.layers[0].kernel.numpy().tobytes()))
    with pytest.raises(DamagedFileError, match="checksums of 1"):
        load(path)


def test_shapes_and_dtypes_belong_to_the_checksum(tmp_path):
    _, path = saved(tmp_path, "weights.h5")
    with h5py.File(path, "r+") as file:
        old = file["layers/dense/vars/0"]
        values, crc = old[:], old.attrs["crc32"]
        del file["layers/dense/vars/0"]
        new = file.create_dataset("layers/dense/vars/0", data=values.view("i4"))
        new.attrs.create("crc32", crc, dtype="u4")
    with pytest.raises(DamagedFileError, match="layers/dense/vars/0"):
        load(path)
    path = saved(tmp_path, "safetensors")[1]
    path.write_bytes(path.read_bytes().replace(b'"F32", "shape": [8]', b'"I32", "shape": [8]'))
    with pytest.raises(DamagedFileError, match="layers/dense/bias"):
        load(path)


def test_changes_on_purpose(tmp_path):
    _, path = saved(tmp_path, "weights.h5")
    with h5py.File(path, "r+") as file:
        file["layers/dense/vars/0"][:] = 3
    with pytest.raises(DamagedFileError, match="remove their checksums, named 'crc32'"):
        load(path)
    with h5py.File(path, "r+") as file:
        del file["layers/dense/vars/0"].attrs["crc32"]
    load(path)


def test_values_that_another_program_packs_are_checked(tmp_path):
    made, path = saved(tmp_path, "weights.h5")
    for values in (made.layers[0].kernel.numpy(), np.zeros((6, 8), "f4")):
        with h5py.File(path, "r+") as file:
            crc = file["layers/dense/vars/0"].attrs["crc32"]
            del file["layers/dense/vars/0"]
            new = file.create_dataset("layers/dense/vars/0", data=values, compression=1)
            new.attrs.create("crc32", crc, dtype="u4")
        if values.any():
            load(path)
        else:
            with pytest.raises(DamagedFileError, match="layers/dense/vars/0"):
                load(path)


@pytest.mark.parametrize("value", ["text", 2**40, 1.5, [1, 2]])
def test_checksums_of_other_types_in_hdf5(value, tmp_path):
    _, path = saved(tmp_path, "weights.h5")
    with h5py.File(path, "r+") as file:
        file["layers/dense/vars/0"].attrs["crc32"] = value
    with pytest.raises(DamagedFileError, match="the checksum is not a 32-bit number"):
        load(path)


@pytest.mark.parametrize(
    "value", [3, "[]", "{", '{"layers/dense/bias": 5}', '{"layers/dense/bias": "x"}']
)
def test_checksums_of_other_types_in_safetensors(value, tmp_path):
    _, path = saved(tmp_path, "safetensors")
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    header["__metadata__"]["crc32"] = value
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[end:])
    with pytest.raises(DamagedFileError):
        load(path)


def test_arrays_of_all_kinds(tmp_path):
    arrays = {
        "scalar": np.array(3.0), "empty": np.zeros((0, 3)), "columns": np.ones((3, 4), order="F"),
        "big": np.arange(3, dtype=">i2"), "bool": np.array([True, False]), "view": np.ones(9)[::2],
    }  # fmt: skip
    with (tmp_path / "f.h5").open("w+b") as file:
        with hdf5.Writer(file) as writer:
            for name, array in arrays.items():
                writer.write(name, array)
        file.seek(0)
        with hdf5.Reader(file, "f", DEFAULT) as reader:
            reader.verify()
            for name, array in arrays.items():
                assert np.array_equal(reader.array(name), array)


def test_a_folder(tmp_path):
    lookup = keras.layers.StringLookup()
    lookup.adapt(np.array(["a", "b", "b"]))
    dense = keras.layers.Dense(2)
    words, numbers = keras.Input((1,), dtype="string"), keras.Input((3,))
    made = keras.Model([words, numbers], [lookup(words), dense(numbers)])
    files = ["config.json", "model.weights.h5", "assets"]
    for name in files:
        made.save(tmp_path / "m", zipped=False)
        keras.models.load_model(tmp_path / "m")
        path = tmp_path / "m" / name
        path = next(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else path
        wanted = {"config.json": b"float32", "model.weights.h5": dense.kernel.numpy().tobytes(),
                  "assets": b"b"}[name]  # fmt: skip
        flip(path, path.read_bytes().index(wanted))
        with pytest.raises(DamagedFileError, match="checksum"):
            keras.models.load_model(tmp_path / "m")


def test_a_folder_whose_metadata_are_damaged(tmp_path):
    model().save(tmp_path / "m", zipped=False)
    metadata = tmp_path / "m" / "metadata.json"
    for text in ("[", "[]", '{"crc32": 3}'):
        metadata.write_text(text)
        with pytest.raises(DamagedFileError, match="metadata"):
            keras.models.load_model(tmp_path / "m")
    metadata.unlink()  # Keras does not need it
    keras.models.load_model(tmp_path / "m")
