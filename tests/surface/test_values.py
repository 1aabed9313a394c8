"""Every public name of TensorFlow's surface is called, and what it gives is compared.

A new name needs a row in one of the tables beside this file: `name: (call, expected)`. The call
gets what the name stands for, so that the very name is tested; names of one object share a row.
A function that an op declares has the op's first sample, unless it has a row.
"""

import types
from enum import Enum, EnumMeta

import numpy as np
import pytest

import framework as tf
from framework.core.recorders import Recorder
from tests.surface import (
    arrays,
    class_members,
    declared,
    dtypes_and_errors,
    elementwise,
    image,
    linalg,
    nn,
    ragged,
    random,
    signal,
    sparse,
    strings,
)

TABLES = (
    linalg, arrays, dtypes_and_errors, random, elementwise, class_members, nn, signal, image,
    sparse, strings, ragged,
)  # fmt: skip
HOMES = {
    "": tf, "math.": tf.math, "nn.": tf.nn, "linalg.": tf.linalg, "random.": tf.random,
    "debugging.": tf.debugging, "dtypes.": tf.dtypes, "errors.": tf.errors, "nest.": tf.nest,
    "autodiff.": tf.autodiff, "image.": tf.image, "signal.": tf.signal, "strings.": tf.strings,
    "sets.": tf.sets, "bitwise.": tf.bitwise, "sparse.": tf.sparse, "ragged.": tf.ragged,
    "audio.": tf.audio,
}  # fmt: skip
CLASSES = (
    "Tensor", "Variable", "GradientTape", "UnconnectedGradients", "Module", "name_scope",
    "autodiff.ForwardAccumulator", "random.Generator",
)  # fmt: skip
PYTHONS = {  # what Python asks for, not users
    "__array_ufunc__", "__class__", "__dict__", "__init__", "__init_subclass__", "__members__",
    "__module__", "__name__", "__new__", "__qualname__", "__reduce__", "__reduce_ex__", "__repr__",
    "__signature__", "__slots__", "__str__", "__subclasshook__", "__weakref__", "__doc__",
    "__firstlineno__", "__static_attributes__", "serial", "hold",
}  # fmt: skip
OURS = {  # beyond TensorFlow's surface; tested where they are at home
    "TYPE_CHECKING", "contrib", "enable_eager_execution", "lin_space", "show_config", "string",
    "autodiff.TYPE_CHECKING", "autodiff.grad", "autodiff.gradients_function", "autodiff.hessian",
    "autodiff.hvp", "autodiff.implicit_grad", "autodiff.implicit_value_and_gradients",
    "autodiff.jvp", "autodiff.make_vjp", "autodiff.value_and_grad",
    "autodiff.value_and_gradients_function", "autodiff.vjp", "debugging.NumericsError",
    "debugging.check_gradients", "debugging.numerics", "debugging.trace", "dtypes.string",
    "errors.DATA_LOSS", "errors.INVALID_ARGUMENT", "errors.NOT_FOUND", "errors.OUT_OF_RANGE",
    "errors.OpError", "Module.__setattr__",
    "GradientTape.explain", "GradientTape.memory", "GradientTape.plot", "GradientTape.to_dot",
    "GradientTape.recorded_ops", "GradientTape.op_on_rows",
}  # fmt: skip


def public_names():
    for prefix, home in HOMES.items():
        for name in dir(home):
            if not name.startswith("_") and not isinstance(held(prefix + name), types.ModuleType):
                yield prefix + name
    for name in CLASSES:
        for member in sorted(own_members(held(name))):
            yield f"{name}.{member}"


def held(path):
    found = tf
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def own_members(cls):
    """What `cls` has beyond any object, and beyond what every recorder is told."""
    events = {name for name in vars(Recorder) if not name.endswith("__")}
    return {
        name
        for name in dir(cls)
        if name not in PYTHONS | events
        and (not name.startswith("_") or name.endswith("__"))
        and hasattr(cls, name)  # PyTorch's words raise an AttributeError
        and getattr(cls, name) is not getattr(object, name, None)
        and not (issubclass(cls, Enum) and name in dir(EnumMeta))
    }


ROWS = {name: row for table in TABLES for name, row in table.VALUES.items()}
NAMES = sorted({*public_names(), "dtypes.bfloat16"} - OURS)  # that one is made when asked for
BY_OBJECT = {id(held(name)): row for name, row in ROWS.items()}


FROM_SAMPLES = {id(held(name)): row for name, row in declared.VALUES.items()}


def row_of(name):
    function = id(held(name))
    return ROWS.get(name) or BY_OBJECT.get(function) or FROM_SAMPLES.get(function)


def agree(found, expected):
    """Fails unless both are equal, numbers to 6 digits, in one structure."""
    if hasattr(expected, "check"):
        expected.check(found)
    elif isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            agree(f, e)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        agree(list(found.values()), list(expected.values()))
    elif expected is None or isinstance(expected, (str, bool, type)):
        assert found == expected or np.array_equal(found, expected)
    else:
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_value_of(name):
    if name.endswith("bfloat16"):
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16
    row = row_of(name)
    assert row, f"the public name tf.{name} needs a row in tests/surface/"
    call, expected = row
    agree(call(held(name)), expected)


def test_rows_are_of_public_names():
    assert {name for name in ROWS if name not in NAMES} == set()
    assert sum(len(table.VALUES) for table in TABLES) == len(ROWS)


def test_the_surface_is_as_large_as_it_was():
    """A namespace that lost its names would have nothing to test."""
    assert len(NAMES) > 630
    assert {"Tensor.__add__", "math.erf", "nn.conv2d", "random.Generator.split"} <= set(NAMES)


@pytest.mark.parametrize("name", ["math.exp", "linalg.svd", "nn.moments", "Tensor.__rsub__"])
def test_a_wrong_value_is_found(name):
    call, expected = row_of(name)
    with pytest.raises(AssertionError):
        agree(call(lambda *args: _off(held(name)(*args))), expected)


def _off(found):
    if isinstance(found, tuple):
        return tuple(x * 1.001 for x in found)
    return found * 1.001
