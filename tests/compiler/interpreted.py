"""Loops run by Python instead of Numba: the same text, without a second's compilation for each.

What the text means is checked so for any number of programs; that Numba gives the same numbers as
Python is for `test_loops.py`.
"""

import math

import numpy as np

from framework.compiler.loop_files import LoopFile
from framework.kernels import tier


def load(array, i, _place):
    return array.reshape(-1)[i] if array.ndim else array[()]


def store(array, i, value, _place):
    assert array.flags.c_contiguous
    array.reshape(-1)[i] = value


def _maximum(a, b):
    return a if a >= b or a != a else b  # noqa: PLR0124 (NaN)


def _minimum(a, b):
    return a if a <= b or a != a else b  # noqa: PLR0124 (NaN)


def _of_kind(kind):
    def in_kind(function):
        return lambda *xs: kind(function(*xs))

    functions = {
        "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "erf": math.erf,
        "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))),
        "log1p_exp": lambda x: np.log1p(np.exp(x)),
    }  # fmt: skip
    width = 8 * np.dtype(kind).itemsize
    return {f"{name}_{width}": in_kind(f) for name, f in functions.items()}


NAMES = {
    "np": np, "load": load, "store": store, "plus": lambda total, x: total + x,
    "maximum": _maximum, "minimum": _minimum,
    **{kind.__name__: kind for kind in (
        np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8
    )},
    **_of_kind(np.float32), **_of_kind(np.float64),
}  # fmt: skip


def compile_in_python(self, _library, _signature):
    """In the place of `LoopFile.compile`."""
    namespace = dict(NAMES)
    exec(compile(self.source, "<loop>", "exec"), namespace)
    loop = namespace["loop"]

    def run(*arrays):
        assert all(type(a) is np.ndarray and a.flags.c_contiguous for a in arrays)
        with np.errstate(all="ignore"):
            loop(*arrays)

    return run


def install(monkeypatch):
    """Let plans turn their groups into loops at once, and Python run these."""
    monkeypatch.setattr(LoopFile, "compile", compile_in_python)
    monkeypatch.setattr(LoopFile, "is_compiled", lambda _self: True)
    monkeypatch.setattr("framework.compiler.loops._built", {})
    monkeypatch.setattr(tier, "_tier", "numba")
    library = tier.library
    found = lambda name: "loops" if name == "elementwise" else None
    monkeypatch.setattr(tier, "library", found)
    return library
