import json
import struct
import warnings
import zipfile

import h5py
import numpy as np
import pytest

from framework import keras
from framework.core.errors import DamagedFileError, LoadError, MissingModelError, SaveError
from parity.scenarios.file_models import inputs, table

MODELS = table()


def dense(units=3, seed=0):
    keras.utils.set_random_seed(seed)
    return keras.Sequential([
        keras.Input((4,)), keras.layers.Dense(units, name="a"), keras.layers.Dense(2, name="b")
    ])  # fmt: skip


def same(first, second):
    return all(map(np.array_equal, first.get_weights(), second.get_weights()))


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
@pytest.mark.parametrize("name", MODELS)
def test_weights_by_name(name, ending, tmp_path):
    make = MODELS[name][0]
    model, again = make(keras), make(keras)
    model.save_weights(tmp_path / f"m.{ending}")
    again.load_weights(tmp_path / f"m.{ending}")
    assert same(model, again)


def test_names_of_arrays(tmp_path):
    dense().save_weights(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as file:
        assert sorted(file) == ["layers/dense/bias", "layers/dense/kernel",
                                "layers/dense_1/bias", "layers/dense_1/kernel"]  # fmt: skip
        np.testing.assert_array_equal(file["layers/dense/kernel"], dense().layers[0].kernel)


def test_the_format_of_safetensors(tmp_path):
    model = dense()
    model.save_weights(tmp_path / "m.safetensors")
    data = (tmp_path / "m.safetensors").read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    entry = header["layers/dense/kernel"]
    assert (length % 8, entry["dtype"], entry["shape"]) == (0, "F32", [4, 3])
    start, stop = entry["data_offsets"]
    values = np.frombuffer(data[8 + length :][start:stop], "<f4").reshape(4, 3)
    np.testing.assert_array_equal(values, model.layers[0].kernel)


def test_bfloat16(tmp_path):
    pytest.importorskip("ml_dtypes")

    def make():
        return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, dtype="bfloat16")])

    model = make()
    for name in ("m.npz", "m.safetensors", "m.weights.h5"):
        again = make()
        model.save_weights(tmp_path / name)
        again.load_weights(tmp_path / name)
        assert same(model, again)
    with h5py.File(tmp_path / "m.weights.h5") as file:
        assert file["layers/dense/vars/0"].attrs["dtype"] == "bfloat16"


@pytest.mark.parametrize("ending", ["npz", "safetensors", "weights.h5"])
def test_weights_that_do_not_fit(ending, tmp_path):
    path = tmp_path / f"m.{ending}"
    dense(3).save_weights(path)
    model = dense(5, seed=1)
    before = model.get_weights()
    with pytest.raises(LoadError, match=r"shape \(4, 5\), but the file has \(4, 3\)"):
        model.load_weights(path)
    assert all(map(np.array_equal, before, model.get_weights()))
    with pytest.warns(UserWarning, match=r"but the file has \(4, 3\)"):
        model.load_weights(path, skip_mismatch=True)
    np.testing.assert_array_equal(model.layers[1].bias, dense(3).layers[1].bias)


def test_optimizer_state_in_files_of_weights(tmp_path):
    model, again = dense(), dense(seed=1)
    for made in (model, again):
        made.compile("adam", "mse")
    model.train_on_batch(inputs(8, 4), inputs(8, 2))
    model.save_weights(tmp_path / "m.weights.h5")
    with pytest.warns(UserWarning, match="Skipping variable loading for optimizer 'adam'"):
        again.load_weights(tmp_path / "m.weights.h5")
    again.optimizer.build(again.trainable_variables)
    again.load_weights(tmp_path / "m.weights.h5")
    for a, b in zip(model.optimizer.variables, again.optimizer.variables, strict=True):
        np.testing.assert_array_equal(a, b)


def test_weights_out_of_a_model_file(tmp_path):
    model, again = dense(), dense(seed=1)
    model.save(tmp_path / "m.keras")
    again.load_weights(tmp_path / "m.keras")
    assert same(model, again)


