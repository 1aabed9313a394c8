"""Comparisons of one call: what a family of `parity/families/` compares besides training.

A comparison is a title and a function `run(keras) -> Values`, where `keras` is real Keras or
`framework.keras`. A call that raises an error is a result as well: "refused". Where both sides
refuse everything, there is nothing to compare; the report counts such rows apart.
"""

import json
from dataclasses import dataclass, field

import numpy as np

REFUSED = "refused"

# JAX computes without 64-bit numbers, unless JAX_ENABLE_X64 is set.
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


@dataclass
class Values:
    """The results of a comparison by key: arrays, or texts; `notes` has the errors by key."""

    found: dict = field(default_factory=dict)
    notes: dict = field(default_factory=dict)

    def add(self, key, value):
        """Add a result: each of its tensors with its dtype, or a text."""
        if isinstance(value, str):
            self.found[key] = value
            return
        parts = leaves(value)
        for number, part in enumerate(parts):
            own = key if len(parts) == 1 else f"{key}.{number}"
            if isinstance(part, str):
                self.found[own] = part
                continue
            array, dtype = as_array(part)
            self.found[own] = array
            if dtype:
                self.found[f"{own} dtype"] = dtype
        if len(parts) != 1:
            self.found[f"{key} count"] = str(len(parts))

    def try_to(self, key, function):
        """Add what the function returns, or that it refuses."""
        try:
            self.add(key, function())
        except Exception as error:
            self.found[key] = REFUSED
            self.notes[key] = f"{type(error).__name__}: {error}"[:300]
            return False
        return True

    def all_refused(self):
        return all(isinstance(v, str) and v == REFUSED for v in self.found.values())


def leaves(value):
    """The tensors, arrays, numbers and texts within lists, tuples and dicts."""
    if isinstance(value, dict):
        return [part for key in sorted(value) for part in leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in leaves(each)]
    return ["None"] if value is None else [value]


def as_array(value):
    """The array of a tensor, bfloat16 as float32, and the name of its dtype; "" for numbers."""
    if isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
        return np.asarray(value), ""
    dtype = dtype_of(value)
    value = value.detach() if hasattr(value, "detach") else value
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return (array.astype("float32") if dtype == "bfloat16" else array), NARROW.get(dtype, dtype)


def dtype_of(tensor):
    """The name of a tensor's dtype on any side."""
    dtype = tensor.dtype
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def is_float(tensor):
    return "float" in dtype_of(tensor)


def weights_of(shape):
    """Fixed numbers by which results are weighted before gradients are taken."""
    return np.cos(np.arange(int(np.prod(shape)))).reshape(shape).astype("float32")


def shape_text(spec):
    """The shapes and dtypes of KerasTensors as text."""

    def text(part):
        if not hasattr(part, "shape"):
            return str(part)
        return f"{tuple(part.shape)} {NARROW.get(dtype_of(part), dtype_of(part))}"

    return "; ".join(text(part) for part in leaves(spec))


def config_text(config):
    """A config as JSON with sorted keys; tuples are lists, as in files."""
    return json.dumps(config, sort_keys=True, default=_plain)


def same_config(a, b):
    """Whether two texts are equal JSON: 2.0 equals 2."""
    try:
        return json.loads(a) == json.loads(b)
    except ValueError:
        return False


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    if callable(value):
        return getattr(value, "__name__", str(value))
    return f"{type(value).__name__} {getattr(value, 'name', '')}"
