"""Arrays of files are read into the variables' memory, where nothing else refers to it."""

import zipfile
import zlib

import h5py
import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.errors import DamagedFileError
from framework.saving import hdf5, sections
from framework.saving.limits import DEFAULT

ENDINGS = ["weights.h5", "npz", "safetensors", "weights.json", "ckpt"]


def model(seed):
    keras.utils.set_random_seed(seed)
    return keras.Sequential([keras.Input((30,)), keras.layers.Dense(40), keras.layers.Dense(5)])


def save(made, folder, ending):
    if ending == "ckpt":
        tf.train.Checkpoint(model=made).write(folder / "m")
    else:
        size = {"max_shard_size": 6000 / 2**30} if ending == "weights.json" else {}
        made.save_weights(folder / f"m.{ending}", **size)


def load(made, folder, ending):
    if ending == "ckpt":
        tf.train.Checkpoint(model=made).read(folder / "m").assert_consumed()
    else:
        made.load_weights(folder / f"m.{ending}")


def places(made):
    return [variable.array.ctypes.data for variable in made.weights]


def same(first, second):
    return all(map(np.array_equal, first.get_weights(), second.get_weights()))


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_memory_of_variables_is_used_again(ending, tmp_path):
    saved, loaded = model(1), model(2)
    save(saved, tmp_path, ending)
    before = places(loaded)
    load(loaded, tmp_path, ending)
    assert same(saved, loaded)
    assert places(loaded) == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_other_holders_of_the_memory_keep_their_values(ending, tmp_path):
    saved, loaded = model(1), model(2)
    save(saved, tmp_path, ending)
    kernel = loaded.layers[0].kernel
    tensor, view = tf.convert_to_tensor(kernel), np.asarray(loaded.layers[1].kernel)
    before = [np.array(tensor), np.array(view)]
    load(loaded, tmp_path, ending)
    assert same(saved, loaded)
    assert np.array_equal(tensor, before[0])
    assert np.array_equal(view, before[1])


@pytest.mark.parametrize("ending", ["keras", *ENDINGS])
def test_nothing_is_assigned_from_a_damaged_file(ending, tmp_path):
    saved, loaded = model(1), model(2)
    if ending == "keras":
        saved.save(tmp_path / "m.keras")
    else:
        save(saved, tmp_path, ending)
    # The last shard, or the only file: damage in the last array's values.
    path = sorted(p for p in tmp_path.iterdir() if p.suffix != ".json")
    data = bytearray(path[-1].read_bytes())
    at = data.index(saved.weights[2].numpy().tobytes()[:64])
    data[at + 7] ^= 1
    path[-1].write_bytes(data)
    before = loaded.get_weights()
    with pytest.raises(DamagedFileError):
        load(loaded, tmp_path, ending)
    assert all(map(np.array_equal, before, loaded.get_weights()))


@pytest.mark.parametrize("ending", ["keras", *ENDINGS])
def test_checksums_are_joined_from_parts(ending, tmp_path, change):
    change(sections, _LEAST=1, _BESIDE=1000)
    saved, loaded = model(1), model(2)
    if ending == "keras":
        saved.save(tmp_path / "m.keras")
        loaded = keras.models.load_model(tmp_path / "m.keras")
    else:
        save(saved, tmp_path, ending)
        load(loaded, tmp_path, ending)
    assert same(saved, loaded)
    for path in tmp_path.iterdir():
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                assert archive.testzip() is None


def test_parts_that_are_written_again_or_cut_off(tmp_path, change):
    change(sections, _LEAST=4)
    rng = np.random.default_rng(0)
    for _ in range(50):
        with (tmp_path / "f").open("w+b") as file:
            file.write(b"before")
            section = sections.WrittenSection(file)
            for _ in range(rng.integers(1, 8)):
                section.seek(int(rng.integers(0, section.size + 1)))
                section.write(rng.bytes(rng.integers(0, 20)))
                if rng.random() < 0.2:
                    section.truncate(int(rng.integers(0, section.size + 1)))
            found = section.checksum()
        assert found == zlib.crc32((tmp_path / "f").read_bytes()[6:])


@pytest.mark.parametrize("offset", [0, 1, 4 * 7])
def test_a_member_is_checked_as_it_is_read(offset, tmp_path, change):
    change(sections, _LEAST=1)
    saved = model(1)
    saved.save(tmp_path / "m.keras")
    assert same(saved, keras.models.load_model(tmp_path / "m.keras"))
    data = bytearray((tmp_path / "m.keras").read_bytes())
    data[data.index(saved.weights[0].numpy().tobytes()[:64]) + offset] ^= 1
    (tmp_path / "m.keras").write_bytes(data)
    with pytest.raises(DamagedFileError, match="checksum"):
        keras.models.load_model(tmp_path / "m.keras")


def h5_types():
    """HDF5 types by name, and the values to store."""
    short = h5py.h5t.IEEE_F32LE.copy()  # a mantissa of 15 bits instead of 23
    short.set_fields(23, 15, 8, 0, 15)
    short.set_precision(24)
    shifted = h5py.h5t.STD_I32LE.copy()
    shifted.set_precision(20)
    shifted.set_offset(4)
    values = np.arange(-6, 6).reshape(3, 4)
    return {
        "float32": (h5py.h5t.IEEE_F32LE, values.astype("f4")),
        "big float32": (h5py.h5t.IEEE_F32BE, values.astype("f4")),
        "big int16": (h5py.h5t.STD_I16BE, values.astype("i2")),
        "float of 24 bits": (short, values.astype("f4")),
        "integer of 20 bits": (shifted, values.astype("i4")),
        "bool": (h5py.h5t.py_create(np.dtype(bool)), values > 0),
    }


@pytest.mark.parametrize("name", h5_types())
def test_elements_that_the_library_converts(name, tmp_path):
    kind, values = h5_types()[name]
    with h5py.File(tmp_path / "f.h5", "w") as file:
        space = h5py.h5s.create_simple(values.shape)
        dataset = h5py.h5d.create(file.id, b"x", kind, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))
    with (tmp_path / "f.h5").open("rb") as file, hdf5.Reader(file, "f", DEFAULT) as reader:
        found = reader.array("x")
        assert found.dtype.isnative
        assert np.array_equal(found, values)
        into = np.zeros(values.shape, found.dtype)
        assert np.array_equal(reader.array("x", into), values)
