"""Load weights of PyTorch modules into layers: names, layouts, and a proposed matching."""

import re
import warnings
from typing import Any

import numpy as np

from framework.core.errors import LoadError
from framework.core.internal_state import builtin
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.saving.named_arrays import named_variables
from framework.saving.torch_file import read_torch
from framework.saving.tree import parts
from framework.saving.weights import require_built

_LEFT_OUT = "num_batches_tracked"


def _moved(*axes):
    return lambda arrays: np.transpose(arrays[0], axes)


def _plain(arrays):
    return arrays[0]


def _sum(arrays):
    return arrays[0] + arrays[1]


def _gates(order, count):
    """Return a function that transposes a matrix of gates and reorders the gates as in Keras."""

    def change(arrays):
        gates = np.split(arrays[0], count)
        return np.concatenate([gates[i] for i in order]).T

    return change


def _gru_bias(arrays):
    rows = [np.concatenate([np.split(a, 3)[i] for i in (1, 0, 2)]) for a in arrays]
    return np.stack(rows)


_NORM = {"gamma": (("weight",), _plain), "beta": (("bias",), _plain)}
_MATRIX = {"kernel": (("weight",), _moved(1, 0)), "bias": (("bias",), _plain)}
_CELL = ("weight_ih_l0",), ("weight_hh_l0",), ("bias_ih_l0", "bias_hh_l0")


def _cell(change, bias):
    return {
        "kernel": (_CELL[0], change), "recurrent_kernel": (_CELL[1], change),
        "bias": (_CELL[2], bias),
    }  # fmt: skip


# {layer class: {variable: (names in PyTorch's module, function from their arrays to the value)}}
LAYOUTS = {
    "Dense": _MATRIX,
    "Conv1D": {**_MATRIX, "kernel": (("weight",), _moved(2, 1, 0))},
    "Conv2D": {**_MATRIX, "kernel": (("weight",), _moved(2, 3, 1, 0))},
    "Conv3D": {**_MATRIX, "kernel": (("weight",), _moved(2, 3, 4, 1, 0))},
    "Conv1DTranspose": {**_MATRIX, "kernel": (("weight",), _moved(2, 1, 0))},
    "Conv2DTranspose": {**_MATRIX, "kernel": (("weight",), _moved(2, 3, 1, 0))},
    "DepthwiseConv2D": {**_MATRIX, "kernel": (("weight",), _moved(2, 3, 0, 1))},
    "Embedding": {"embeddings": (("weight",), _plain)},
    "BatchNormalization": {
        **_NORM, "moving_mean": (("running_mean",), _plain),
        "moving_variance": (("running_var",), _plain),
    },
    "LayerNormalization": _NORM, "GroupNormalization": _NORM,
    "PReLU": {"alpha": (("weight",), _plain)},
    "SimpleRNNCell": _cell(_moved(1, 0), _sum),
    "LSTMCell": _cell(_gates((0, 1, 2, 3), 4), _sum),
    "GRUCell": _cell(_gates((1, 0, 2), 3), _gru_bias),
}  # fmt: skip


def propose_torch_names(model: Any, filepath: Any, key: Any = None):
    """Return a map from the model's variables to the tensors of a PyTorch file that fit them.

    Layers and modules are paired in their order: each layer gets the next module that has tensors
    of the right names and shapes. Check the result, correct it where it is wrong, and pass it to
    `load_torch_weights`.

    Args:
        model: a built model.
        filepath: a path of a file of `torch.save`.
        key: the name of the state dict in a file with other contents, such as "model_state_dict".

    Returns:
        {name of the variable: names of its tensors, or None}.
    """
    require_built(model, "propose_torch_names")
    modules = _modules(_state_dict(filepath, key))
    names = {variable.serial: name for name, variable in named_variables(model).items()}
    found = {}
    for layer in _layers(model):
        variables = _own_variables(layer)
        layout = LAYOUTS.get(builtin(layer).__name__, {})
        prefix = next((p for p, m in modules.items() if _fits(variables, layout, m)), None)
        for variable in variables:
            tensors = layout[variable.name][0] if prefix is not None else ()
            found[names[variable.serial]] = tuple(f"{prefix}{t}" for t in tensors) or None
        modules.pop(prefix, None)
    return found


