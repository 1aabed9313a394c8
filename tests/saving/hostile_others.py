"""Hostile files of other formats by name: a function that writes the file, and one that loads it.

Numbers of CVEs are those of Keras's flaws that the file would use.
"""

import base64
import io
import json
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np

import framework as tf
from framework import keras
from framework.core.downloads import get_file
from tests.saving.hostile import CANARY, good, model

CASES = {}  # name -> (function(folder) -> path, function(path))


def _case(name, load):
    def add(make):
        CASES[name] = make, load
        return make

    return add


def load_model(path):
    return keras.models.load_model(path, safe_mode=False)


# ---- archives of get_file ------------------------------------------------------------------------


def _get_file(path):
    """Extract an archive that is in the cache already, so that nothing is fetched."""
    return get_file("data.tar", "file:///nowhere/data.tar", extract=True, cache_dir=path.parents[1])


def _member(name, kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    info.size = 1 if kind == tarfile.REGTYPE else 0
    return info


def _tar(title, *members):
    def make(folder):
        path = Path(folder, "cache", "datasets", "data.tar")
        path.parent.mkdir(parents=True)
        with tarfile.open(path, "w") as archive:
            for info in members:
                archive.addfile(info, io.BytesIO(b"x") if info.size else None)
        return path

    CASES[title] = make, _get_file


_tar("CVE-2024-55459 tar member above", _member(f"../../{CANARY}"))
_tar("CVE-2024-55459 absolute tar member", _member(f"/tmp/{CANARY}"))
_tar("CVE-2025-12060 tar member through a link", _member("l", tarfile.SYMTYPE, "../.."),
     _member(f"l/{CANARY}"))  # fmt: skip
_tar("CVE-2025-12638 long tar link", _member("a" * 90 + "/" + "b" * 90, tarfile.SYMTYPE, "../" * 9),
     _member(f"{'a' * 90}/{'b' * 90}/{CANARY}"))  # fmt: skip
_tar("PR 22973 tar hard link", _member("h", tarfile.LNKTYPE, "../../../etc/passwd"))
_tar("tar device", _member("d", tarfile.CHRTYPE))


# ---- models of Keras 2 ---------------------------------------------------------------------------


def _legacy(folder, change):
    path = Path(folder, "bad.h5")
    model().save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def _with_layer(folder, record):
    def change(file):
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"][1] = record
        file.attrs["model_config"] = json.dumps(config)

    return _legacy(folder, change)


@_case("CVE-2025-9905 lambda in an .h5 file", load_model)
def _lambda(folder):
    code = base64.b64encode(b"\xe3" + b"\x00" * 40).decode()
    config = {"name": "l", "function": [code, None, None], "function_type": "lambda"}
    return _with_layer(folder, {"class_name": "Lambda", "config": config})


@_case("CVE-2025-9905 module in an .h5 file", load_model)
def _module(folder):
    return _with_layer(folder, {
        "module": "os", "class_name": "system", "config": {"command": f"touch {CANARY}"}
    })  # fmt: skip


@_case("PR 22900 link in an .h5 file", load_model)
def _link(folder):
    def change(file):
        del file["model_weights/d"]
        file["model_weights/d"] = h5py.ExternalLink("/etc/passwd", "/")

    return _legacy(folder, change)


# ---- SavedModels of TensorFlow -------------------------------------------------------------------


def _saved_model(folder):
    """A folder as TensorFlow writes it, whose graph would write a file."""
    path = Path(folder, "saved")
    (path / "variables").mkdir(parents=True)
    name = f"{folder}/{CANARY}".encode()
    node = b"WriteFile" + bytes([len(name)]) + name
    (path / "saved_model.pb").write_bytes(b"\x08\x01\x12" + bytes([len(node)]) + node)
    (path / "variables" / "variables.index").write_bytes(b"\0" * 64)
    return path


CASES["SavedModel by load_model"] = _saved_model, load_model
CASES["SavedModel by saved_model.load"] = _saved_model, tf.saved_model.load
CASES["file of a SavedModel by load_model"] = (
    lambda folder: _saved_model(folder) / "saved_model.pb", load_model
)  # fmt: skip


# ---- arrays --------------------------------------------------------------------------------------


def _load_weights(path):
    return model().load_weights(path)


@_case("PR 23016 npz bomb", _load_weights)
def _npz(folder):
    path, header = Path(folder, "bad.npz"), io.BytesIO()
    described = {"descr": "<f4", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(header, described)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("layers/dense/kernel.npy", header.getvalue())
    return path


@_case("npz of objects", _load_weights)
def _objects(folder):
    path = Path(folder, "bad.npz")
    np.savez(path, **{"layers/dense/kernel": np.array([{}], object)})
    return path


@_case("CVE-2026-0897 shape bomb in weights", _load_weights)
def _bomb(folder):
    path = Path(folder, "bad.weights.h5")
    path.write_bytes(good()[1])
    with h5py.File(path, "r+") as file:
        del file["layers/dense/vars/0"]
        file.create_dataset("layers/dense/vars/0", (10**6, 10**6), "f4", chunks=(1000, 1000))
    return path


@_case("CVE-2026-1669 external storage in weights", _load_weights)
def _external(folder):
    path = Path(folder, "bad.weights.h5")
    path.write_bytes(good()[1])
    with h5py.File(path, "r+") as file:
        del file["layers/dense/vars/0"]
        file.create_dataset("layers/dense/vars/0", (4, 3), "f4", external=[("/etc/passwd", 0, 48)])
    return path
