"""The config of a functional model: its layers and operations, and the calls between them."""

from framework.core import nest
from framework.core.configs import deserialize, serialize_value
from framework.core.errors import LoadError, SaveError
from framework.core.symbolic import KerasTensor
from framework.core.variable import CoreVariable
from framework.layers.core import InputLayer
from framework.layers.nested import as_layer
from framework.layers.operation import Operation
from framework.models.graph_ops import LoadedOperation, is_operation, record_of

# ---- to a config ---------------------------------------------------------------------------------


def graph_config(model):
    """Return the config of a functional model: its layers and their calls in Keras's format."""
    graph = model._framework.graph
    histories = _histories(graph)

    def history(leaf):
        name, node, index = histories[id(graph.tensor(leaf))]
        return {
            "class_name": "__keras_tensor__",
            "config": {
                "shape": tuple(leaf.shape), "dtype": str(leaf.dtype),
                "keras_history": [name, node, index],
            },
        }  # fmt: skip

    layers = []
    for operation in graph.operations:
        calls = [n for n in graph.nodes if operation in (n, n.operation)]
        if isinstance(operation, Operation):
            record, arguments = serialize_value(operation), [list(n.args) for n in calls]
        else:
            record, args = record_of(operation)
            arguments = [args]
        record["name"] = operation.name
        record["inbound_nodes"] = [
            {
                "args": _plain(args, history, operation.name),
                "kwargs": {} if operation is node else _plain(node.kwargs, history, node.name),
            }
            for node, args in zip(calls, arguments)
            if not node.is_input
        ]
        layers.append(record)

    def end(leaf):
        name, node, index = histories[id(graph.tensor(leaf))]
        producer = graph.tensor(leaf).origin[0]
        # In the lists of inputs and outputs, Keras counts the calls of an inner functional model
        # from 1, but elsewhere from 0.
        return [name, node + (getattr(_record(producer), "graph", None) is not None), index]

    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": layers,
        "input_layers": _ends(model._framework.inputs_structure, end),
        "output_layers": _ends(model._framework.outputs_structure, end),
    }


def _record(operation):
    return getattr(operation, "_framework", None)


def _histories(graph):
    """Return {id of a KerasTensor: (operation name, call index, output index)}."""
    found, counts = {}, {}
    for node in graph.nodes:
        operation = node.operation if isinstance(node.operation, Operation) else node
        number = counts.get(id(operation), 0)
        counts[id(operation)] = number + 1
        for index, tensor in node.outputs.items():
            found[id(tensor)] = operation.name, number, index
    return found


def _plain(arguments, history, name):
    """Return the arguments of a call as values that JSON can represent."""

    def plain(leaf):
        if isinstance(leaf, KerasTensor):
            return history(leaf)
        if isinstance(leaf, CoreVariable):
            raise SaveError(
                f"The call of {name!r} has a variable as an argument, which a config cannot store. "
                "Create the variable in a layer."
            )
        array = getattr(leaf, "array", None)
        return array.item() if array is not None and not array.ndim else serialize_value(leaf)

    return nest.map_structure(plain, arguments)


def _ends(structure, end):
    """Apply `end` to each input or output, and keep the structure that the user passed."""
    if isinstance(structure, KerasTensor):
        return end(structure)
    if isinstance(structure, dict):
        return {key: _ends(value, end) for key, value in structure.items()}
    ends = [_ends(value, end) for value in structure]
    return tuple(ends) if isinstance(structure, tuple) else ends


# ---- from a config -------------------------------------------------------------------------------


def ends_of(config):
    """Run the calls that a config describes; return the model's input and output KerasTensors.

    Raises:
        LoadError: the calls refer to layers or outputs that do not exist.
    """
    calls = _Calls(config["layers"])
    calls.run()
    return calls.ends(config["input_layers"]), calls.ends(config["output_layers"])


