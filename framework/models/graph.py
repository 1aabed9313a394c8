"""From the KerasTensors of a functional model to a flat list of steps that runs it."""

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.layers.base import Layer
from framework.layers.core import InputLayer


class Node:
    """One call of a layer or op on KerasTensors."""

    def __init__(self, operation, args, kwargs):
        self.operation, self.args, self.kwargs = operation, args, kwargs
        self.is_input = isinstance(operation, InputLayer)
        self.inputs = []  # KerasTensors read
        self.outputs = {}  # place among the call's outputs -> KerasTensor
        self.single = True
        self.depth = 0
        self.name = operation.name

    def __repr__(self):
        return f"<Operation name={self.name}>"


class Graph:
    """All calls on the way from `inputs` to `outputs` (lists of KerasTensors), in an order to run.

    Args:
        inputs: outputs of InputLayers.
        outputs: KerasTensors.
        moved: {id of a KerasTensor: the input that stands for it}, where the model begins inside
            another model.

    Raises:
        ValueError: where an output needs an input that is not given, or two layers share a name.
    """

    def __init__(self, inputs, outputs, moved):
        self.moved = moved
        self._inputs = {id(x) for x in inputs}
        self._nodes = {}  # identity of a call -> Node
        self._maker = {}  # id of a KerasTensor -> Node
        self._met = {}  # id of an operation -> when the walk met it
        self.nodes = []  # inputs of a call before the call
        for tensor in outputs:
            self._walk(self.tensor(tensor))
        self._find_depths()
        for tensor in inputs:  # also those that no output needs
            node = self._node_of(tensor)
            if node not in self.nodes:
                self.nodes.insert(0, node)
                self._met[id(node.operation)] = -1
        self.operations = self._ordered_operations()
        self._name_ops()
        del self._inputs, self._nodes, self._maker, self._met

    def tensor(self, x):
        """`x`, or the input that stands for it."""
        return self.moved.get(id(x), x)

    def _node_of(self, tensor):
        operation, args, kwargs, index = tensor.origin
        key = id(operation) if isinstance(operation, InputLayer) else (id(operation), id(kwargs))
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = Node(operation, args, kwargs)
            leaves = nest.flatten((args, kwargs))
            node.inputs = [self.tensor(x) for x in leaves if isinstance(x, KerasTensor)]
        node.outputs[index or 0] = tensor
        node.single = index is None
        self._maker[id(tensor)] = node
        return node

    def _walk(self, output):
        """Depth first from one output; without recursion, for models of any depth."""
        stack, begun = [], {id(node) for node in self.nodes}
        self._enter(output, None, stack, begun)
        while stack:
            node, waiting = stack[-1]
            tensor = next(waiting, None)
            if tensor is None:
                stack.pop()
                self.nodes.append(node)
            else:
                self._enter(tensor, node, stack, begun)

    def _enter(self, tensor, reader, stack, begun):
        """Put the node that gives `tensor` on the stack, unless it was there."""
        known = tensor.origin is not None
        if not known or (
            isinstance(tensor.origin[0], InputLayer) and id(tensor) not in self._inputs
        ):
            where = f" at operation {reader.operation.name!r}" if reader else ""
            raise InvalidArgumentError(
                f"Graph disconnected: cannot find parent for tensor {tensor}{where}. Every Input "
                "that the outputs depend on must be among the model's inputs."
            )
        node = self._node_of(tensor)
        if id(node) not in begun:
            begun.add(id(node))
            self._met.setdefault(id(node.operation), len(self._met))
            stack.append((node, iter(() if node.is_input else node.inputs)))

    def _find_depths(self):
        """The depth of a call: how many calls lie between it and the outputs, at most."""
        deepest = {}  # of a shared layer
        for node in reversed(self.nodes):
            node.depth = max(node.depth, deepest.get(id(node.operation), 0))
            deepest[id(node.operation)] = node.depth
            for tensor in node.inputs if not node.is_input else ():
                before = self._maker[id(tensor)]
                before.depth = max(before.depth, node.depth + 1)

    def _ordered_operations(self):
        """Layers, and nodes of ops, from the inputs to the outputs in Keras's order."""
        places, found = {}, {}
        for node in self.nodes:
            thing = node.operation if isinstance(node.operation, Layer) else node
            found[id(thing)] = thing
            old = places.get(id(thing), (0, 0))
            places[id(thing)] = (min(old[0], -node.depth), self._met[id(node.operation)])
        ordered = sorted(found, key=places.__getitem__)
        return [found[key] for key in ordered]

    def _name_ops(self):
        names = {}
        for operation in self.operations:
            if isinstance(operation, Layer):
                if operation.name in names:
                    raise InvalidArgumentError(
                        f'The name "{operation.name}" is used 2 times in the model. All layer '
                        "names should be unique."
                    )
                names[operation.name] = 1
        for operation in self.operations:
            if isinstance(operation, Node):
                number = names.get(operation.name, 0)
                names[operation.name] = number + 1
                operation.name += f"_{number}" if number else ""


