"""Translation of lookup tables: boundaries of bins, and vocabularies as ONNX-ML's LabelEncoder."""

import numpy as np

from framework.saving.onnx.rules import rule

_ML = "ai.onnx.ml"
_FORMS = {"O": "strings", "i": "int64s", "u": "int64s", "b": "int64s", "f": "floats"}


@rule("look_up")
def look_up(b, keys, *, table):
    boundaries = getattr(table, "boundaries", None)
    if boundaries is not None:
        return _bins(b, keys, boundaries)
    if not hasattr(table, "entries"):
        b.refuse(
            "ONNX has no operator that takes strings apart or hashes as this layer does. Apply the "
            "layer to the data, and export the model after it: keras.Model(inputs, outputs) with "
            "the layer's output as its input"
        )
    known, values, default = table.entries()
    if default is None:
        b.refuse(
            "keys that the table lacks must get one default value, but this table hashes "
            "them or raises an error. Use num_oov_indices=1"
        )
    return _encoded(b, keys, known, values, default, table.dtype)


def _bins(b, x, boundaries):
    """Return the bin of each number: the count of boundaries that are at most the number."""
    x = b.cast(x, boundaries.dtype)
    above = b("GreaterOrEqual", b.unsqueeze(x, -1), b.constant(boundaries), dtype=bool)
    return b("ReduceSum", b.cast(above, np.int32), b.constant(np.array([-1])), keepdims=0)


def _encoded(b, keys, known, values, default, dtype):
    source, target = _FORMS[keys.dtype.kind], _FORMS[dtype.kind]
    one = {"strings": "string", "int64s": "int64", "floats": "float"}[target]
    keys = keys if source == "strings" else b.cast(keys, np.int64 if source == "int64s" else "f")
    b.domains[_ML] = 3
    wide = {"strings": np.dtype(object), "int64s": np.int64, "floats": np.float32}[target]
    found = b(
        "LabelEncoder", keys, dtype=wide, domain=_ML,
        **{f"keys_{source}": _plain(known), f"values_{target}": _plain(values)},
        **{f"default_{one}": _plain([default])[0]},
    )  # fmt: skip
    return b.cast(found, dtype)


def _plain(items):
    """Return Python values that ONNX attributes can hold: str instead of bytes."""
    return [item.decode() if isinstance(item, bytes) else item for item in items]
