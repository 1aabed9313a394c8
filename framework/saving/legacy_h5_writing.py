"""Write whole models to ".h5" files in the layout of Keras 2, which `legacy_h5.py` reads."""

import json

import numpy as np

from framework.core.errors import SaveError
from framework.saving.hdf5 import h5py, write_dataset

_MOST = 64_000  # the largest size in bytes of one attribute; HDF5 allows 64 KB


def write_model(model, config, version, file):
    """Write a model with its weights, compile arguments and optimizer state.

    Args:
        model: a Sequential or functional model, whose config lists its layers.
        config: the JSON text of the config, as in a ".keras" file.
        version: Keras's version.
        file: a binary file.

    Raises:
        SaveError: the model is subclassed.
    """
    record = json.loads(config)
    if "layers" not in (record.get("config") or {}):
        raise SaveError(
            f"{model.name!r}: HDF5 files can store Sequential and functional models only, because "
            f"they cannot store the code of a subclassed model. Save it as NAME.keras, or save its "
            f"weights."
        )
    with h5py().File(file, "w") as opened:
        opened.attrs["keras_version"], opened.attrs["backend"] = version, "tensorflow"
        whole = {"class_name": record["class_name"], "config": record["config"]}
        opened.attrs["model_config"] = json.dumps(whole)
        _write_weights(model, opened.create_group("model_weights"), version)
        if record.get("compile_config"):
            opened.attrs["training_config"] = json.dumps(_training(record["compile_config"]))
            _write_optimizer(model.optimizer, opened.create_group("optimizer_weights"))


def _training(config):
    """Return the arguments of `compile`, with the optimizer under Keras 2's name."""
    names = ("loss", "loss_weights", "metrics", "weighted_metrics")
    found = {name: config.get(name) for name in names}
    optimizer = config["optimizer"]
    if isinstance(optimizer, str):
        optimizer = {"class_name": optimizer, "config": {}}
    return {**found, "optimizer_config": {n: optimizer[n] for n in ("class_name", "config")}}


def _write_weights(model, group, version):
    group.attrs["keras_version"], group.attrs["backend"] = version, "tensorflow"
    _write_names(group, "layer_names", [layer.name for layer in model.layers])
    for layer in model.layers:
        variables = [*layer.trainable_weights, *layer.non_trainable_weights]
        _write_arrays(group.create_group(layer.name), [(v.path, v.array) for v in variables])
    _write_arrays(group.create_group("top_level_model_weights"), [])


def _write_optimizer(optimizer, group):
    store = {}
    optimizer.save_own_variables(store)
    variables = [v.path for v in optimizer.variables]
    names = variables if len(variables) == len(store) else [f"{optimizer.name}/{k}" for k in store]
    _write_arrays(group, list(zip(names, store.values(), strict=True)))


def _write_arrays(group, named):
    """Write arrays below a group, with their names in order as an attribute."""
    names = []
    for path, array in named:
        name, number = path, 0
        while name in names:
            number += 1
            name = f"{path}_{number}"
        names.append(name)
        values = np.asarray(array)
        # HDF5 has no dtype bfloat16
        stored = values.astype(np.float32) if values.dtype.kind == "V" else values
        write_dataset(group, name, stored)
    _write_names(group, "weight_names", names)


def _write_names(group, attribute, names):
    """Write a list of names; a long one is split into several attributes, as in Keras."""
    array = np.array([name.encode() for name in names]) if names else np.array([], "S1")
    parts = -(-array.nbytes // _MOST) or 1
    if parts == 1:
        group.attrs[attribute] = array
        return
    for number, part in enumerate(np.array_split(array, parts)):
        group.attrs[f"{attribute}{number}"] = part
