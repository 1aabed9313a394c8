"""Hostile and broken files by name: each function writes one file into a folder and returns it.

Numbers of CVEs are those of Keras's flaws that the file would use.
"""

import base64
import io
import json
import struct
import zipfile
from pathlib import Path

import h5py
import numpy as np

from framework import keras

CANARY = "canary"
"""The name of a file that hostile code would create in the folder."""


def model():
    """The model whose file the cases change."""
    layers = [keras.Input((4,), name="x"), keras.layers.Dense(3, name="d")]
    made = keras.Sequential(layers, name="m")
    made.compile("sgd", "mse")
    return made


class _Good:
    """The parts of a good file, made once."""

    config = weights = metadata = None


def good():
    """Return config (a dict), weights and metadata (bytes) of a good file."""
    if _Good.config is None:
        buffer = io.BytesIO()
        model().save(buffer)
        with zipfile.ZipFile(buffer) as archive:
            _Good.config = archive.read("config.json")
            _Good.weights = archive.read("model.weights.h5")
            _Good.metadata = archive.read("metadata.json")
    return json.loads(_Good.config), _Good.weights, _Good.metadata


def write(folder, config=None, weights=None, extra=(), name="bad.keras", compression=0):
    """Write a file from a good file's parts and the given ones."""
    own_config, own_weights, metadata = good()
    config = own_config if config is None else config
    if not isinstance(config, (bytes, str)):
        config = json.dumps(config)
    path = Path(folder, name)
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("metadata.json", metadata)
        archive.writestr("config.json", config)
        archive.writestr("model.weights.h5", own_weights if weights is None else weights)
        for member, data in extra:
            archive.writestr(member, data)
    return path


CASES = {}  # name -> function(folder) -> path


def case(function):
    CASES[function.__name__.strip("_")] = function
    return function


# ---- configs that name code ----------------------------------------------------------------------


def _layer_config(change):
    """A good config whose Dense layer's record is changed."""
    config = good()[0]
    record = config["config"]["layers"][1]
    config["config"]["layers"][1] = change(record) or record
    return config


def _named(module, name, config=None, registered=None, kind="class"):
    record = {
        "module": module, "class_name": name, "config": config or {}, "registered_name": registered,
    }  # fmt: skip
    if kind == "function":
        record |= {"class_name": "function", "config": name, "registered_name": name}
    return record


def _gadget(title, module, name, config=None, kind="class"):
    """Cases that put a record instead of a layer, an activation, a loss and the model."""
    record = _named(module, name, config, name, kind)

    def as_layer(folder):
        return write(folder, _layer_config(lambda _: record))

    def as_activation(folder):
        def change(layer):
            layer["config"]["activation"] = record

        return write(folder, _layer_config(change))

    def as_loss(folder):
        config = good()[0]
        config["compile_config"]["loss"] = record
        return write(folder, config)

    def as_model(folder):
        return write(folder, record)

    for place in (as_layer, as_activation, as_loss, as_model):
        CASES[f"{title} {place.__name__}"] = place


def _touch(folder_name=CANARY):
    return f"open({folder_name!r}, 'w').close()"


_gadget("CVE-2025-1550 os.system", "os", "system", {"command": f"touch {CANARY}"})
_gadget("CVE-2025-1550 builtins.eval", "builtins", "eval", {"source": _touch()})
_gadget("CVE-2025-1550 subprocess", "subprocess", "Popen", {"args": ["touch", CANARY]})
_gadget("CVE-2025-8747 get_file", "keras.utils", "get_file", {"origin": "file:///etc/passwd"})
_gadget("CVE-2025-8747 get_file function", "keras.utils", "get_file", None, "function")
_gadget("CVE-2025-9906 unsafe switch", "keras.config", "enable_unsafe_deserialization")
_gadget("CVE-2025-9906 unsafe switch function", "keras.config", "enable_unsafe_deserialization",
        None, "function")  # fmt: skip
_gadget("CVE-2025-49655 torch", "keras.layers", "TorchModuleWrapper", {"module": "gASV"})
_gadget("CVE-2026-1462 saved model", "keras.layers", "TFSMLayer", {"filepath": "/etc"})
_gadget("load_model", "keras.models", "load_model", {"filepath": "/etc/passwd"})
_gadget("load_model function", "keras.models", "load_model", None, "function")
_gadget("numpy loader", "numpy", "load", {"file": "x.npy", "allow_pickle": True})
_gadget("private class", "keras.layers", "_Tokenizer")
_gadget("package module", "framework.saving.model_file", "load_model")


