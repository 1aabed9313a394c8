"""The calls that are compared: those of tests/surface, and variants of each.

A variant changes the numbers, their dtype or their rank. Calls are spied from the tables, so that
both sides get the same NumPy arrays, numbers and strings.
"""

import inspect
from dataclasses import dataclass

import numpy as np

import framework as tf
from framework.core import dtypes
from framework.core.operator_types import Operators
from parity.functions_tensorflow import rows
from tests.surface import arrays, declared, elementwise, image, linalg, nn, signal, strings

SPACES = ("image.", "strings.", "signal.", "nn.", "linalg.", "math.", "sets.", "bitwise.", "")
TABLES = (linalg, elementwise, nn, signal, image, strings, arrays, declared)


@dataclass(frozen=True)
class Call:
    """One call of a public function.

    Args:
        name: the name below `tf`, such as "math.add".
        variant: what is changed beside the call of the table.
        args, kwargs: NumPy arrays, Python's values, and dtypes as `DType`.
    """

    name: str
    variant: str
    args: tuple
    kwargs: dict

    def arguments(self, module):
        """The arguments, with the dtypes of TensorFlow or of this package."""
        return (
            [given(a, module) for a in self.args],
            {k: given(v, module) for k, v in self.kwargs.items()},
        )


@dataclass(frozen=True)
class DType:
    """A dtype by name."""

    name: str


def given(value, module):
    if isinstance(value, DType):
        return module.as_dtype(value.name)
    if isinstance(value, (list, tuple)):
        made = [given(v, module) for v in value]
        return tuple(made) if isinstance(value, tuple) else made
    return value


class SpiedError(Exception):
    """What a row called its function with."""


def chosen(patterns=()):
    """Return the names of all functions, or of those whose names contain a pattern."""
    return [name for name in names() if not patterns or any(p in name for p in patterns)]


def calls(patterns=()):
    """Yield the calls of the functions that `chosen` returns."""
    for name in chosen(patterns):
        found = [plain(c) for c in rows.CALLS.get(name, [])]
        spied = _spied(name)
        for number, (args, kwargs) in enumerate([*spied, *found]):
            yield from variants(name, number, args, kwargs)


def names():
    """The public functions of the name spaces, one name for each."""
    seen = set()
    for space in SPACES:
        home = tf
        for part in filter(None, space.split(".")):
            home = getattr(home, part)
        for name in dir(home):
            f = getattr(home, name)
            if name.startswith("_") or isinstance(f, type) or not inspect.isfunction(f):
                continue
            if id(f) not in seen and space + name not in rows.NOT_COMPARED:
                seen.add(id(f))
                yield space + name


def _spied(name):
    row = next((t.VALUES[name] for t in TABLES if name in t.VALUES), None)
    if row is None:  # the name of another function of the same object
        f = _held(name)
        rows_of = (r for t in TABLES for n, r in t.VALUES.items() if _held(n) is f)
        row = next(rows_of, None)
    if row is None:
        return []

    def spy(*args, **kwargs):
        raise SpiedError(args, kwargs)

    try:
        row[0](spy)
    except SpiedError as spied:
        call = plain(spied.args)
        return [] if call is None else [call]
    except Exception:  # a row that calls no function, or looks at it
        return []
    return []


def _held(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def plain(call):
    """(args, kwargs) without objects of this package; None where they hold others."""
    try:
        return tuple(map(_plain, call[0])), {k: _plain(v) for k, v in call[1].items()}
    except TypeError:
        return None


def _plain(value):
    if isinstance(value, dtypes.DType):
        return DType(value.name)
    if isinstance(value, Operators):
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        made = [_plain(v) for v in value]
        return tuple(made) if isinstance(value, tuple) else made
    if callable(value) or not isinstance(
        value, (np.ndarray, np.generic, str, bytes, int, float, complex, bool, type(None))
    ):
        raise TypeError
    return value


# ---- variants ------------------------------------------------------------------------------------


def variants(name, number, args, kwargs):
    """Yield the call itself, and with other numbers, dtypes and ranks."""
    start = f"{number}" if number else ""
    yield Call(name, f"{start}row", args, kwargs)
    if not any(map(is_floating, args)):
        for label, change in INTEGERS.items():
            made = tuple(change(a) if is_integral(a) else a for a in args)
            if any(m is not a for m, a in zip(made, args)):
                yield Call(name, start + label, made, kwargs)
        return
    for label, change in CHANGES.items():
        made = tuple(change(a) if is_floating(a) else a for a in args)
        yield Call(name, start + label, made, kwargs)
    first = next(i for i, a in enumerate(args) if is_floating(a))
    for label, change in OF_FIRST.items():
        made = list(args)
        made[first] = change(np.asarray(args[first]))
        yield Call(name, start + label, tuple(made), kwargs)


def is_floating(value):
    """Whether it is an array of floats, or a nest of Python's; a number alone is an option."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and value.dtype != object
    if isinstance(value, (list, tuple)) and value and not _holds_arrays(value):
        return _even(value) and np.asarray(value).dtype.kind == "f"
    return False


def _holds_arrays(value):
    if isinstance(value, (list, tuple)):
        return any(map(_holds_arrays, value))
    return isinstance(value, np.ndarray)


def is_integral(value):
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu" and value.ndim > 0
    return False


def _even(value):
    try:
        np.asarray(value)
    except ValueError:
        return False
    return True


def _other_numbers(value):
    """Numbers of the same range: each a mean of two of them, in another order."""
    x = np.asarray(value)
    flat = x.reshape(-1)
    return (0.75 * flat + 0.25 * np.roll(flat, 1)).reshape(x.shape).astype(x.dtype)


CHANGES = {
    "float32": lambda x: np.asarray(x, np.float32),
    "float64": lambda x: np.asarray(x, np.float64),
    "others": _other_numbers,
    "float16": lambda x: np.asarray(x, np.float16),
    "int32": lambda x: np.asarray(x, np.float64).astype(np.int32),
    "bool": lambda x: np.asarray(x) > 0.5,
}
OF_FIRST = {
    "rank less": lambda x: x[0] if x.ndim else x[None],
    "rank more": lambda x: x[None],
    "empty": lambda x: x[:0] if x.ndim else x,
    "strings": lambda x: np.full(x.shape, b"a", object),
}
INTEGERS = {
    "int64": lambda x: x.astype(np.int64),
    "int32": lambda x: x.astype(np.int32),
    "other": lambda x: np.roll(x.reshape(-1), 1).reshape(x.shape),
    "rank more": lambda x: x[None],
}