def load_torch_weights(
    model: Any, filepath: Any, names: Any = None, key: Any = None, skip_mismatch: bool = False,
):  # fmt: skip
    """Set the weights of a model from a PyTorch state dict, in the layouts of Keras's layers.

    Args:
        model: a built model.
        filepath: a path of a file of `torch.save`.
        names: {name of a variable: name of its tensor, or a tuple of names}; None: the map that
            `propose_torch_names` returns.
        key: the name of the state dict in a file with other contents, such as "model_state_dict".
        skip_mismatch: leave variables without a fitting tensor unchanged, with a warning.

    Returns:
        The map that was used.

    Raises:
        ValueError: the file is damaged or not safe, or a variable has no fitting tensor; then
            nothing is changed.
    """
    require_built(model, "load_torch_weights")
    if names is None:
        names = propose_torch_names(model, filepath, key)
    tensors = _state_dict(filepath, key)
    layouts = {
        variable.serial: LAYOUTS.get(builtin(layer).__name__, {}).get(variable.name)
        for layer in _layers(model) for variable in _own_variables(layer)
    }  # fmt: skip
    values, misfits = [], []
    for name, variable in named_variables(model).items():
        value = _value(names.get(name), tensors, layouts.get(variable.serial))
        if isinstance(value, str):
            misfits.append(f"{name}: {value}")
        elif value.shape != tuple(variable.shape):
            misfits.append(f"{name} has shape {tuple(variable.shape)}, its tensor {value.shape}")
        else:
            values.append((variable, value))
    if misfits and not skip_mismatch:
        raise LoadError(
            f"{filepath}: {len(misfits)} variables have no tensor that fits: "
            f"{'; '.join(misfits[:5])}. Pass names={{variable: tensor}}, or skip_mismatch=True."
        )
    if misfits:
        warnings.warn(f"{filepath}: {'; '.join(misfits)}.", stacklevel=2)
    for variable, value in values:
        array = np.array(value, variable.array.dtype, order="C")
        variable.assign(Tensor(array))
    return names


def _value(wanted, tensors, layout):
    """Return the array for a variable, or a string that says what is missing."""
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    if not wanted:
        return "no tensor fits"
    missing = [name for name in wanted if name not in tensors]
    if missing:
        return f"the file has no tensor {missing[0]!r}"
    arrays = [tensors[name] for name in wanted]
    try:
        return (layout[1] if layout else _plain)(arrays)
    except (ValueError, IndexError) as error:
        return f"{wanted[0]!r} has another layout: {error}"


def _state_dict(filepath, key):
    """Return {name: array} of the tensors in a file."""
    found = read_torch(filepath)
    if key is not None:
        if not isinstance(found, dict) or key not in found:
            raise LoadError(
                f"{filepath}: key={key!r} is not in the file, which has {_keys(found)}."
            )
        found = found[key]
    tensors = {}
    if isinstance(found, dict):
        tensors = {n: v for n, v in found.items() if isinstance(v, np.ndarray) and type(n) is str}
    if not tensors:
        raise LoadError(
            f"{filepath}: expected a state dict (a dict of tensors), got {_keys(found)}. Pass "
            "key=... with the name of the state dict in it."
        )
    return tensors


def _keys(found):
    if not isinstance(found, dict):
        return f"a {type(found).__name__}"
    return "the keys " + ", ".join(repr(key) for key in list(found)[:8])


def _modules(tensors):
    """Return {prefix of a module: {name: array}}, in the order of the file."""
    modules = {}
    for name, array in tensors.items():
        prefix, own = re.fullmatch(r"(.*\.|)([^.]*)", name, re.DOTALL).groups()
        if own != _LEFT_OUT:
            modules.setdefault(prefix, {})[own] = array
    return modules


def _layers(model):
    return [part for _, part in parts(model) if isinstance(part, Layer)]


def _own_variables(layer):
    own = layer._framework
    return [*own.trainable_variables, *own.non_trainable_variables]


def _fits(variables, layout, module):
    """Return whether a PyTorch module has exactly the tensors of a layer, with equal shapes."""
    if not variables or any(v.name not in layout for v in variables):
        return False
    used = set()
    for variable in variables:
        wanted, change = layout[variable.name]
        if any(name not in module for name in wanted):
            return False
        try:
            shape = change([module[name] for name in wanted]).shape
        except (ValueError, IndexError):
            return False
        if shape != tuple(variable.shape):
            return False
        used.update(wanted)
    return used == set(module)
