"""Partition of a joint graph of a function and its gradients into forward and backward pass.

The results of a `JointGraph` are those of the function, then gradients of the sources, once for
each set of results that can have cotangents.
"""

from framework.compiler.ir import Graph, OpNode, Value
from framework.compiler.passes import optimized, without_dead
from framework.core.op import table
from framework.core.tensor import Tensor


class JointGraph(Graph):
    """The graph of a function and its gradients.

    Args:
        began: the number of nodes of the function itself, which come first.
        count: the number of results of the function itself.
        seeds: the Values of the cotangents, the last arguments.
        gradients: {which results have cotangents, as bools: [index of the gradient among the
            results or None, for each source]}.
        facts: further data that must be equal in two traces.
    """

    def __init__(self, graph, began, count, seeds, gradients, facts):
        super().__init__(graph.arguments, graph.nodes, graph.assigned, graph.results)
        self.began, self.count, self.seeds, self.gradients = began, count, seeds, gradients
        self.structure, self.blocks = graph.structure, graph.blocks
        self.facts = began, count, gradients, facts


class Partition:
    """The forward and backward pass of a `JointGraph`.

    The results of `forward` are those of the function, then the saved values that `backward` and
    `replay` take as `given`.

    Args:
        joint: the graph.
        differentiated: the indices of the results that have gradients.
        sources: the Values to which gradients refer: arguments, and variables before the call.
    """

    def __init__(self, joint, differentiated, sources):
        own = {id(v) for node in joint.nodes[: joint.began] for v in node.all_outputs}
        whole = optimized(joint)
        first = _forward_nodes(whole, own, joint.count)
        in_first = {id(s) for s in first}
        self._second = [s for s in whole.nodes if id(s) not in in_first]
        results, self._found = whole.results[: joint.count], whole.results
        self._gradients, self._seeds = joint.gradients, joint.seeds
        # `replay` repeats the traced ops, because optimized graphs contain ops without derivatives.
        self._ends = [joint.results[place] for place in differentiated]
        ops = [s for s in joint.nodes[: joint.began] if type(s) is OpNode]
        self._replayed = without_dead(Graph([], ops, [], self._ends)).nodes
        self._source_places = {id(v): place for place, v in enumerate(sources)}
        self._given = self._needed(joint)
        arguments = joint.arguments[: len(joint.arguments) - len(joint.seeds)]
        given = [v for v, _ in self._given.values()]
        self.forward = Graph(arguments, first, whole.assigned, [*results, *given])

    def _needed(self, joint):
        """Return {id: (Value, index)} of the values saved by the forward pass."""
        known = {id(v) for s in self._second for v in s.all_outputs} | {id(v) for v in joint.seeds}
        read = [v for s in self._second for v in s.inputs]
        read += [v for v in self._found[joint.count :] if id(v) not in known]
        again = {id(v) for s in self._replayed for v in s.all_outputs} | set(self._source_places)
        more = [v for s in self._replayed for v in s.inputs] + self._ends
        read = [v for v in read if id(v) not in known] + [v for v in more if id(v) not in again]
        found = {id(v): v for v in read if v.constant is None}
        return {key: (value, place) for place, (key, value) in enumerate(found.items())}

    def backward(self, which, needed):
        """Return (graph of the backward pass, for each source whether it has a gradient).

        Args:
            which: for each result with gradients whether it has a cotangent.
            needed: for each source whether its gradient is needed.
        """
        places = self._gradients[which]
        there = tuple([n and p is not None for n, p in zip(needed, places, strict=True)])
        results = [self._found[p] for p, is_there in zip(places, there, strict=True) if is_there]
        nodes = without_dead(Graph([], self._second, [], results)).nodes
        seeds = [v for v, asked in zip(self._seeds, which, strict=True) if asked]
        outside = [*(v for v, _ in self._given.values()), *seeds]
        # Copy the Values, because code for both passes may be generated at the same time.
        new = {id(v): Value(v, argument=place) for place, v in enumerate(outside)}
        arguments = list(new.values())
        copied = []
        for node in nodes:
            args = [_copy(a, new) if type(a) is Value else a for a in node.args]
            copied.append(OpNode(node.op, args, node.attrs, node.outputs, node.saved, node.layer))
            new.update((id(v), _made(v, copied[-1])) for v in node.all_outputs)
            copied[-1].outputs = tuple([new[id(v)] for v in node.outputs])
            copied[-1].saved = tuple([new[id(v)] for v in node.saved])
        return Graph(arguments, copied, [], [_copy(v, new) for v in results]), there

    def replay(self, sources, given):
        """Repeat the ops of the function and return the results that have gradients.

        Args:
            sources: tensors for the sources.
            given: the arrays that the forward pass saved.
        """
        tensors = {}

        def tensor(value):
            found = tensors.get(id(value))
            if found is None:
                if id(value) in self._source_places:
                    found = sources[self._source_places[id(value)]]
                elif value.constant is not None:
                    found = Tensor(value.constant)
                else:
                    found = Tensor(given[self._given[id(value)][1]])
                tensors[id(value)] = found
            return found

        for node in self._replayed:
            args = [tensor(a) if type(a) is Value else a for a in node.args]
            made = node.op(*args, **node.attrs)
            made = (made,) if node.op.outputs == 1 else made
            tensors.update((id(v), t) for v, t in zip(node.outputs, made, strict=True))
        return tuple([tensor(v) for v in self._ends])


def _forward_nodes(whole, own, count):
    """Return the nodes that compute Values of `own`, and all nodes on which these depend.

    A pass can add a node whose outputs are not in `own`, such as GELU's derivative. It belongs to
    the forward pass if the function's results or assigned values are computed from it.

    Args:
        whole: the optimized joint graph.
        own: ids of the Values that the function itself computes in the trace.
        count: the number of results of the function itself.
    """
    needed = {id(v) for v in whole.results[:count]} | {id(v) for _, v in whole.assigned}
    found = []
    for node in reversed(whole.nodes):
        outputs = {id(v) for v in node.all_outputs}
        if type(node) is not OpNode or outputs & needed or outputs & own:
            found.append(node)
            needed.update(id(v) for v in node.inputs)
    return found[::-1]


def _copy(value, new):
    if id(value) not in new:  # A Value that has not been copied yet is a constant.
        new[id(value)] = Value(value, constant=value.constant)
    return new[id(value)]


def _made(value, node):
    made = Value(value)
    made.node = node
    return made


def why_not(nodes):
    """Return the reason why a plan cannot differentiate these nodes, or None."""
    for node in nodes:
        if type(node) is OpNode and table.get(node.op.name) is not node.op:
            return f"{node.op.name} has a custom gradient"
    return None


def why_not_gradients(nodes):
    """Return the reason why a plan cannot contain this backward pass, or None."""
    if any(type(s) is not OpNode for s in nodes):
        return "the backward pass reads values or draws random numbers"
    return None
