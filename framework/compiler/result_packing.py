"""Flatten the result of a traced call to tensors, and rebuild such results from arrays."""

from functools import partial

import numpy as np

from framework.compiler.call_arguments import mask_of
from framework.core import nest
from framework.core.tensor import Tensor, masks

_new = object.__new__


def result_packer(result):
    """Return (tensors of a result, function that builds the result from arrays).

    The Keras mask of a tensor follows the tensor. Return (None, None) if the result contains
    anything but tensors, numbers, strings and None.
    """
    tensors, pack = _unmasked_packer(result)
    if not masks.in_use or tensors is None:
        return tensors, pack
    masks_of = [mask_of(t) for t in tensors]
    places = [i for i, mask in enumerate(masks_of) if mask is not None]
    if not places:
        return tensors, pack
    count = len(tensors)

    def pack_masked(arrays):
        made = pack(arrays[:count])
        parts = [v for v in nest.flatten(made, composites=True) if type(v) is Tensor]
        for place, array in zip(places, arrays[count:], strict=True):
            parts[place]._keras_mask = Tensor(array)
        return made

    return [*tensors, *(_as_mask(masks_of[i]) for i in places)], pack_masked


def _as_mask(mask):
    return mask if type(mask) is Tensor else Tensor(np.asarray(mask))


def _unmasked_packer(result):
    if type(result) is Tensor:
        return [result], _one
    if result is None:
        return [], _none
    leaves = [_tensor(v) for v in nest.flatten(result, composites=True)]
    if not all(type(v) is Tensor or v is None or isinstance(v, (str, bytes)) for v in leaves):
        return None, None
    tensors = [v for v in leaves if type(v) is Tensor]
    firsts = first_places(tensors)
    build = _tensors if len(firsts) == len(set(firsts)) else partial(_with_repeats, firsts)

    if build is _tensors and type(result) in _FLAT and all(type(v) is Tensor for v in result):
        return tensors, _FLAT[type(result)]
    # Placeholders replace the tensors, so that `pack` does not keep those of this call alive.
    leaves = [_TENSOR if type(v) is Tensor else v for v in leaves]
    structure = nest.map_structure(lambda _: None, result, composites=True)

    def pack(arrays):
        found = iter(build(arrays))
        new = [next(found) if v is _TENSOR else v for v in leaves]
        return nest.pack_sequence_as(structure, new, composites=True)

    return tensors, pack


def _tensor(leaf):
    """Return a leaf that is a number as a tensor, and any other leaf unchanged."""
    return Tensor(np.asarray(leaf)) if isinstance(leaf, (int, float, np.generic)) else leaf


def _tensors(arrays):
    """Return a tensor for each array of a plan's results."""
    found = []
    # `Tensor(array)` is inlined, which saves a function call.
    for array in arrays:
        tensor = _new(Tensor)
        tensor.array, tensor.serial = array, None
        found.append(tensor)
    return found


def _with_repeats(firsts, arrays):
    """Return a tensor for each index of an array in `firsts`; equal indices share one tensor."""
    found = _tensors(arrays)
    return [found[place] for place in firsts]


def first_places(tensors):
    """Return, for each tensor, the index of its first occurrence."""
    known = {}
    return [known.setdefault(id(tensor), place) for place, tensor in enumerate(tensors)]


def _in_tuple(arrays):
    if len(arrays) != 1:
        return tuple(_tensors(arrays))
    tensor = _new(Tensor)
    tensor.array, tensor.serial = arrays[0], None
    return (tensor,)


_TENSOR = object()  # This placeholder stands for a tensor among the leaves of a result.
# type of a result -> function that builds it from arrays
_FLAT = {list: _tensors, tuple: _in_tuple}


def _one(arrays):
    tensor = _new(Tensor)
    tensor.array, tensor.serial = arrays[0], None
    return tensor


def _none(_arrays):
    return None
