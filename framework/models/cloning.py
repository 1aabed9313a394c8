"""The function clone_model, which copies a model's layers with new weights."""

from framework.core import nest
from framework.core.configs import copy_of
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.core import Input, InputLayer
from framework.models.functional import Functional
from framework.models.sequential import Sequential


def clone_model(
    model, input_tensors=None, clone_function=None, call_function=None, recursive=False, **_kwargs
):
    """Return a copy of a functional or Sequential model, with new layers and new weights.

    The copy is compiled if the model is, with its own optimizer.

    Args:
        model: a functional or Sequential model.
        input_tensors: KerasTensors to use as the inputs of the clone; new inputs if None.
        clone_function: `clone_function(layer)` returns the copy of a layer.
        call_function: `call_function(layer, *args, **kwargs)` calls a copied layer.
        recursive: apply `clone_function` inside nested models too.

    Raises:
        ValueError: the model is a subclassed model.

    >>> from framework.layers import Dense, Input
    >>> model = Sequential([Input((3,)), Dense(2)])
    >>> clone_model(model).count_params()
    8
    """
    copy = _copier(clone_function, call_function, recursive)
    if isinstance(model, Sequential):
        return _compiled_as(model, _clone_sequential(model, input_tensors, copy))
    if isinstance(model, Functional):
        return _compiled_as(model, _clone_functional(model, input_tensors, copy, call_function))
    raise InvalidArgumentError(
        f"clone_model: expected a functional or Sequential model, got {type(model).__name__}. "
        "Create another instance of a subclassed model by calling its class."
    )


def _copier(clone_function, call_function, recursive):
    copies = {}

    def copy(layer):
        if id(layer) not in copies:
            if recursive and isinstance(layer, (Functional, Sequential)):
                clone = clone_model(layer, None, clone_function, call_function, True)
            elif clone_function is not None:
                clone = clone_function(layer)
            elif isinstance(layer, (Functional, Sequential)):
                clone = clone_model(layer)
            else:
                clone = copy_of(layer)
            if not isinstance(clone, Layer):
                raise InvalidArgumentError(
                    f"clone_model: clone_function must return a layer, got {clone!r} for the "
                    f"layer {layer.name!r}."
                )
            copies[id(layer)] = clone
        return copies[id(layer)]

    return copy


def _compiled_as(model, clone):
    if model.compiled:
        clone.compile_from_config(model.get_compile_config())
    return clone


def _clone_sequential(model, input_tensors, copy):
    clone = Sequential(name=model.name, trainable=model.trainable)
    if input_tensors is not None:
        clone.add(nest.flatten(input_tensors)[0])
    elif model._framework.input_layer is not None:
        clone.add(_new_input(model._framework.input_layer.output))
    for layer in model.layers:
        clone.add(copy(layer))
    return clone


def _new_input(tensor):
    return Input(batch_shape=tensor.shape, dtype=tensor.dtype, name=tensor.name)


def _clone_functional(model, input_tensors, copy, call_function):
    if input_tensors is None:
        starts = [_new_input(x) for x in model.inputs]
    else:
        starts = nest.flatten(input_tensors)
    new_tensors = {id(old): new for old, new in zip(model.inputs, starts)}
    graph = model._framework.graph

    def replaced(leaf):
        return new_tensors[id(graph.tensor(leaf))] if isinstance(leaf, KerasTensor) else leaf

    for node in graph.nodes:
        if isinstance(node.operation, InputLayer):
            continue
        args = [nest.map_structure(replaced, a) for a in node.args]
        kwargs = {k: nest.map_structure(replaced, v) for k, v in node.kwargs.items()}
        operation = node.operation
        if isinstance(operation, Layer):
            operation = copy(operation)
            if call_function is not None:
                outputs = call_function(operation, *args, **kwargs)
            else:
                outputs = operation(*args, **kwargs)
        else:
            outputs = operation(*args, **kwargs)
        flat = [outputs] if node.single else nest.flatten(outputs)
        new_tensors.update({id(old): flat[index] for index, old in node.outputs.items()})
    inputs = nest.pack_sequence_as(model._framework.inputs_structure, starts)
    outputs = nest.map_structure(replaced, model._framework.outputs_structure)
    return type(model)(inputs, outputs, name=model.name)
