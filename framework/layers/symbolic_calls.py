"""Symbolic calls of layers: KerasTensors, shapes, and nests of them."""

import inspect

import numpy as np

from framework.core import nest
from framework.core.composite import Composite
from framework.core.errors import InvalidArgumentError
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor, calling
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.layers.call_signature import signature_of


def mask_of(value):
    return getattr(value, "_keras_mask", None)


_TENSORS = (Tensor, Operand, Composite)


def is_tensors(value):
    leaves = nest.flatten(value)
    return any(isinstance(x, _TENSORS) for x in leaves) and all(
        x is None or isinstance(x, _TENSORS) for x in leaves
    )


def shape_of(value):
    """Return the shape of a tensor, or a nest of shapes for a nest of tensors."""
    return nest.map_structure(lambda x: None if x is None else tuple(x.shape), value)


def shapes_for(names, signature, args, kwargs, layer):
    """Return the shapes for the parameters `names` of `build` or `compute_output_shape`."""
    bound = signature.bind(args, kwargs).items()
    tensors = {k: v for k, v in bound if is_tensors(v) and k not in signature.masks}
    if len(names) <= 1:
        return [shape_of(v) for v in list(tensors.values())[: len(names)]]
    shapes = {f"{k}_shape": shape_of(v) for k, v in tensors.items()}
    unknown = [n for n in names[: len(shapes)] if n not in shapes]
    masks = {k: v for k, v in bound if is_tensors(v) and k in signature.masks and k != "mask"}
    shapes.update((f"{k}_shape", shape_of(v)) for k, v in masks.items())
    if unknown:
        raise InvalidArgumentError(
            f"For a build() or compute_output_shape() method with several arguments, their names "
            f"must be those of call()'s arguments plus '_shape'; layer {layer.name!r} has "
            f"{unknown[0]!r}, but its call() got {list(tensors)}."
        )
    return [shapes.get(n) for n in names]


def detached(outputs):
    """Return copies of symbolic outputs without the history of the layer's inner ops."""
    return nest.map_structure(_detached, outputs)


def _detached(leaf):
    if not isinstance(leaf, (KerasTensor, Tensor, CoreVariable)):
        return leaf
    copy = KerasTensor(tuple(leaf.shape), leaf.dtype, getattr(leaf, "sparse", False))
    mask = mask_of(leaf)
    if mask is not None:
        copy._keras_mask = mask
    return copy


def remember(layer, args, kwargs, outputs):
    """Record this call as the origin of its symbolic outputs, unless an outer call is symbolic."""
    if thread.symbolic is not None:
        return
    kwargs = dict(kwargs)  # the id of `kwargs` identifies the call, so each call needs a new dict
    single = not nest.is_nested(outputs)
    for i, output in enumerate(nest.flatten(outputs)):
        if isinstance(output, KerasTensor):
            output.origin = (layer, args, kwargs, None if single else i)
    if layer._framework.first_call is None:
        layer._framework.first_call = (args, kwargs, outputs)


def run_symbolically(layer, args, kwargs):
    """Run `call` on KerasTensors, without changing any variable."""
    with calling(layer.name):
        return layer.call(*args, **kwargs)


def output_shapes(layer, args, kwargs):
    """Call the user-defined `compute_output_shape` with the shapes of these inputs."""
    parameters = list(inspect.signature(layer.compute_output_shape).parameters.values())
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return layer.compute_output_shape(*shapes_for(names, signature_of(layer), args, kwargs, layer))


def spec_from_shapes(layer, shapes):
    """Return KerasTensors for a nest of shapes that `compute_output_shape` returned."""
    if is_shape(shapes):
        return KerasTensor(shapes, layer.compute_dtype)
    if isinstance(shapes, dict):
        return {k: spec_from_shapes(layer, v) for k, v in shapes.items()}
    if isinstance(shapes, (list, tuple)):
        return type(shapes)(spec_from_shapes(layer, s) for s in shapes)
    raise InvalidArgumentError(
        f"compute_output_shape() of layer {layer.name!r} should return a tuple of ints and None "
        f"(or a nest of them), got {shapes!r}."
    )


def is_shape(value):
    return isinstance(value, (list, tuple)) and all(
        n is None or isinstance(n, (int, np.integer)) for n in value
    )


def inputs_of_shapes(layer, shapes):
    """Return KerasTensors for a nest of shapes, in the layer's compute dtype."""
    if is_shape(shapes):
        return KerasTensor(shapes, layer.compute_dtype)
    if isinstance(shapes, dict):
        return {k: inputs_of_shapes(layer, v) for k, v in shapes.items()}
    return None if shapes is None else type(shapes)(inputs_of_shapes(layer, s) for s in shapes)


def arguments_of_shapes(layer, args, kwargs):
    """Return call arguments, KerasTensors with these shapes; `x_shape` is the shape of `x`.

    `input_shape` is the shape of the first argument, whatever its name.
    """
    if "input_shape" in kwargs and not args and "input" not in signature_of(layer).names:
        args, kwargs = (kwargs["input_shape"],), {**kwargs}
        del kwargs["input_shape"]
    inputs = {k.removesuffix("_shape"): inputs_of_shapes(layer, v) for k, v in kwargs.items()}
    return tuple(inputs_of_shapes(layer, shape) for shape in args), inputs