def _lambda_config(**function):
    code = base64.b64encode(b"\xe3" + b"\x00" * 40).decode()
    value = {
        "class_name": "__lambda__",
        "config": {"code": code, "defaults": None, "closure": None},
    }
    return _named("keras.layers", "Lambda", {"name": "l", "function": value, **function})


@case
def cve_2024_3660_lambda_bytecode(folder):
    return write(folder, _layer_config(lambda _: _lambda_config()))


@case
def cve_2024_3660_lambda_as_list(folder):
    return write(folder, _layer_config(lambda _: _lambda_config(function=["code", None, None])))


@case
def cve_2026_12481_lambda_from_config(folder):
    return write(folder, _layer_config(lambda _: _lambda_config(output_shape={
        "class_name": "__lambda__", "config": {"value": "4wAAAA=="}})))  # fmt: skip


@case
def cve_2024_3660_lambda_as_activation(folder):
    def change(layer):
        layer["config"]["activation"] = {"class_name": "__lambda__", "config": {"value": "4wAA"}}

    return write(folder, _layer_config(change))


@case
def lambda_of_a_plain_name(folder):
    return write(folder, _layer_config(lambda _: _lambda_config(function="os.system")))


@case
def lambda_in_the_compile_config(folder):
    config = good()[0]
    config["compile_config"]["loss"] = {"class_name": "__lambda__", "config": {"value": "4wAA"}}
    return write(folder, config)


@case
def typespec(folder):
    return write(folder, _layer_config(lambda _: {
        "class_name": "__typespec__", "spec_name": "x", "module": "os", "config": [],
        "registered_name": None}))  # fmt: skip


@case
def cve_2025_12058_vocabulary_file(folder):
    return write(folder, _layer_config(lambda _: _named(
        "keras.layers", "StringLookup", {"name": "s", "vocabulary": "/etc/passwd"})))  # fmt: skip


@case
def cve_2025_12058_vocabulary_of_text_vectorization(folder):
    return write(folder, _layer_config(lambda _: _named(
        "keras.layers", "TextVectorization", {"name": "s", "vocabulary": "/etc/passwd"}
    )))  # fmt: skip


@case
def operation_that_calls_functions(folder):
    config = _functional()
    config["config"]["layers"][1] |= {
        "module": "keras.src.ops.core", "class_name": "Map", "config": {"name": "d"}
    }  # fmt: skip
    return write(folder, config)


@case
def operation_of_another_module(folder):
    config = _functional()
    config["config"]["layers"][1] |= {
        "module": "keras.src.ops.numpy", "class_name": "Load", "config": {"name": "d"}
    }  # fmt: skip
    return write(folder, config)


# ---- configs that are broken or too large --------------------------------------------------------


def _functional():
    x = keras.Input((4,), name="x")
    made = keras.Model(x, keras.layers.Dense(3, name="d")(x), name="m")
    return json.loads(made.to_json())


def _broken(title, change, functional=False):
    def make(folder):
        config = _functional() if functional else good()[0]
        return write(folder, change(config) or config)

    CASES[title] = make


def _set(*path, value):
    def change(config):
        for key in path[:-1]:
            config = config[key]
        config[path[-1]] = value

    return change


