"""Commands for model files and weight files: summary, predict, convert."""

import csv
import sys
from pathlib import Path

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError, LoadError, SaveError
from framework.saving import named_arrays
from framework.saving.limits import DEFAULT
from framework.saving.model_file import load_model
from framework.saving.weights import opened
from framework.saving.writing import replacing

_MODELS = (".keras", ".h5")
_ARRAYS = (".npz", ".safetensors")
_WEIGHTS = (".weights.h5", *_ARRAYS)


def summary(file):
    """Print the layers of a model, or the names, shapes and dtypes of weights."""
    if _is_model(file):
        load_model(file, compile=False).summary()
        return
    if file.endswith(_ARRAYS):
        arrays = _arrays(file)
    elif file.endswith(".weights.h5"):
        arrays = _hdf5_arrays(file)
    else:
        raise _wrong(file, (*_MODELS, *_WEIGHTS), "a file of a model or of weights")
    width = max(map(len, arrays), default=0)
    for name, array in arrays.items():
        print(f"{name:{width}}  {array.shape!s:18} {array.dtype}")
    numbers, size = (sum(getattr(a, n) for a in arrays.values()) for n in ("size", "nbytes"))
    print(f"{len(arrays)} arrays, {numbers:,} numbers, {size / 2**20:.2f} MiB")


def predict(file, data, output=None):
    """Print or write the outputs of a model for the inputs in a file."""
    model = load_model(file, compile=False)
    outputs = model.predict(_inputs(model, data), verbose=0)
    named = _named(model, outputs)
    if output is None:
        _write_csv(sys.stdout, named)
    elif output.endswith(".csv"):
        with Path(output).open("w", newline="", encoding="utf-8") as target:
            _write_csv(target, named)
    elif output.endswith(".npz"):
        np.savez(output, **named)
    elif output.endswith(".npy") and len(named) == 1:
        np.save(output, next(iter(named.values())))
    else:
        raise _wrong(
            output,
            (".csv", ".npz", ".npy"),
            "one output in a .npy file, or any outputs in a file",
            SaveError,
        )


def convert(source, target, model=None, force=False):
    """Convert a file of a model or weights to the format that the target's extension names."""
    if not force and Path(target).exists():
        raise SaveError(f"{target} exists. Choose another name, or pass --force to replace it.")
    if _is_model(source):
        _write_model(load_model(source), target)
    elif source.endswith(_ARRAYS) and target.endswith(_ARRAYS):
        arrays = _arrays(source)
        with replacing(target) as file:
            named_arrays.write_arrays(target, file, arrays)
    elif not source.endswith(_WEIGHTS):
        raise _wrong(source, (*_MODELS, *_WEIGHTS), "a file of a model or of weights")
    elif model is None:
        raise InvalidArgumentError(
            f"{source} contains only weights. Pass their model with --model MODEL.keras."
        )
    else:
        loaded = load_model(model)
        loaded.load_weights(source)
        _write_model(loaded, target)
    print(f"{target}: {Path(target).stat().st_size / 2**20:.2f} MiB")


# ---- files ---------------------------------------------------------------------------------------


def _is_model(name):
    return name.endswith(_MODELS) and not name.endswith(".weights.h5")


def _wrong(name, endings, what, error=LoadError):
    return error(f"expected {what} in {', '.join(endings)}, got {name!r}.")


def _arrays(name):
    with opened(name) as file:
        return named_arrays.arrays_in(name, file, DEFAULT)


def _hdf5_arrays(name):
    from framework.saving.hdf5 import h5py

    arrays = {}

    def add(path, item):
        if hasattr(item, "shape"):
            arrays[path] = item[()]

    with opened(name) as file, h5py().File(file, "r") as content:
        content.visititems(add)
    return arrays


def _write_model(model, target):
    if target.endswith(".keras"):
        model.save(target)
    elif target.endswith(_WEIGHTS):
        model.save_weights(target)
    elif target.endswith(".onnx"):
        try:
            model.export(target, format="onnx", verbose=False)
        except NotImplementedError as error:
            raise SaveError(str(error)) from None
    else:
        raise _wrong(target, (".keras", *_WEIGHTS, ".onnx"), "a target", SaveError)


# ---- data ----------------------------------------------------------------------------------------


def _inputs(model, name):
    """Return the inputs of a model from a file: one array, or a dict of them by name."""
    names = [tensor.name for tensor in nest.flatten(getattr(model, "inputs", None) or [])]
    if name.endswith(".npz"):
        arrays = _arrays(name)
        if len(arrays) == 1 and len(names) <= 1:
            return next(iter(arrays.values()))
    elif name.endswith(".csv"):
        columns = _columns(name)
        if len(names) <= 1:
            return np.stack([_numbers(k, v) for k, v in columns.items()], 1)
        arrays = {
            key: np.array(columns[key])[:, None] if _is_text(model, key)
            else _numbers(key, columns[key])[:, None]
            for key in names if key in columns
        }  # fmt: skip
    else:
        raise _wrong(name, (".npz", ".csv"), "data")
    missing = [key for key in names if key not in arrays]
    if missing:
        raise InvalidArgumentError(
            f"{name} has no data for the input {missing[0]!r}. It has {', '.join(arrays)}; the "
            f"inputs of the model are {', '.join(names)}."
        )
    return {key: arrays[key] for key in names}


def _is_text(model, name):
    return any(t.name == name and t.dtype == "string" for t in nest.flatten(model.inputs))


def _columns(name):
    """Return {column: list of texts} of a CSV file with a header."""
    with Path(name).open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if len(rows) < 2:
        raise LoadError(f"{name}: expected a line of column names and at least one row of values.")
    header, *rows = rows
    for i, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise LoadError(f"{name}, row {i}: expected {len(header)} fields, got {len(row)}.")
    return {key: [row[i] for row in rows] for i, key in enumerate(header)}


def _numbers(column, texts):
    numbers = []
    try:
        numbers += map(float, texts)
    except ValueError:
        row = len(numbers) + 1
        raise LoadError(
            f"column {column!r}, row {row}: expected a number, got {texts[row - 1]!r}."
        ) from None
    return np.array(numbers, np.float32)


def _named(model, outputs):
    """Return {name: array} of a model's outputs."""
    if isinstance(outputs, dict):
        return outputs
    flat = nest.flatten(outputs)
    if len(flat) == 1:
        return {"output": flat[0]}
    names = getattr(model, "output_names", None) or [f"output_{i}" for i in range(len(flat))]
    return dict(zip(names, flat, strict=True))


def _write_csv(file, named):
    """Write one line per row, with one column per element of each output."""
    columns = {}
    for name, array in named.items():
        flat = array.reshape(len(array), -1)
        single = flat.shape[1] == 1
        columns.update({name if single else f"{name}_{i}": c for i, c in enumerate(flat.T)})
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(c.tolist() for c in columns.values()), strict=True))
