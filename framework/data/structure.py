"""Conversion and traversal of a dataset's elements: nests of tensors in tuples and dicts."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from framework.core import dtypes, nest
from framework.core.argument_types import ShapeLike
from framework.core.conversion import array_of, tensor
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.tables import array_from, from_library
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.core.variable import CoreVariable
from framework.data.sparse_rows import SparseRows, from_matrix
from framework.ops.sparse_tensor import SparseTensor, SparseTensorSpec


def array_in(value, name):
    """Return `value` as an array, not copied if it is one; error messages begin with `name`."""
    if isinstance(value, (Tensor, CoreVariable)):
        return value.array
    # a SciPy sparse matrix has the method `tocoo`
    if isinstance(value, SparseTensor) or hasattr(value, "tocoo"):
        return SparseRows(value if isinstance(value, SparseTensor) else from_matrix(value))
    if not hasattr(value, "__array__") and not from_library(value):
        return _converted(value, name)
    array = array_from(value, name) if from_library(value) else np.asarray(value)
    if array.dtype.kind == "O" and not all(isinstance(v, (str, bytes)) for v in array.flat):
        raise DTypeError(
            f"{name}: expected numbers or strings, got an array of dtype object. Do its rows have "
            "different lengths, or its columns different types? Convert it to a numeric dtype."
        )
    if array.dtype.kind in "SUO":
        return array_of(array)  # as in TensorFlow, strings are stored as bytes
    try:
        # this also casts an array in another byte order to the machine's order
        return array.astype(dtypes.as_dtype(array.dtype).np, copy=False)
    except DTypeError as error:
        raise DTypeError(f"{name}: {error}") from None


def rows_in(value, name):
    """Return `value` as an array, or as a FileArray if it is an array in an HDF5 file."""
    from framework.data.file_arrays import FileArray, hdf5_array

    if isinstance(value, FileArray):
        return value
    if type(value).__module__.partition(".")[0] == "h5py":
        return hdf5_array(value, name)
    return array_in(value, name)


def _converted(value, name):
    try:
        return array_of(value)
    except (DTypeError, InvalidArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


def map_named(function, structure, name, is_leaf=None):
    """Map `function(leaf, name)` over tuples and dicts; names read like code: x[0], x['image'].

    A list is a leaf (rows of numbers) unless `is_leaf(list)` is False.
    """
    if isinstance(structure, Mapping):
        return {k: map_named(function, v, f"{name}[{k!r}]", is_leaf) for k, v in structure.items()}
    if isinstance(structure, tuple) or (is_leaf is not None and not is_leaf(structure)):
        parts = [map_named(function, v, f"{name}[{i}]", is_leaf) for i, v in enumerate(structure)]
        if hasattr(structure, "_fields"):
            return type(structure)(*parts)
        return parts if isinstance(structure, list) else tuple(parts)
    return function(structure, name)


def names(structure, name):
    """Return the names of the leaves, in the order of `nest.flatten`."""
    named = map_named(lambda _, name: name, structure, name, lambda s: not isinstance(s, list))
    return nest.flatten(named)


def spec_like(leaf):
    """Return the TensorSpec class for a tensor, an array or SparseRows."""
    return SparseTensorSpec if isinstance(leaf, (SparseTensor, SparseRows)) else TensorSpec


def boxed(value):
    """Return an array as a Tensor; a SparseTensor unchanged."""
    return value if type(value) is SparseTensor else Tensor(value)


def as_element(value, name):
    """Return the result of a user's function or generator with its leaves as Tensors."""
    if type(value) is Tensor:
        return value
    if isinstance(value, list):  # as in TensorFlow, a list is treated like a tuple
        value = tuple(value)
    return map_named(_leaf, value, name)


def _leaf(value, name):
    # an object with `element_spec` is a Dataset inside an element
    if type(value) in (Tensor, SparseTensor) or hasattr(value, "element_spec"):
        return value
    if value is None:
        raise DTypeError(f"{name}: expected a tensor, or a tuple or dict of tensors, got None.")
    # bytes are immutable, so an array over them, such as a decoded image, needs no copy
    if type(value) is np.ndarray and type(value.base) is bytes and value.dtype in dtypes.by_array:
        return Tensor(value)
    try:
        return tensor(value)
    except (DTypeError, InvalidArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


class DatasetSpec:
    """The spec of a dataset inside an element, such as a window."""

    def __init__(self, element_spec: Any, dataset_shape: ShapeLike = ()):
        self.element_spec = element_spec

    def __eq__(self, other):
        return type(other) is DatasetSpec and self.element_spec == other.element_spec

    def __hash__(self):
        return hash(self.element_spec)

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


def spec_of(element):
    """Return the `element_spec` of one element, with all sizes known."""

    def spec(leaf, _):
        if hasattr(leaf, "element_spec"):
            return DatasetSpec(leaf.element_spec)
        return spec_like(leaf)(leaf.shape, leaf.dtype)

    return map_named(spec, element, "")


def packer(structure):
    """Return a function that packs a list of leaves into `structure`, keeping its Nones."""
    leaves = nest.flatten(structure)
    filled = [i for i, leaf in enumerate(leaves) if leaf is not None]
    if not nest.is_nested(structure):
        return lambda values: values[0]
    children = structure.values() if isinstance(structure, Mapping) else structure
    flat = not any(map(nest.is_nested, children))
    if type(structure) is tuple and flat:
        if len(filled) == len(leaves):
            return tuple
        if filled == list(range(len(filled))):
            rest = (None,) * (len(leaves) - len(filled))
            return lambda values: (*values, *rest)
    if type(structure) is dict and flat and len(filled) == len(leaves):
        # `nest.flatten` gives the keys in the order of the leaves
        keys = nest.flatten({key: [key] for key in structure})
        places = [(key, keys.index(key)) for key in structure]
        return lambda values: {key: values[place] for key, place in places}
    return functools.partial(_pack, structure, len(leaves), filled)


def _pack(structure, count, filled, values):
    leaves = [None] * count
    for i, value in zip(filled, values):
        leaves[i] = value
    return nest.pack_sequence_as(structure, leaves)


def like(structure, given, what):
    """Return, for each leaf of `structure`, the value in `given` that applies to it.

    A value in `given` may apply to several leaves.

    Args:
        what: the argument that `given` comes from, for messages.

    Raises:
        InvalidArgumentError: `given` has other keys, or another number of parts.
    """
    if not nest.is_nested(structure) or not nest.is_nested(given):
        return [given] * len(nest.flatten(structure))
    if isinstance(structure, dict):
        keys = sorted(structure)
        if not isinstance(given, Mapping) or sorted(given) != keys:
            raise _unlike(structure, given, what)
        pairs = [(structure[key], given[key]) for key in keys]
    else:
        if len(given) != len(structure):
            raise _unlike(structure, given, what)
        pairs = zip(structure, given)
    return [leaf for child, part in pairs for leaf in like(child, part, what)]


def _unlike(structure, given, what):
    wanted = f"{len(structure)} parts, one for each part of an element"
    if isinstance(structure, dict):
        wanted = f"a dict with the keys {sorted(structure)}"
    return InvalidArgumentError(f"{what}: expected {wanted}, got {given!r}.")
