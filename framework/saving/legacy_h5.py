"""Read whole models from ".h5" files of Keras 2; `legacy_h5_writing.py` writes them.

Configs and names are attributes of groups. Each layer has a group with the layer's name, which
lists the trainable weights before the others.
"""

import warnings

from framework.core.errors import DamagedFileError, LoadError
from framework.core.stored import load_variables
from framework.optimizers.hooks import in_order_of
from framework.saving import texts

# Keras 2's optimizers have these options, which Keras 3 does not have.
_FORMER_OPTIONS = ("decay", "is_legacy_optimizer", "jit_compile")

# Arguments of Keras 2 to drop, because Keras 3 lacks them: {prefix of class names: {argument:
# value}}. With the prefix "" (all classes), an argument is dropped only if it has this value, which
# has no effect. With other prefixes, it is dropped whatever its value is.
_FORMER_ARGUMENTS = {
    "": {"time_major": False, "softmax_robust_masking": False, "input_axes": None,
         "output_axes": None},
    "MultiHeadAttention": dict.fromkeys(("query_shape", "key_shape", "value_shape")),
    "Separable": dict.fromkeys(
        ("kernel_initializer", "kernel_regularizer", "kernel_constraint")
    ),
    "Depthwise": dict.fromkeys(("kernel_initializer", "kernel_regularizer", "kernel_constraint")),
}  # fmt: skip


def config_of(reader, limits):
    """Return the config of the model in a file."""
    config = _json(reader, "model_config", limits)
    if not isinstance(config, dict) or "class_name" not in config:
        raise DamagedFileError(
            f"{reader.name}: expected a file of a whole model, with a model_config."
        )
    return _current(config)


def _current(value):
    """Convert a config of Keras 2, and the configs in it, to the arguments of Keras 3."""
    if isinstance(value, list):
        return [_current(item) for item in value]
    if not isinstance(value, dict):
        return value
    name, config = value.get("class_name"), value.get("config")
    if isinstance(name, str) and isinstance(config, dict):
        if name == "MeanMetricWrapper" and isinstance(config.get("fn"), str):
            return config["fn"]
        value = {**value, "config": _of_class(name, config)}
    return {key: _current(item) for key, item in value.items()}


def _of_class(name, config):
    """Return the config of a class without the arguments that Keras 3 lacks."""
    config = dict(config)
    for start, arguments in _FORMER_ARGUMENTS.items():
        for argument, usual in arguments.items() if name.startswith(start) else ():
            if argument in config and (start or config[argument] is usual):
                del config[argument]
    if config.get("groups") == 1 and ("Transpose" in name or name.startswith(("Sep", "Depth"))):
        del config["groups"]
    if "name" in config and config["name"] is None:
        del config["name"]
    axis = config.get("axis")
    if name == "BatchNormalization" and isinstance(axis, list) and len(axis) == 1:
        config["axis"] = axis[0]
    return config


def read_model(model, reader, compiles, limits):
    """Set a model's weights, compile it as the file says, and restore the optimizer's state."""
    read_weights(model, reader)
    training = _json(reader, "training_config", limits) if compiles else None
    if not isinstance(training, dict):
        return
    names = ("loss", "metrics", "weighted_metrics", "loss_weights")
    options = {name: _current(training.get(name)) for name in names}
    model.compile_from_config({**options, "optimizer": _optimizer(training)})
    _read_optimizer(model.optimizer, reader)


def _optimizer(training):
    record = training.get("optimizer_config")
    if not isinstance(record, dict) or not isinstance(record.get("config"), dict):
        raise DamagedFileError(
            "The training_config has no optimizer_config: expected the dict that Keras 2 writes."
        )
    config = {k: _current(v) for k, v in record["config"].items() if k not in _FORMER_OPTIONS}
    name = str(record.get("class_name", ""))
    # tf-keras registers its own optimizers under the prefix "Custom>"
    if name.startswith("Custom>"):
        name = name.removeprefix("Custom>")
        record = {"module": "keras.optimizers", "registered_name": name}
    return {**record, "class_name": name, "config": config}


def _json(reader, name, limits):
    text = reader.attribute("", name)
    if text is None:
        return None
    # h5py decodes bytes that are not UTF-8 to surrogates, which are converted back here
    data = text.encode("utf-8", "surrogateescape")
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
    store = _Listed(reader, paths)
    variables = in_order_of(store, optimizer)
    # Keras 2 does not save the learning rate among the variables
    if len(paths) == len(variables) - 1:
        variables = [*variables[:1], *variables[2:]]
    try:
        load_variables(variables, store, "Optimizer")
    except LoadError as error:
        warnings.warn(
            f"{reader.name}: the optimizer's state is not restored: {error}", stacklevel=4
        )


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
    """A mapping from "0", "1", ... to the arrays at the given paths, in their order."""

    def __init__(self, reader, paths):
        self._reader, self._paths = reader, paths

    def keys(self):
        return [str(number) for number in range(len(self._paths))]

    def shape(self, key):
        return self._reader.shape(self._paths[int(key)])

    def read_into(self, key, into):
        return self._reader.array(self._paths[int(key)], into)

    def __getitem__(self, key):
        return self.read_into(key, None)
