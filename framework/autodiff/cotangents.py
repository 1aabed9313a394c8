"""Helpers for the start and end of a backward pass: source checks, cotangents of targets."""

import enum

import numpy as np

from framework.autodiff.batching import Batched
from framework.core import nest
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.recorders import serials
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable, KerasVariable, Variable
from framework.ops.elementwise import conj
from framework.ops.movement import broadcast_to
from framework.ops.slices import IndexedSlices, gather_rows, joined


class UnconnectedGradients(enum.Enum):
    """Values of the argument `unconnected_gradients`: what a source that has no gradient gets."""

    NONE = "none"
    ZERO = "zero"


SOURCES = frozenset((Tensor, Variable, KerasVariable))
_ONES = {np.dtype(t): np.ones((), t) for t in ("float32", "float64")}


def wants_zero(option):
    if option is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(option) is UnconnectedGradients.ZERO
    except ValueError:
        raise InvalidArgumentError(
            f"Unknown value for unconnected_gradients: {option!r}; expected 'none' or 'zero'."
        ) from None


def check_source(source):
    if not isinstance(source, (Tensor, CoreVariable, Batched)):
        raise InvalidArgumentError(
            f"gradient: a source must be a tf.Tensor or tf.Variable that the tape watched, got "
            f"{source!r} of type {type(source).__name__}."
        )


def seeds(target, output_gradients, taped):
    """Return {serial: cotangent} of the targets: tensors if `taped`, otherwise arrays."""
    if type(target) is Tensor and output_gradients is None and not target.array.ndim:
        # This is the fast path for the most common target, a scalar loss.
        one = _ONES.get(target.array.dtype)
        if one is not None:
            # A target that no tape recorded has no serial; it needs one, because it may also be a
            # source.
            if target.serial is None:
                target.serial = next(serials)
            return {target.serial: Tensor(one) if taped else one}
    targets = nest.flatten(target)
    factors = [None] * len(targets)
    if output_gradients is not None:
        factors = _matched(target, output_gradients, len(targets))
    grads = {}
    for item, output_gradient in zip(targets, factors, strict=True):
        leaf, factor = _target(item, output_gradient)
        array = leaf.array
        if array.dtype.kind not in "fcV":
            continue
        if leaf.serial is None:
            leaf.serial = next(serials)
        if factor is None:
            seed = np.ones(array.shape, array.dtype)
            seed = Tensor(seed) if taped else seed
        else:
            seed = _seed(factor, array, taped)
        if array.dtype.kind == "c":
            seed = conj(seed)
        accumulate(grads, leaf.serial, seed)
    return grads


def _target(item, factor):
    """Return (tensor or variable to differentiate, output gradient or None) of one target."""
    # The sum of IndexedSlices is the sum of their `values`, so these are differentiated.
    if type(item) is IndexedSlices:
        return item.values, None if factor is None else gather_rows(tensor(factor), item.indices)
    return item if isinstance(item, CoreVariable) else tensor(item), factor


def _matched(target, output_gradients, count):
    """Return `output_gradients` as a list, one per leaf of `target`."""
    seeds = nest.flatten(output_gradients)
    # The user may write a nested list of numbers for a single array.
    if len(seeds) != count:
        seeds = _leaves_up_to(target, output_gradients)
    if len(seeds) != count:
        raise InvalidArgumentError(
            f"gradient: output_gradients: expected {count} leaves, as many as target, got "
            f"{len(seeds)}."
        )
    return seeds


def _leaves_up_to(target, values):
    """Return the item of `values` for each leaf of `target`; an item may itself be a nest."""
    if not nest.is_nested(target):
        return [values]
    if type(target) not in (list, tuple) or not isinstance(values, (list, tuple)):
        return nest.flatten(values)
    return [leaf for t, v in zip(target, values) for leaf in _leaves_up_to(t, v)]


def _seed(seed, array, taped):
    try:
        seed = tensor(seed, array.dtype)
    except DTypeError as error:
        raise DTypeError(f"gradient: output_gradients: {error}") from None
    if seed.array.ndim == 0 and array.ndim:
        seed = broadcast_to(seed, shape=array.shape)
    if seed.array.shape != array.shape:
        raise ShapeError(
            f"gradient: output_gradients: expected the target's shape {array.shape}, got "
            f"{seed.array.shape}."
        )
    return seed if taped or type(seed) is not Tensor else seed.array


def descendants(edges, serials):
    """Return `serials` and the serials of all values that the recorded ops computed from them."""
    found = set(serials)
    for produced, _, _, rule, serial, _, _, read in edges:
        if rule is not None:
            if serial in found:
                found.add(produced)
        elif any(end in found for ends, *_ in read for end in ends):
            found.update([output for output, _, _ in produced])
    return found


def accumulate(grads, serial, d):
    """Add `d` to the cotangent of `serial`."""
    grads[serial] = grads[serial] + d if serial in grads else d


def add_slices(grads, serial, d, kept):
    """Add IndexedSlices to the cotangent of `serial`: as IndexedSlices if it is in `kept`, else
    dense."""
    if serial not in kept:
        d = d.dense()
    have = grads.get(serial)
    grads[serial] = d if have is None else added(d, have)


def added(first, second):
    """Return the sum of two cotangents; two IndexedSlices are concatenated in this order."""
    if type(first) is type(second) is IndexedSlices:
        return joined(first, second)
    return first + second


def cotangents(grads, kept, produced, taped, nones):
    """Return the cotangents of an op's several outputs; None if all are missing.

    If only some are missing, these are zeros, or None if the op's rule accepts that (`nones`).
    """
    for serial, _, _ in produced:
        if serial in grads:
            return tuple([_pop_or_zeros(grads, kept, output, taped, nones) for output in produced])
    return None


def _pop_or_zeros(grads, kept, output, taped, nones):
    serial, shape, dtype = output
    g = grads.get(serial) if serial in kept else grads.pop(serial, None)
    if g is None and not nones:
        g = np.broadcast_to(np.zeros((), dtype), shape)
        g = Tensor(g) if taped else g
    return g.dense() if type(g) is IndexedSlices else g


def arrays(value):
    """Return a value for a derivative rule, with the tensors in it replaced by their arrays."""
    if type(value) is Tensor:
        return value.array
    if type(value) is tuple and any(type(v) is Tensor for v in value):
        return tuple(v.array if type(v) is Tensor else v for v in value)
    return value


def tracked_mask(args, tracked):
    """Return an int whose bit i is set if input i is tracked."""
    mask, bit = 0, 1
    for arg in args:
        if type(arg) is Tensor and arg.serial in tracked:
            mask += bit
        bit += bit
    return mask
