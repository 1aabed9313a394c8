"""NumPy's constants and dtypes, and the functions of `declarations.py`, created when first used."""

import numpy as np

from framework.core.tensor import Tensor as ndarray  # noqa: N813 (NumPy's name)
from framework.experimental.numpy.declarations import DECLARED, OWN, declared

__all__ = ["ndarray"]

VALUES = {
    "e": float(np.e), "pi": float(np.pi), "inf": float(np.inf), "newaxis": None,
    "bool_": np.bool_, "complex_": np.complex128, "float_": np.float64, "int_": np.int64,
    "object_": np.object_, "string_": np.bytes_, "unicode_": np.str_, "inexact": np.inexact,
    **{name: getattr(np, name) for name in (
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
        "float32", "float64", "complex64", "complex128",
    )},
}  # fmt: skip


def __getattr__(name):
    if name in VALUES:
        return VALUES[name]
    if name not in DECLARED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = globals()[name] = declared(name, OWN)
    return function
