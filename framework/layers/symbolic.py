"""Symbolic calls of layers: what goes in and out as KerasTensors, shapes and nests of them."""

import inspect

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.operand import Operand
from framework.core.recorders import thread
from framework.core.symbolic import KerasTensor, calling
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.layers.facts import facts_of


def mask_of(value):
    return getattr(value, "_keras_mask", None)


def is_tensors(value):
    leaves = nest.flatten(value)
    return any(isinstance(x, (Tensor, Operand)) for x in leaves) and all(
        x is None or isinstance(x, (Tensor, Operand)) for x in leaves
    )


def shape_of(value):
    """The shape of a tensor, a nest of shapes for a nest of tensors."""
    return nest.map_structure(lambda x: None if x is None else tuple(x.shape), value)


def shapes_for(names, facts, args, kwargs, layer):
    """The shapes that `build` or `compute_output_shape` with the parameters `names` asks for."""
    bound = facts.bind(args, kwargs).items()
    tensors = {k: v for k, v in bound if is_tensors(v) and k not in facts.masks}
    if len(names) <= 1:
        return [shape_of(v) for v in list(tensors.values())[: len(names)]]
    shapes = {f"{k}_shape": shape_of(v) for k, v in tensors.items()}
    unknown = [n for n in names[: len(shapes)] if n not in shapes]
    if unknown:
        raise InvalidArgumentError(
            f"For a build() or compute_output_shape() method with several arguments, their names "
            f"must be those of call()'s arguments with '_shape' behind; layer {layer.name!r} has "
            f"{unknown[0]!r}, its call() got {list(tensors)}."
        )
    return [shapes.get(n) for n in names]


def fresh(outputs):
    """Symbolic outputs as new objects, without the history of what happened inside the layer."""
    return nest.map_structure(_fresh, outputs)


def _fresh(leaf):
    if not isinstance(leaf, (KerasTensor, Tensor, CoreVariable)):
        return leaf
    made = KerasTensor(tuple(leaf.shape), leaf.dtype)
    mask = mask_of(leaf)
    if mask is not None:
        made._keras_mask = mask
    return made


def remember(layer, args, kwargs, outputs):
    """Write into symbolic outputs that this call gave them; not inside another symbolic call."""
    if thread.symbolic is not None:
        return
    kwargs = dict(kwargs)  # one for each call: its identity tells calls apart
    single = not nest.is_nested(outputs)
    for i, output in enumerate(nest.flatten(outputs)):
        if isinstance(output, KerasTensor):
            output.origin = (layer, args, kwargs, None if single else i)
    if layer._framework.first_call is None:
        layer._framework.first_call = (args, kwargs, outputs)


def run_symbolically(layer, args, kwargs):
    """`call` on KerasTensors; nothing changes while it runs."""
    with calling(layer.name):
        return layer.call(*args, **kwargs)


def output_shapes(layer, args, kwargs):
    """What the user's own `compute_output_shape` says of these inputs."""
    parameters = list(inspect.signature(layer.compute_output_shape).parameters.values())
    names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return layer.compute_output_shape(*shapes_for(names, facts_of(layer), args, kwargs, layer))


def spec_from_shapes(layer, shapes):
    """KerasTensors for what the user's own `compute_output_shape` gave."""
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
    """KerasTensors of the shapes in a nest, in the layer's compute dtype."""
    if is_shape(shapes):
        return KerasTensor(shapes, layer.compute_dtype)
    if isinstance(shapes, dict):
        return {k: inputs_of_shapes(layer, v) for k, v in shapes.items()}
    return None if shapes is None else type(shapes)(inputs_of_shapes(layer, s) for s in shapes)


def arguments_of_shapes(layer, args, kwargs):
    """The arguments of a symbolic call for shapes, those by keyword named `..._shape`."""
    made = {k.removesuffix("_shape"): inputs_of_shapes(layer, v) for k, v in kwargs.items()}
    return tuple(inputs_of_shapes(layer, shape) for shape in args), made
