"""Compares an eager call with the graph of an earlier trace, event by event."""

import numpy as np

from framework.compiler.graph_comparison import (
    Difference,
    argument_difference,
    draw_difference,
    equal,
)
from framework.compiler.ir import _EXACT, DrawNode, GraphRecorder, GuardNode, OpNode, Value, _plain
from framework.core.recorders import serials
from framework.core.tensor import Tensor


class AuditRecorder(GraphRecorder):
    """Records one call and finds the first `Difference` from a graph.

    Each tensor is mapped to the corresponding Value of the graph, so that comparing an argument
    takes one lookup. Source lines are looked up only at a difference.

    Args:
        graph: the graph of the earlier trace.
        arguments: the argument tensors of the call.
        given: {id of an argument of the graph: the number that the call passes as this argument}.
    """

    def __init__(self, graph, arguments, given=None):
        super().__init__((), undoable=True)
        self._graph, self.nodes, self._given = graph, graph.nodes, given or {}
        # index of the next node to compare, and the number of nodes
        self._at, self._count = 0, len(graph.nodes)
        self._difference = None
        self._block = None  # the graph's `Block` that the audited call is in, or None
        for value, tensor in zip(graph.arguments, arguments):
            self._corresponds(value, tensor)

    def difference(self, results, structure):
        """Return the first Difference of the call from the graph, given its results, or None."""
        if self._difference is None:
            self._end(results, structure)
        return self._difference

    def _end(self, results, structure):
        graph = self._graph
        if self._at < self._count:
            self._differs("", graph.nodes[self._at].line)
        elif (len(graph.results), graph.structure) != (len(results), structure):
            self._differs("the structure of the function's result")
        elif [v.serial for v, _ in graph.assigned] != list(self.assigned):
            self._differs("the set of variables that the function assigns")
        else:
            ours = [self._value(t) for t in results] + [v for _, v in self.assigned.values()]
            for x, y in zip(graph.ends, ours, strict=True):
                if not self._alike(x, y):
                    position = None if x.node is None else x.node.line
                    self._differs("a constant that the function returns or assigns", position)
                    return

    def _differs(self, what, position=None, guarded=False):
        if self._difference is None:
            self._difference = Difference(what, position, guarded)
        self._at = None  # None ends the comparison, because only the first difference is reported.

    def _differs_here(self, what="", guarded=False):
        self._differs(what, self._line(), guarded)

    def _next(self, kind):
        """Return the next node if its type is `kind`; else record a difference and return None."""
        at = self._at
        if at is None or self._block is not None:
            return None
        if at < self._count and type(node := self.nodes[at]) is kind:
            self._at = at + 1
            return node
        self._differs_here()
        return None

    # ---- comparison of values ----

    def _corresponds(self, value, tensor):
        if tensor.serial is None:
            tensor.serial = next(serials)
        self._values[tensor.serial] = value

    def _is(self, x, arg):
        """Return whether an op's argument in the call corresponds to the argument `x` of a node."""
        if type(arg) is Tensor:
            value = self._values.get(arg.serial)
            if value is x:
                return True
            if value is None:
                return self._holds(x, arg.array)
            return self._alike(x, value)
        if type(arg) is np.ndarray or id(x) in self._given:
            return self._holds(x, arg)
        return type(x) is type(arg) and equal(x, arg)

    def _alike(self, x, value):
        """Return whether two Values are identical or equal constants."""
        return x is value or (value.constant is not None and self._holds(x, value.constant))

    def _holds(self, x, constant):
        """Return whether `x`, a constant or an argument that is a number, equals `constant`."""
        if id(x) in self._given:
            number = self._given[id(x)]
            if type(constant) is not np.ndarray:
                return equal(constant, number)
            return equal(constant, np.asarray(number, x.dtype))
        return type(x) is Value and x.constant is not None and equal(x.constant, constant)

    # ---- recorder events ----

    def op(self, op, args, attrs, outputs, saved):
        # This method is called most often, so `_next` is inlined, and a single output needs no
        # loop.
        at = self._at
        if at is None or self._block is not None:
            return
        node = self.nodes[at] if at < self._count else None
        if type(node) is not OpNode or (node.op is not op and node.op.name != op.name):
            self._differs_here()
            return
        self._at = at + 1
        wanted, ours = node.args, node.outputs
        if len(wanted) != len(args) or len(ours) != len(outputs):
            self._differs_here()
            return
        if (attrs or node.attrs) and not equal(
            node.attrs, {name: _plain(value) for name, value in attrs.items()}
        ):
            self._differs_here(f"an attribute of {op.name}")
            return
        values = self._values
        for x, arg in zip(wanted, args):
            if type(arg) is Tensor and values.get(arg.serial) is x:
                continue
            if not self._is(x, arg):
                self._differs_here(argument_difference(node, x))
                return
        if len(outputs) > 1 or saved or node.saved or op.sized_by_values:
            self._several(node, outputs, saved or ())
            return
        (value,), (tensor,) = ours, outputs
        array = tensor.array
        if value.shape != array.shape or value.dtype is not array.dtype:
            self._several(node, outputs, ())
            return
        if tensor.serial is None:
            tensor.serial = next(serials)
        values[tensor.serial] = value

    def _several(self, node, outputs, saved):
        """Compare all outputs of an op with those of the graph's node."""
        sized, made = node.op.sized_by_values, (*outputs, *saved)
        if len(node.all_outputs) != len(made):
            self._differs_here()
            return
        for value, tensor in zip(node.all_outputs, made):
            if value.shape != tensor.array.shape or value.dtype != tensor.array.dtype:
                self._differs_here(guarded=sized)
                return
            self._corresponds(value, tensor)
        if sized:
            # The shapes that guards check were just compared, so skip these guards.
            self._at += len(made)

    def variable_read(self, variable, tensor):
        serial = variable.serial
        if serial in self.assigned:
            value = self.assigned[serial][1]
        elif serial in self._read:
            value = self._read[serial]
        else:
            value = self._graph.variables.get(serial)
            # The trace did not read this variable, so any use of its value will be a difference.
            if value is None:
                value = Value(tensor.array, variable=variable)
            self._read[serial] = value
            if variable._resizable and (node := self._next(GuardNode)) is not None:
                if node.how != "shape" or node.args[0] is not value:
                    self._differs_here()
                elif node.expected != tensor.array.shape:
                    self._differs_here(guarded=True)
        self._corresponds(value, tensor)

    def variable_assigned(self, variable, value):
        if self._block is None:
            super().variable_assigned(variable, value)

    def random_draw(self, draw, tensor):
        if (node := self._next(DrawNode)) is None:
            return
        (value,) = node.outputs
        if (what := draw_difference(node.draw, draw)) is not None:
            self._differs_here(what)
        elif value.shape != tensor.array.shape or value.dtype != tensor.array.dtype:
            self._differs_here()
        else:
            self._corresponds(value, tensor)

    def value_read(self, tensor, how):
        value = self.known(tensor)
        if value is None or value.fixed or self._at is None:
            return
        if how not in _EXACT or value.size != 1:
            super().value_read(tensor, how)
        elif (node := self._next(GuardNode)) is not None:
            if node.how != how or node.args[0] is not value:
                self._differs_here()
                return
            array = tensor.array.reshape(())
            now = bool(array) if how == "bool" else array
            if not equal(node.expected, now):
                self._differs_here(guarded=True)

    # ---- blocks of nodes ----

    def begin_block(self, key, inputs, variables):
        block = None if self._at is None else self._graph.blocks.get(self._at)
        if block is None or block.key != key or len(block.inputs) != len(inputs):
            return False
        if not all(map(self._is, block.inputs, inputs)):
            return False
        # This reference prevents an in-place update of the old array, so that `undo` can restore
        # the array.
        for variable in variables:
            self._before.setdefault(variable.serial, (variable, variable._array))
        self._block = block
        return True

    def end_block(self):
        block, self._block = self._block, None
        if block is None:
            return
        self._at = block.end
        for variable, value in block.assigned:
            self.assigned[variable.serial] = variable, value