# ---- running -------------------------------------------------------------------------------------


class Slot:
    """Stands in a call's arguments for the value at a place in the run's list of values."""

    __slots__ = ("place",)

    def __init__(self, place):
        self.place = place


class Step:
    """One call: where its arguments come from in the list of values, and where its outputs go."""

    __slots__ = ("args", "freed", "kwargs", "nested", "operation", "outputs", "places", "single")

    def __init__(self, node, place_of):
        def slotted(leaf):
            return Slot(place_of(leaf)) if isinstance(leaf, KerasTensor) else leaf

        self.operation = node.operation
        self.args = [nest.map_structure(slotted, a) for a in node.args]
        self.kwargs = {k: nest.map_structure(slotted, v) for k, v in node.kwargs.items()}
        flat = all(not nest.is_nested(a) for a in self.args)
        in_kwargs = any(isinstance(leaf, Slot) for leaf in nest.flatten(self.kwargs))
        self.nested = not flat or in_kwargs
        self.places = [(k, a.place) for k, a in enumerate(self.args) if isinstance(a, Slot)]
        self.single = node.single
        self.outputs = [(index, place_of(x)) for index, x in node.outputs.items()]
        self.freed = ()

    def run(self, values):
        if self.nested:
            result = self._call_nested(values)
        elif len(self.args) == 1 and self.places and not self.kwargs:
            result = self.operation(values[self.places[0][1]])
        else:
            args = list(self.args)
            for k, place in self.places:
                args[k] = values[place]
            result = self.operation(*args, **self.kwargs)
        if self.single:
            values[self.outputs[0][1]] = result
        else:
            flat = nest.flatten(result)
            for index, place in self.outputs:
                values[place] = flat[index]
        for place in self.freed:
            values[place] = None

    def _call_nested(self, values):
        def filled(leaf):
            return values[leaf.place] if type(leaf) is Slot else leaf

        args = [nest.map_structure(filled, a) for a in self.args]
        kwargs = {k: nest.map_structure(filled, v) for k, v in self.kwargs.items()}
        return self.operation(*args, **kwargs)


class Program:
    """The steps of a graph, ready to run."""

    def __init__(self, graph, inputs, outputs):
        places = {}

        def place_of(tensor):
            return places.setdefault(id(graph.tensor(tensor)), len(places))

        self.inputs = [place_of(x) for x in inputs]
        self.steps = [Step(node, place_of) for node in graph.nodes if not node.is_input]
        self.outputs = [place_of(x) for x in outputs]
        self.size = len(places)
        self._free_early()

    def _free_early(self):
        """After the last step that reads a value, the list lets go of it."""
        kept = set(self.outputs)
        for step in reversed(self.steps):
            leaves = nest.flatten((step.args, step.kwargs))
            read = {leaf.place for leaf in leaves if isinstance(leaf, Slot)}
            step.freed = tuple(read - kept)
            kept |= read

    def run(self, inputs):
        """The outputs, a list, for a list of inputs."""
        values = [None] * self.size
        for place, value in zip(self.inputs, inputs):
            values[place] = value
        for step in self.steps:
            step.run(values)
        return [values[place] for place in self.outputs]