def test_vocabularies_are_assets(tmp_path):
    words = keras.layers.StringLookup()
    words.adapt([["b", "a", "b"]])
    model = keras.Sequential([keras.Input((2,), dtype="string"), words])
    model.save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as file:
        assert "assets/layers/string_lookup/vocabulary.txt" in file.namelist()
    again = keras.models.load_model(tmp_path / "m.keras")
    assert again.layers[0].get_vocabulary() == words.get_vocabulary() == ["[UNK]", "b", "a"]


def test_what_cannot_be_saved_or_loaded(tmp_path):
    model = dense()
    with pytest.raises(SaveError, match="must end in"):
        model.save_weights(tmp_path / "m.txt")
    with pytest.raises(SaveError, match="must end in"):
        model.save(tmp_path / "m.txt")
    with pytest.raises(LoadError, match="must end in"):
        keras.models.load_model(tmp_path / "m.txt")
    with pytest.raises(LoadError, match="not yet been built"):
        keras.Sequential([keras.layers.Dense(2)]).save_weights(tmp_path / "m.weights.h5")
    for load in (keras.models.load_model, model.load_weights):
        with pytest.raises(MissingModelError, match="File not found"):
            load(tmp_path / "none.keras")
    with pytest.raises(ValueError):  # noqa: PT011 (as Keras raises it)
        keras.models.load_model(tmp_path / "none.keras")
    model.save(tmp_path / "m.keras")
    with pytest.raises(SaveError, match="exists already"):
        model.save(tmp_path / "m.keras", overwrite=False)
    assert [p.name for p in tmp_path.iterdir()] == ["m.keras"]


def test_an_unbuilt_model_is_saved_with_a_warning(tmp_path):
    model = keras.Sequential([keras.layers.Dense(2)])
    with pytest.warns(UserWarning, match="not yet been built"):
        model.save(tmp_path / "m.keras")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = keras.models.load_model(tmp_path / "m.keras")
    assert again(np.ones((1, 3))).shape == (1, 2)


# ---- hostile and broken files of named arrays ----------------------------------------------------


def _npz(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)


def _header(text):
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize("data", [
    b"", b"\x93NUMPY", _header("{'descr': '<f4', 'fortran_order': False, 'shape': (10**9,)}"),
    _header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,)}"),
    _header("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}") + b"x" * 16,
    _header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
    _header("__import__('os').system('touch canary')"),
])  # fmt: skip
def test_broken_npz(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _npz("m.npz", x=data)
    with pytest.raises(LoadError):
        dense().load_weights("m.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["m.npz"]


def _safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def _entry(shape, start, stop, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


@pytest.mark.parametrize("data", [
    b"", b"abc", _safetensors(b"{}", length=2**60), _safetensors(b"{}", length=100),
    _safetensors(b"[]"), _safetensors(b"{"), _safetensors({"a": 3}), _safetensors({"a": {}}),
    _safetensors({"a": _entry([2], 0, 8, "X9")}, b"x" * 8),
    _safetensors({"a": _entry([10**12], 0, 4 * 10**12)}),
    _safetensors({"a": _entry([2], 0, 8), "b": _entry([2], 4, 12)}, b"x" * 12),
    _safetensors({"a": _entry([2], 4, 12)}, b"x" * 12),
    _safetensors({"a": _entry([2], 0, 8)}, b"x" * 20),
    _safetensors({"a": _entry([-2], 0, -8)}), _safetensors({"a": _entry(["2"], 0, 8)}, b"x" * 8),
    _safetensors({"a": _entry([2.0], 0, 8)}, b"x" * 8), _safetensors(b"[" * 10_000),
])  # fmt: skip
def test_broken_safetensors(data, tmp_path):
    (tmp_path / "m.safetensors").write_bytes(data)
    with pytest.raises(LoadError):
        dense().load_weights(tmp_path / "m.safetensors")


def test_a_damaged_file_is_called_so(tmp_path):
    dense().save_weights(tmp_path / "m.safetensors")
    data = (tmp_path / "m.safetensors").read_bytes()
    (tmp_path / "m.safetensors").write_bytes(data[:-5])
    with pytest.raises(DamagedFileError, match="the file has"):
        dense().load_weights(tmp_path / "m.safetensors")