class _Calls:
    """The layer calls that a config lists; each call runs as soon as its inputs exist."""

    def __init__(self, records):
        self._operations, self._outputs, self._waiting = {}, {}, {}
        for record in records:
            name = record.get("name")
            if not isinstance(name, str) or name in self._operations:
                raise LoadError(
                    "Functional model: expected a layer name that occurs once in the config, "
                    f"got {name!r}."
                )
            self._operations[name] = operation = _operation(record)
            self._outputs[name] = [[operation.output]] if isinstance(operation, InputLayer) else []
            self._waiting[name] = list(record.get("inbound_nodes") or ())
        self._numbers = _call_numbers(self._waiting)

    def run(self):
        waiting = {name for name, nodes in self._waiting.items() if nodes}
        while waiting:
            done = [name for name in self._operations if name in waiting and self._run_some(name)]
            if not done:
                raise LoadError(
                    f"Functional model: the calls of {sorted(waiting)} depend on outputs that "
                    "no call computes."
                )
            waiting = {name for name in waiting if self._waiting[name]}

    def _run_some(self, name):
        """Run one layer's calls in order until an input is missing; return whether any call ran."""
        nodes, ran = self._waiting[name], False
        while nodes:
            try:
                args, kwargs = self._arguments(nodes[0])
            except _NotYetError:
                break
            outputs = self._operations[name](*args, **kwargs)
            self._outputs[name].append(nest.flatten(outputs))
            nodes.pop(0)
            ran = True
        return ran

    def _arguments(self, node):
        if isinstance(node, list):  # this call has the format of Keras 2
            tensors = [self._tensor(entry[:3]) for entry in node]
            keywords = {name: self._former(value) for name, value in _keywords(node).items()}
            return [tensors[0] if len(tensors) == 1 else tensors], keywords
        args, kwargs = self._filled(node["args"]), self._filled(node["kwargs"])
        return args, kwargs

    def _former(self, value):
        """Return a keyword argument of Keras 2's format; a reference to a tensor is resolved."""
        history = _history_in(value) if isinstance(value, list) else None
        return (
            value if history is None or history[0] not in self._outputs else self._tensor(history)
        )

    def _filled(self, value):
        if isinstance(value, list):
            return [self._filled(v) for v in value]
        if not isinstance(value, dict):
            return value
        if value.get("class_name") == "__keras_tensor__":
            return self._tensor(value["config"]["keras_history"])
        if "class_name" in value and "config" in value:
            return deserialize(value)
        return {key: self._filled(v) for key, v in value.items()}

    def _tensor(self, history):
        name, node, index = history
        if name not in self._outputs:
            raise LoadError(f"Functional model: there is no layer {name!r}.")
        calls, node = self._outputs[name], self._numbers.get((name, node), node)
        if not 0 <= node < len(calls):
            raise _NotYetError
        if not 0 <= index < len(calls[node]):
            raise LoadError(f"Functional model: the layer {name!r} has no output {index}.")
        return calls[node][index]

    def ends(self, structure):
        """Return the KerasTensors that a config lists as inputs or outputs."""
        if isinstance(structure, dict):
            return {key: self.ends(value) for key, value in structure.items()}
        if len(structure) == 3 and isinstance(structure[0], str):
            name, node, index = structure
            operation = self._operations.get(name)
            if getattr(_record(operation), "graph", None) is not None:
                # `graph_config` explains why these calls are counted from 1
                node = max(node - 1, 0)
            if node >= 0 and len(self._outputs.get(name, ())) == 1:
                node = 0  # the only call: Keras 2 also counts calls that are not in the config
            try:
                return self._tensor((name, node, index))
            except _NotYetError:
                raise LoadError(
                    f"Functional model: the layer {name!r} has no call {node}."
                ) from None
        ends = [self.ends(value) for value in structure]
        return tuple(ends) if isinstance(structure, tuple) else ends


def _call_numbers(calls):
    """Return {(layer name, call number): index of the call in the config}, where the two differ.

    Keras 3.0 also counts calls that are not in the config, such as a call in another model. If a
    layer has as many calls as there are different numbers of its calls in the config, the numbers
    are matched with the calls in order.

    Args:
        calls: {layer's name: the list of its calls}.
    """
    used = {}
    waiting = list(calls.values())
    while waiting:
        value = waiting.pop()
        history = _history_in(value)
        if history is not None:
            used.setdefault(history[0], set()).add(history[1])
        elif isinstance(value, (list, dict)):
            waiting += value.values() if isinstance(value, dict) else value
    return {
        (name, number): place
        for name, numbers in used.items()
        if len(numbers) == len(calls.get(name, ())) and max(numbers) >= len(numbers)
        for place, number in enumerate(sorted(numbers))
    }


def _history_in(value):
    """Return (layer name, call number, output index) if `value` stands for a tensor, else None."""
    if isinstance(value, dict) and value.get("class_name") == "__keras_tensor__":
        return value["config"]["keras_history"]
    # Keras 2 writes a list [name, call, output], with further arguments in a fourth item.
    if isinstance(value, list) and len(value) in (3, 4) and isinstance(value[0], str):
        return value[:3] if all(type(number) is int for number in value[1:3]) else None
    return None


class _NotYetError(Exception):
    """Raised when a call needs the output of another call that has not run yet."""


def _operation(record):
    if is_operation(record):
        return LoadedOperation(record)
    layer = as_layer(record)
    if not isinstance(layer, Operation):
        raise LoadError(f"Functional model: expected a layer, got {type(layer).__name__}.")
    return layer


def _keywords(node):
    """Return the keyword arguments of a call in the format of Keras 2."""
    return dict(node[0][3]) if node and len(node[0]) > 3 else {}