_DENSE = "config", "layers", 1
_broken("config not JSON", lambda _: "{")
_broken("config empty", lambda _: b" ")
_broken("config a list", lambda _: [[1]])
_broken("config a number", lambda _: b"3")
_broken("config deep lists", lambda _: b"[" * 100_000)
_broken("config deep dicts", lambda _: b'{"a":' * 50_000 + b"1" + b"}" * 50_000)
_broken("config not text", lambda _: b"\xff\xfe\x00")
_broken("layers not a list", _set("config", "layers", value=3))
_broken("layers of numbers", _set("config", "layers", value=[1, 2]))
_broken("layers missing", lambda c: c["config"].pop("layers") and None)
_broken("class name a list", _set(*_DENSE, "class_name", value=["Dense"]))
_broken("class name missing", lambda c: c["config"]["layers"][1].pop("class_name") and None)
_broken("class of another sort", _set(*_DENSE, "class_name", value="MeanSquaredError"))
_broken("module a number", _set(*_DENSE, "module", value=3))
_broken("layer config a list", _set(*_DENSE, "config", value=[1]))
_broken("unknown argument", _set(*_DENSE, "config", "unites", value=3))
_broken("layer name with a path", _set(*_DENSE, "config", "name", value=f"../../{CANARY}"))
_broken("units a text", _set(*_DENSE, "config", "units", value="many"))
_broken("units negative", _set(*_DENSE, "config", "units", value=-3))
_broken("units huge", _set(*_DENSE, "config", "units", value=10**12))
_broken("units beyond the file", _set(*_DENSE, "config", "units", value=10**8))
_broken("input huge", _set("config", "layers", 0, "config", "batch_shape", value=[None, 10**12]))
_broken("build shape a text", _set(*_DENSE, "build_config", value={"input_shape": "x"}))
_broken("build shape huge", _set(*_DENSE, "build_config", value={"input_shape": [None, 10**13]}))
_broken("initializer of no class", _set(*_DENSE, "config", "kernel_initializer", value={
    "module": "os", "class_name": "system", "config": {}}))  # fmt: skip
_broken("dtype of no policy", _set(*_DENSE, "config", "dtype", value="float33"))
_broken("optimizer of no class", _set("compile_config", "optimizer", value={
    "module": "os", "class_name": "system", "config": {}}))  # fmt: skip
_broken("loss of no name", _set("compile_config", "loss", value="system"))
_broken("nodes a number", _set(*_DENSE, "inbound_nodes", value=7), functional=True)
_broken("nodes of nothing", _set(*_DENSE, "inbound_nodes", value=[{}]), functional=True)
_broken("no calls", _set(*_DENSE, "inbound_nodes", value=[]), functional=True)
_broken("same name twice", _set(*_DENSE, "name", value="x"), functional=True)
_broken("outputs of no layer", _set("config", "output_layers", value=["q", 0, 0]), functional=True)
_broken("outputs of no call", _set("config", "output_layers", value=["d", -9, 0]), functional=True)
_broken("outputs a text", _set("config", "output_layers", value="d"), functional=True)


@case
def a_loop_of_calls(folder):
    config = _functional()
    call = config["config"]["layers"][1]["inbound_nodes"][0]
    call["args"][0]["config"]["keras_history"] = ["d", 0, 0]
    return write(folder, config)


@case
def a_negative_history(folder):
    config = _functional()
    call = config["config"]["layers"][1]["inbound_nodes"][0]
    call["args"][0]["config"]["keras_history"] = ["x", -1, -1]
    return write(folder, config)


# ---- zip files -----------------------------------------------------------------------------------


def _member(title, name, data=b"x", mode=0o100644):
    def make(folder):
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        return write(folder, extra=[(info, data)])

    CASES[title] = make


_member("CVE-2025-12060 member above", f"../{CANARY}")
_member("CVE-2025-12060 member far above", f"assets/../../{CANARY}")
_member("GHSA-hqp4 absolute member", f"/tmp/{CANARY}")
_member("backslash member", f"assets\\..\\..\\{CANARY}")
_member("drive member", f"C:/{CANARY}")
_member("link member", "assets/link", b"/etc/passwd", 0o120777)
_member("device member", "assets/device", b"", 0o020666)


@case
def duplicate_members(folder):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return write(folder, extra=[("config.json", b"{}")])


@case
def zip_bomb_in_the_config(folder):
    return write(folder, b" " * 2**27, compression=zipfile.ZIP_DEFLATED)


@case
def zip_bomb_in_the_weights(folder):
    return write(folder, weights=b"\0" * 2**28, compression=zipfile.ZIP_DEFLATED)


@case
def many_members(folder):
    return write(folder, extra=[(f"assets/{i}", b"") for i in range(20_000)])


@case
def no_config(folder):
    path = Path(folder, "bad.keras")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.weights.h5", good()[1])
    return path


@case
def no_weights(folder):
    path = Path(folder, "bad.keras")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(good()[0]))
    return path


@case
def not_a_zip_file(folder):
    path = Path(folder, "bad.keras")
    path.write_bytes(b"hello")
    return path


@case
def empty_file(folder):
    path = Path(folder, "bad.keras")
    path.write_bytes(b"")
    return path


@case
def a_pickle(folder):
    path = Path(folder, "bad.keras")
    path.write_bytes(f"cos\nsystem\n(S'touch {CANARY}'\ntR.".encode())
    return path


