import io
import zipfile

import numpy as np
import pytest

from framework import keras
from framework.core.errors import DamagedFileError, LoadError, UnsafeFileError
from tests.saving import torch_files


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.pt"
    file.write_bytes(torch_files.content())
    return file


def model():
    layers = keras.layers
    return keras.Sequential([
        keras.Input((3,), dtype="int32"), layers.Embedding(5, 2),
        layers.LSTM(2, return_sequences=True), layers.GRU(2, return_sequences=True),
        layers.Conv1D(3, 2), layers.BatchNormalization(epsilon=1e-5),
        layers.GlobalAveragePooling1D(), layers.Dense(2),
    ])  # fmt: skip


def test_the_outputs_are_those_of_pytorch(path):
    made = model()
    names = keras.saving.load_torch_weights(made, path, key="model")
    assert names == keras.saving.propose_torch_names(made, path, key="model")
    assert names["layers/dense/kernel"] == ("head.weight",)
    assert names["layers/lstm/cell/bias"] == ("lstm.bias_ih_l0", "lstm.bias_hh_l0")
    np.testing.assert_allclose(made(np.array(torch_files.IDS)), torch_files.OUTPUTS, atol=1e-6)
    made.fit(np.array(torch_files.IDS), np.zeros((2, 2)), verbose=0) if made.compiled else None


def test_what_a_file_holds(path):
    found = keras.saving.read_torch(path)
    assert found["epoch"] == 3
    assert found["rates"] == (0.5, None)
    tensors = found["model"]
    assert tensors["half"].astype("float32").tolist() == [1.5, 2.5]
    assert np.array_equal(tensors["turned"], tensors["head.weight"].T)
    assert np.shares_memory(tensors["turned"], tensors["head.weight"])
    assert tensors["bn.num_batches_tracked"] == 1
    with pytest.raises(ValueError, match="read-only"):
        tensors["turned"][0, 0] = 1


def test_names_that_are_given(path):
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="d")])
    names = {"layers/dense/kernel": "head.weight", "layers/dense/bias": "head.bias"}
    keras.saving.load_torch_weights(made, path, names, key="model")
    weight = keras.saving.read_torch(path)["model"]["head.weight"]
    assert np.array_equal(made.layers[0].kernel, weight.T)


def test_what_does_not_fit(path):
    made = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4)])
    before = made.get_weights()
    with pytest.raises(LoadError, match="2 variables have no tensor that fits"):
        keras.saving.load_torch_weights(made, path, key="model")
    names = {"layers/dense/kernel": "head.weight", "layers/dense/bias": "none"}
    with pytest.raises(LoadError, match=r"its tensor \(3, 2\); .* has no tensor 'none'"):
        keras.saving.load_torch_weights(made, path, names, key="model")
    with pytest.warns(UserWarning, match="no tensor fits"):
        keras.saving.load_torch_weights(made, path, key="model", skip_mismatch=True)
    assert all(map(np.array_equal, before, made.get_weights()))
    with pytest.raises(LoadError, match="Pass key="):
        keras.saving.load_torch_weights(made, path)
    with pytest.raises(LoadError, match="key='net' is not in the file"):
        keras.saving.load_torch_weights(made, path, key="net")


# ---- hostile files -------------------------------------------------------------------------------

_REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"


def changed(path, change=None, member=None, data=None, drop=None):
    """Write the file with a changed pickle, another member, or without one."""
    with zipfile.ZipFile(io.BytesIO(torch_files.content())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    folder = next(iter(members)).partition("/")[0]
    if change is not None:
        members[f"{folder}/data.pkl"] = change(members[f"{folder}/data.pkl"])
    if member is not None:
        members[f"{folder}/{member}"] = data
    members.pop(f"{folder}/{drop}", None)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def replaced(old, new):
    def change(data):
        assert old in data
        return data.replace(old, new, 1)

    return change


_CASES = {
    "a call of os.system": ({"change": replaced(_REBUILD, b"cos\nsystem\n")}, UnsafeFileError),
    "a call of eval": ({"change": replaced(_REBUILD, b"cbuiltins\neval\n")}, UnsafeFileError),
    "a class of PyTorch": (
        {"change": replaced(b"ccollections\nOrderedDict\n", b"ctorch.nn.modules.linear\nLinear\n")},
        UnsafeFileError,
    ),
    "torch.load": ({"change": replaced(_REBUILD, b"ctorch\nload\n")}, UnsafeFileError),
    "a program": ({"member": "constants.pkl", "data": b"."}, UnsafeFileError),
    "a short storage": ({"member": "data/0", "data": b"123"}, UnsafeFileError),
    "no byte order": ({"member": "byteorder", "data": b"\xff"}, DamagedFileError),
    "no storage": ({"drop": "data/0"}, DamagedFileError),
    "no pickle": ({"drop": "data.pkl"}, LoadError),
    "a cut pickle": ({"change": lambda data: data[: len(data) // 2]}, DamagedFileError),
    "a size beyond the storage": (
        {"change": replaced(b"K\x05K\x02\x86", b"K\x06K\x02\x86")}, DamagedFileError
    ),
    "a stride beyond the storage": (
        {"change": replaced(b"K\x02K\x01\x86", b"K\x09K\x01\x86")}, DamagedFileError
    ),
    "a large size": (
        {"change": replaced(b"K\x05K\x02\x86", b"J\xff\xff\xff\x7fK\x02\x86")}, DamagedFileError
    ),
    "a negative offset": (
        {"change": replaced(b"QK\x00K\x05", b"QJ\xff\xff\xff\xffK\x05")}, DamagedFileError
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
def test_a_hostile_file_is_one_error(name, tmp_path):
    options, kind = _CASES[name]
    path = changed(tmp_path / "bad.pt", **options)
    with pytest.raises(kind):
        keras.saving.read_torch(path)


def test_other_formats(tmp_path):
    path = tmp_path / "old.pt"
    path.write_bytes(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")
    with pytest.raises(LoadError, match=r"since PyTorch 1\.6"):
        keras.saving.read_torch(path)
    with pytest.raises(LoadError, match="not found"):
        keras.saving.read_torch(tmp_path / "none.pt")
