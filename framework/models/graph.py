"""FunctionalGraph and CallSequence: a functional model's calls, listed in order and run."""

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.layers.core import InputLayer
from framework.layers.operation import Operation


class CallNode:
    """One call of a layer or an op on KerasTensors."""

    def __init__(self, operation, args, kwargs):
        self.operation, self.args, self.kwargs = operation, args, kwargs
        self.is_input = isinstance(operation, InputLayer)
        self.inputs = []  # those arguments of the call that are KerasTensors
        self.outputs = {}  # maps the index of an output to its KerasTensor
        self.single = True
        self.depth = 0
        self.name = operation.name

    def __repr__(self):
        return f"<Operation name={self.name}>"


class FunctionalGraph:
    """All calls from `inputs` to `outputs` (lists of KerasTensors), in topological order.

    Args:
        inputs: outputs of InputLayers.
        outputs: KerasTensors.
        moved: {id of a KerasTensor: the input that replaces it}, for inputs that are
            inner tensors of another model.

    Raises:
        ValueError: an output depends on an Input outside `inputs`, or two layers share a name.
    """

    def __init__(self, inputs, outputs, moved):
        self.moved = moved
        self._inputs = {id(x) for x in inputs}
        self._nodes = {}  # maps the key of a call to its CallNode
        self._producer = {}  # maps the id of a KerasTensor to the CallNode that computes it
        self._met = {}  # maps the id of an operation to its position in the order of first visits
        self.nodes = []  # all CallNodes in topological order
        for tensor in outputs:
            self._walk(self.tensor(tensor))
        self._find_depths()
        for tensor in inputs:  # inputs that no output uses come first
            node = self._node_of(tensor)
            if node not in self.nodes:
                self.nodes.insert(0, node)
                self._met[id(node.operation)] = -1
        self.operations = self._ordered_operations()
        self._name_ops()
        del self._inputs, self._nodes, self._producer, self._met

    def tensor(self, x):
        """Return the input that replaces `x` according to `moved`, or else `x`."""
        return self.moved.get(id(x), x)

    def _node_of(self, tensor):
        operation, args, kwargs, index = tensor.origin
        key = id(operation) if isinstance(operation, InputLayer) else (id(operation), id(kwargs))
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = CallNode(operation, args, kwargs)
            leaves = nest.flatten((args, kwargs))
            node.inputs = [self.tensor(x) for x in leaves if isinstance(x, KerasTensor)]
        node.outputs[index or 0] = tensor
        node.single = index is None
        self._producer[id(tensor)] = node
        return node

    def _walk(self, output):
        """Visit the calls that `output` depends on, depth first; a stack allows any depth."""
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
        """Push the node that computes `tensor`, unless it was pushed before."""
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
        """Set each node's depth: the length of its longest path to an output."""
        deepest = {}  # maps the id of an operation to the greatest depth of its calls
        for node in reversed(self.nodes):
            node.depth = max(node.depth, deepest.get(id(node.operation), 0))
            deepest[id(node.operation)] = node.depth
            for tensor in node.inputs if not node.is_input else ():
                producer = self._producer[id(tensor)]
                producer.depth = max(producer.depth, node.depth + 1)

    def _ordered_operations(self):
        """Return the layers, and the CallNodes of ops, in Keras's order from inputs to outputs."""
        ranks, operations = {}, {}
        for node in self.nodes:
            operation = node.operation if isinstance(node.operation, Operation) else node
            operations[id(operation)] = operation
            old = ranks.get(id(operation), (0, 0))
            ranks[id(operation)] = (min(old[0], -node.depth), self._met[id(node.operation)])
        ordered = sorted(operations, key=ranks.__getitem__)
        return [operations[key] for key in ordered]

    def _name_ops(self):
        names = {}
        for operation in self.operations:
            if isinstance(operation, Operation):
                if operation.name in names:
                    raise InvalidArgumentError(
                        f'The name "{operation.name}" is used 2 times in the model. All layer '
                        "names should be unique."
                    )
                names[operation.name] = 1
        for operation in self.operations:
            if isinstance(operation, CallNode):
                base, number = operation.name, names.get(operation.name, 0)
                while operation.name in names:  # another layer may already have the next name
                    operation.name, number = f"{base}_{number}", number + 1
                names[base] = max(number, 1)
                names.setdefault(operation.name, 1)


# ---- running -------------------------------------------------------------------------------------


class Slot:
    """Stands for a tensor in a call's arguments: an index into the list of values of a run."""

    __slots__ = ("index",)

    def __init__(self, index):
        self.index = index


class SlottedCall:
    """One call, with the indices of its arguments and outputs in the list of values."""

    __slots__ = ("args", "freed", "inputs", "kwargs", "nested", "operation", "outputs", "single")

    def __init__(self, node, index_of):
        def slotted(leaf):
            return Slot(index_of(leaf)) if isinstance(leaf, KerasTensor) else leaf

        self.operation = node.operation
        self.args = [nest.map_structure(slotted, a) for a in node.args]
        self.kwargs = {k: nest.map_structure(slotted, v) for k, v in node.kwargs.items()}
        flat = all(not nest.is_nested(a) for a in self.args)
        in_kwargs = any(isinstance(leaf, Slot) for leaf in nest.flatten(self.kwargs))
        self.nested = not flat or in_kwargs
        self.inputs = [(k, a.index) for k, a in enumerate(self.args) if isinstance(a, Slot)]
        self.single = node.single
        self.outputs = [(k, index_of(x)) for k, x in node.outputs.items()]
        self.freed = ()

    def run(self, values):
        if self.nested:
            result = self._call_nested(values)
        elif len(self.args) == 1 and self.inputs and not self.kwargs:
            result = self.operation(values[self.inputs[0][1]])
        else:
            args = list(self.args)
            for k, index in self.inputs:
                args[k] = values[index]
            result = self.operation(*args, **self.kwargs)
        if self.single:
            values[self.outputs[0][1]] = result
        else:
            flat = nest.flatten(result)
            for k, index in self.outputs:
                values[index] = flat[k]
        for index in self.freed:
            values[index] = None

    def _call_nested(self, values):
        def filled(leaf):
            return values[leaf.index] if type(leaf) is Slot else leaf

        args = [nest.map_structure(filled, a) for a in self.args]
        kwargs = {k: nest.map_structure(filled, v) for k, v in self.kwargs.items()}
        return self.operation(*args, **kwargs)


class CallSequence:
    """The calls of a graph in order; a run passes values between them in a list."""

    def __init__(self, graph, inputs, outputs):
        indices = {}

        def index_of(tensor):
            return indices.setdefault(id(graph.tensor(tensor)), len(indices))

        self.inputs = [index_of(x) for x in inputs]
        self.calls = [SlottedCall(node, index_of) for node in graph.nodes if not node.is_input]
        self.outputs = [index_of(x) for x in outputs]
        self.size = len(indices)
        self._free_early()

    def _free_early(self):
        """Set `freed` of each call: the values that no later call reads."""
        kept = set(self.outputs)
        for call in reversed(self.calls):
            leaves = nest.flatten((call.args, call.kwargs))
            read = {leaf.index for leaf in leaves if isinstance(leaf, Slot)}
            call.freed = tuple(read - kept)
            kept |= read

    def run(self, inputs):
        """Return the list of outputs for a list of inputs."""
        values = [None] * self.size
        for index, value in zip(self.inputs, inputs):
            values[index] = value
        for call in self.calls:
            call.run(values)
        return [values[index] for index in self.outputs]