def _changed(title, change):
    def make(folder):
        path = write(folder)
        path.write_bytes(change(path.read_bytes()))
        return path

    CASES[title] = make


_changed("cut at half", lambda data: data[: len(data) // 2])
_changed("cut at the end", lambda data: data[:-30])
_changed("changed byte in the weights", lambda data: _flip(data, data.index(b"\x89HDF") + 900))
_changed("changed byte in the config", lambda data: _flip(data, data.index(b"class_name")))
_changed("header of a member destroyed", lambda data: data.replace(b"PK\x03\x04", b"PKxx"))
_changed("size of a member changed", lambda data: data.replace(
    struct.pack("<I", len(good()[1])), struct.pack("<I", 2**31)))  # fmt: skip


def _flip(data, at):
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


# ---- HDF5 files ----------------------------------------------------------------------------------


def _weights(change):
    """The good weights after `change(h5py.File)`."""
    buffer = io.BytesIO(good()[1])
    with h5py.File(buffer, "r+") as file:
        change(file)
    return buffer.getvalue()


_KERNEL = "layers/dense/vars/0"


def _hdf5(function):
    def make(folder):
        return write(folder, weights=_weights(lambda file: function(file, Path(folder))))

    CASES[function.__name__.strip("_")] = make
    return function


@_hdf5
def cve_2026_0897_shape_bomb(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, shape=(10**6, 10**6), dtype="f4", chunks=(1000, 1000))


@_hdf5
def cve_2026_0897_compressed_bomb(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, data=np.zeros((4000, 10000), "f4"), compression=9)


@_hdf5
def shape_without_data(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, shape=(4, 3), dtype="f4")


@_hdf5
def extra_bomb(file, _):
    file.create_dataset("other/vars/0", shape=(10**9,), dtype="f8", chunks=(10**5,))


@_hdf5
def cve_2026_1669_external_storage(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, (4, 3), "f4", external=[("/etc/passwd", 0, 48)])


@_hdf5
def external_link(file, folder):
    del file[_KERNEL]
    file[_KERNEL] = h5py.ExternalLink("/etc/passwd", "/")


@_hdf5
def soft_link(file, _):
    del file[_KERNEL]
    file[_KERNEL] = h5py.SoftLink("/layers/dense/vars/1")


@_hdf5
def group_is_a_soft_link(file, _):
    file["layers/other"] = h5py.SoftLink("/layers")


@_hdf5
def virtual_dataset(file, folder):
    del file[_KERNEL]
    layout = h5py.VirtualLayout((4, 3), "f4")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (4, 3))
    file.create_virtual_dataset(_KERNEL, layout)


@_hdf5
def cycle(file, _):
    file["layers/dense/loop"] = file["layers"]


@_hdf5
def two_names(file, _):
    file["layers/dense/vars/9"] = file[_KERNEL]


@_hdf5
def object_references(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, (4, 3), h5py.ref_dtype)


@_hdf5
def texts_instead_of_numbers(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, data=np.array([[b"a"] * 3] * 4, "S4"))


@_hdf5
def compound_type(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, (4, 3), [("a", "f4"), ("b", "i4")])


@_hdf5
def opaque_type(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, (4, 3), "V16")


@_hdf5
def named_type(file, _):
    file["layers/type"] = np.dtype("f4")


@_hdf5
def another_shape(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, data=np.zeros((3, 4), "f4"))


@_hdf5
def an_array_too_many(file, _):
    file.create_dataset("layers/dense/vars/2", data=np.zeros(3, "f4"))


@_hdf5
def an_array_missing(file, _):
    del file[_KERNEL]


@_hdf5
def group_instead_of_an_array(file, _):
    del file[_KERNEL]
    file.create_group(_KERNEL)


@_hdf5
def no_shape(file, _):
    del file[_KERNEL]
    file.create_dataset(_KERNEL, data=h5py.Empty("f4"))


@_hdf5
def deep_groups(file, _):
    file.create_group("/".join("a" * 200))


@case
def weights_not_hdf5(folder):
    return write(folder, weights=b"\x00" * 500)


@case
def weights_cut(folder):
    return write(folder, weights=good()[1][:700])


@case
def weights_empty(folder):
    return write(folder, weights=b"")


@case
def weights_without_superblock(folder):
    return write(folder, weights=good()[1][:8] + b"\xff" * (len(good()[1]) - 8))
