"""The tensors of a result, and how new arrays take their places in it."""

from functools import partial

import numpy as np

from framework.compiler.call_arguments import mask_of
from framework.core import nest
from framework.core.tensor import Tensor, masks

_new = object.__new__


def packing(result):
    """The tensors in a result, and the function that puts new arrays in their places.

    The masks of tensors come after them. (None, None) where something in the result is neither a
    tensor nor None nor a plain value.
    """
    tensors, pack = _packing(result)
    if not masks.in_use or tensors is None:
        return tensors, pack
    masks_of = [mask_of(t) for t in tensors]
    places = [i for i, mask in enumerate(masks_of) if mask is not None]
    if not places:
        return tensors, pack
    count = len(tensors)

    def pack_masked(arrays):
        made = pack(arrays[:count])
        parts = [v for v in nest.flatten(made) if type(v) is Tensor]
        for place, array in zip(places, arrays[count:], strict=True):
            parts[place]._keras_mask = Tensor(array)
        return made

    return [*tensors, *(_as_mask(masks_of[i]) for i in places)], pack_masked


def _as_mask(mask):
    return mask if type(mask) is Tensor else Tensor(np.asarray(mask))


def _packing(result):
    if type(result) is Tensor:
        return [result], _one
    if result is None:
        return [], _none
    leaves = [_tensor(v) for v in nest.flatten(result)]
    if not all(type(v) is Tensor or v is None or isinstance(v, (str, bytes)) for v in leaves):
        return None, None
    tensors = [v for v in leaves if type(v) is Tensor]
    firsts = first_places(tensors)
    several = _several if len(firsts) == len(set(firsts)) else partial(_several_alike, firsts)

    if several is _several and type(result) in _FLAT and all(type(v) is Tensor for v in result):
        return tensors, _FLAT[type(result)]
    # The tensors of this run may go.
    leaves = [_TENSOR if type(v) is Tensor else v for v in leaves]
    structure = nest.map_structure(lambda _: None, result)

    def pack(arrays):
        found = iter(several(arrays))
        new = [next(found) if v is _TENSOR else v for v in leaves]
        return nest.pack_sequence_as(structure, new)

    return tensors, pack


def _tensor(leaf):
    """A number as a tensor; others as they are."""
    return Tensor(np.asarray(leaf)) if isinstance(leaf, (int, float, np.generic)) else leaf


def _several(arrays):
    """A list of tensors."""
    found = []
    for array in arrays:  # as Tensor(array) does it, without the call
        tensor = _new(Tensor)
        tensor.array, tensor.serial = array, None
        found.append(tensor)
    return found


def _several_alike(firsts, arrays):
    """The same, a tensor that stands at several places once."""
    found = _several(arrays)
    return [found[place] for place in firsts]


def first_places(tensors):
    """For each of these tensors the first place where it stands."""
    known = {}
    return [known.setdefault(id(tensor), place) for place, tensor in enumerate(tensors)]


def _in_tuple(arrays):
    if len(arrays) != 1:
        return tuple(_several(arrays))
    tensor = _new(Tensor)
    tensor.array, tensor.serial = arrays[0], None
    return (tensor,)


_TENSOR = object()  # stands for one
_FLAT = {list: _several, tuple: _in_tuple}  # by type of the result


def _one(arrays):
    tensor = _new(Tensor)
    tensor.array, tensor.serial = arrays[0], None
    return tensor


def _none(_arrays):
    return None
