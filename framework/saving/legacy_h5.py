"""Whole models in the ".h5" files of Keras 2, which Keras 3 writes too; they are only read here.

Config and names are attributes of groups. Each layer has a group of its name, with its trainable
weights first.
"""

import warnings

from framework.core.errors import DamagedFileError, LoadError
from framework.core.stored import load_variables
from framework.saving import texts

# Arguments of Keras 2's optimizers that Keras 3 does not have.
_FORMER_OPTIONS = ("decay", "is_legacy_optimizer", "jit_compile")


def config_of(reader, limits):
    """Return the config of the model in a file."""
    config = _json(reader, "model_config", limits)
    if not isinstance(config, dict) or "class_name" not in config:
        raise DamagedFileError(f"{reader.name}: there is no model_config in this file.")
    return config


def read_model(model, reader, compiles, limits):
    """Set the weights of a model, compile it as the file says, and set the optimizer's state."""
    read_weights(model, reader)
    training = _json(reader, "training_config", limits) if compiles else None
    if not isinstance(training, dict):
        return
    names = ("loss", "metrics", "weighted_metrics", "loss_weights")
    options = {name: training.get(name) for name in names}
    model.compile_from_config({**options, "optimizer": _optimizer(training)})
    _read_optimizer(model.optimizer, reader)


def _optimizer(training):
    record = training.get("optimizer_config")
    if not isinstance(record, dict) or not isinstance(record.get("config"), dict):
        raise DamagedFileError("The training_config has no optimizer_config.")
    config = {k: v for k, v in record["config"].items() if k not in _FORMER_OPTIONS}
    return {**record, "config": config}


def _json(reader, name, limits):
    text = reader.attribute("", name)
    if text is None:
        return None
    data = text.encode("utf-8", "surrogateescape")  # h5py's form of bytes that are not UTF-8
    return texts.parse(data, f"{reader.name}: {name}", limits)


# ---- weights -------------------------------------------------------------------------------------


def read_weights(model, reader):
    """Set the weights of a model's layers, which are matched in order.

    Raises:
        LoadError: the numbers of layers or weights differ, or a shape does.
    """
    root = "model_weights" if reader.has_group("model_weights") else ""
    groups = []
    for name in _names(reader, root, "layer_names"):
        group = f"{root}/{name}" if root else name
        paths = [f"{group}/{weight}" for weight in _names(reader, group, "weight_names")]
        if paths:
            groups.append((name, paths))
    layers = [layer for layer in model.layers if layer.weights]
    if len(layers) != len(groups):
        raise LoadError(
            f"{reader.name}: the file has weights of {len(groups)} layers, the model has "
            f"{len(layers)} layers with weights."
        )
    for layer, (_, paths) in zip(layers, groups):
        variables = [*layer.trainable_weights, *layer.non_trainable_weights]
        load_variables(variables, _Listed(reader, paths), f"Layer {layer.name!r}")


def _read_optimizer(optimizer, reader):
    paths = [f"optimizer_weights/{n}" for n in _names(reader, "optimizer_weights", "weight_names")]
    if not paths:
        return
    try:
        load_variables(optimizer.variables, _Listed(reader, paths), "Optimizer")
    except LoadError as error:
        warnings.warn(f"{reader.name}: the optimizer starts anew: {error}", stacklevel=4)


def _names(reader, group, attribute):
    """Return a list of names; Keras splits long lists into several attributes."""
    if group and not reader.has_group(group):
        return []
    whole = reader.attribute(group, attribute)
    if whole is not None:
        return whole
    names, number = [], 0
    while (part := reader.attribute(group, f"{attribute}{number}")) is not None:
        names += part
        number += 1
    return names


class _Listed:
    """A store of the arrays at the given paths, numbered in their order."""

    def __init__(self, reader, paths):
        self._reader, self._paths = reader, paths

    def keys(self):
        return [str(number) for number in range(len(self._paths))]

    def shape(self, key):
        return self._reader.shape(self._paths[int(key)])

    def __getitem__(self, key):
        return self._reader.array(self._paths[int(key)])
