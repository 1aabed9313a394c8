"""Every function of keras.ops in several dtypes: values, gradients, shapes on KerasTensors."""

import numpy as np

from parity.sides import gradients
from parity.values import Values, is_float, leaves, shape_text
from tests.surface.keras_calls import CALLS
from tests.surface.keras_options import OPTIONS

DTYPES = ("float32", "int32", "bool", "bfloat16")

PYTHON = {"vectorized_map"}
"""Functions that are not called on KerasTensors."""

DRAWING = {"image.elastic_transform"}
"""Functions outside `keras.random` whose results are each side's own; their shapes are compared."""


def _of_eigh(ops, values, vectors):
    return values, ops.abs(vectors), _product(ops, vectors, values, ops.swapaxes(vectors, -1, -2))


def _of_svd(ops, u, values, vh):
    size = values.shape[-1]
    product = _product(ops, u[..., :size], values, vh[..., :size, :])
    return ops.abs(u), values, ops.abs(vh), product


def _product(ops, left, values, right):
    return ops.matmul(left * ops.expand_dims(values, -2), right)


DETERMINED = {"eigh": _of_eigh, "svd": _of_svd}
"""What is compared of factors whose signs are free: magnitudes, and the product."""


class Place:
    """Stands in arguments for the array with this number."""

    def __init__(self, number):
        self.number = number


def split(value, arrays, change):
    """The arguments with a `Place` for each array, which is changed and put into `arrays`."""
    if isinstance(value, np.ndarray) and value.ndim:
        arrays.append(change(value))
        return Place(len(arrays) - 1)
    if isinstance(value, (list, tuple)):
        return type(value)(split(part, arrays, change) for part in value)
    return value


def filled(value, tensors):
    if isinstance(value, Place):
        return tensors[value.number]
    if isinstance(value, (list, tuple)):
        return type(value)(filled(part, tensors) for part in value)
    return value


def as_dtype(dtype):
    """A change of float arrays to the dtype; whole numbers are four times as large."""

    def change(array):
        if array.dtype.kind != "f" or dtype == "float32":
            return array.astype("float32") if array.dtype == "float64" else array
        if dtype == "bool":
            return array > 0.3
        if dtype == "bfloat16":
            import ml_dtypes

            return array.astype(ml_dtypes.bfloat16)
        if dtype == "float16":
            return array.astype("float16")
        return np.trunc(array * 4).astype(dtype)

    return change


class Call:
    """A comparison of a function of `keras.ops`."""

    def __init__(self, name, args, kwargs, dtype):
        self.name, self.kwargs, self.dtype = name, kwargs, dtype
        self.arrays = []
        self.args = split(args, self.arrays, as_dtype(dtype))

    def function(self, keras):
        home = keras.random if self.name.startswith("random.") else keras.ops
        for part in self.name.removeprefix("random.").split("."):
            home = getattr(home, part)
        return home

    def __call__(self, keras):
        found = Values()

        def function(tensors):
            return self.function(keras)(*filled(self.args, tensors), **self.kwargs)

        def call(tensors):
            if self.name == "eigh" and self.dtype == "float32":  # slopes of one triangle or of both
                tensors = [(x + keras.ops.swapaxes(x, -1, -2)) / 2 for x in tensors]
            result = function(tensors)
            several = self.name in DETERMINED and isinstance(result, (list, tuple))
            return DETERMINED[self.name](keras.ops, *result) if several else result

        tensors = [keras.ops.convert_to_tensor(a) for a in self.arrays]
        if self.name.startswith("random.") or self.name in DRAWING:
            found.try_to("shape", lambda: shape_text(call(tensors)))
            return found
        if not found.try_to("value", lambda: call(tensors)):
            return found
        if self.dtype == "float32":
            if any(map(is_float, self.arrays)) and _has_floats(found):
                found.try_to("gradient", lambda: gradients(keras, call, self.arrays))
            if self.arrays and self.name not in PYTHON:
                specs = [keras.KerasTensor(a.shape, a.dtype.name) for a in self.arrays]
                found.try_to("symbolic", lambda: shape_text(function(specs)))
        return found


def _has_floats(found):
    return any("float" in v or "complex" in v for v in found.found.values() if isinstance(v, str))


def comparisons():
    for title, (args, kwargs) in {**CALLS, **OPTIONS}.items():
        name = title.partition(":")[0].removesuffix(".one")
        yield title, Call(name, args, kwargs, "float32")
        numbers = [a for a in leaves((args,)) if isinstance(a, np.ndarray)]
        if title in OPTIONS and not title.endswith("number"):
            continue
        if any(a.dtype == "float32" for a in numbers):
            for dtype in DTYPES[1:]:
                yield f"{title}, {dtype}", Call(name, args, kwargs, dtype)
