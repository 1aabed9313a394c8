"""clone_model: the same model with new weights."""

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.core import Input, InputLayer
from framework.models.functional import Functional
from framework.models.sequential import Sequential


def clone_model(
    model, input_tensors=None, clone_function=None, call_function=None, recursive=False, **_kwargs
):
    """A functional or Sequential model made anew from its layers' configs, with new weights.

    Args:
        model: a model.
        input_tensors: KerasTensors to build the clone on, new inputs where None.
        clone_function: `clone_function(layer)` gives the layer's stand-in.
        call_function: `call_function(layer, *args, **kwargs)` calls a cloned layer.
        recursive: clone the models inside by this function too.

    Raises:
        ValueError: for a subclassed model, whose code is its config.

    >>> from framework.layers import Dense, Input
    >>> model = Sequential([Input((3,)), Dense(2)])
    >>> clone_model(model).count_params()
    8
    """
    copy = _copier(clone_function, call_function, recursive)
    if isinstance(model, Sequential):
        return _clone_sequential(model, input_tensors, copy)
    if isinstance(model, Functional):
        return _clone_functional(model, input_tensors, copy, call_function)
    raise InvalidArgumentError(
        f"clone_model: expected a functional or Sequential model, got {type(model).__name__}; make "
        "another instance of a subclassed model by its class."
    )


def _copier(clone_function, call_function, recursive):
    copies = {}

    def copy(layer):
        if id(layer) not in copies:
            if recursive and isinstance(layer, (Functional, Sequential)):
                made = clone_model(layer, None, clone_function, call_function, True)
            elif clone_function is not None:
                made = clone_function(layer)
            elif isinstance(layer, (Functional, Sequential)):
                made = clone_model(layer)
            else:
                made = type(layer).from_config(layer.get_config())
            if not isinstance(made, Layer):
                raise InvalidArgumentError(
                    f"clone_model: clone_function gave {made!r} for the layer {layer.name!r}; "
                    "expected a layer."
                )
            copies[id(layer)] = made
        return copies[id(layer)]

    return copy


def _clone_sequential(model, input_tensors, copy):
    made = Sequential(name=model.name, trainable=model.trainable)
    if input_tensors is not None:
        made.add(nest.flatten(input_tensors)[0])
    elif model._framework.input_layer is not None:
        made.add(_new_input(model._framework.input_layer.output))
    for layer in model.layers:
        made.add(copy(layer))
    return made


def _new_input(tensor):
    return Input(batch_shape=tensor.shape, dtype=tensor.dtype, name=tensor.name)


def _clone_functional(model, input_tensors, copy, call_function):
    if input_tensors is None:
        starts = [_new_input(x) for x in model.inputs]
    else:
        starts = nest.flatten(input_tensors)
    made = {id(old): new for old, new in zip(model.inputs, starts)}
    graph = model._framework.graph

    def stand_in(leaf):
        return made[id(graph.tensor(leaf))] if isinstance(leaf, KerasTensor) else leaf

    for node in graph.nodes:
        if isinstance(node.operation, InputLayer):
            continue
        args = [nest.map_structure(stand_in, a) for a in node.args]
        kwargs = {k: nest.map_structure(stand_in, v) for k, v in node.kwargs.items()}
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
        made.update({id(old): flat[index] for index, old in node.outputs.items()})
    inputs = nest.pack_sequence_as(model._framework.inputs_structure, starts)
    outputs = nest.map_structure(stand_in, model._framework.outputs_structure)
    return type(model)(inputs, outputs, name=model.name)
