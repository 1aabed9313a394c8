"""Rematerialization: a fusion group computes a value again instead of reading it from memory.

The gradient of `x * sigmoid(x)` reads x and sigmoid(x). Without this pass, sigmoid(x) stays in
memory from the forward to the backward pass: a fifth of what a training step of EfficientNet needs.
Computing it again takes no longer than writing it to memory and reading it back. The results are
bit-identical, because both loops compute the op by the same code.
"""

from framework.compiler.fusion import FusionGroup, has_row_length, is_sum
from framework.compiler.ir import Graph, OpNode, Value

# A recomputed value has at least this many bytes; smaller values are often still in the cache.
_LEAST = 1 << 20


def rematerialized(graph):
    """Return the graph with large values computed again by the only other group that reads them."""
    readers, ends = _readers(graph), {id(value) for value in graph.ends}
    groups = {id(node): node for node in graph.nodes if type(node) is FusionGroup}
    for place in list(groups):
        for value in groups[place].outputs:
            found = readers.get(id(value), ())
            if id(value) in ends or len(found) != 1 or found[0] not in groups:
                continue
            maker, reader = groups[place], groups[found[0]]
            node = _node_of(maker, value)
            if _can_repeat(node, value, reader):
                groups[place] = _without_output(maker, node, value)
                groups[found[0]] = _repeating(reader, node, value)
    nodes = [groups.get(id(node), node) for node in graph.nodes]
    return Graph(graph.arguments, nodes, graph.assigned, graph.results)


def _readers(graph):
    """Return {id of a Value: the ids of the nodes and groups that read it}."""
    found = {}
    for node in graph.nodes:
        for value in {id(v): v for v in node.inputs}.values():
            found.setdefault(id(value), []).append(id(node))
    return found


def _node_of(group, value):
    return next(node for node in group.nodes if value in node.all_outputs)


def _can_repeat(node, value, reader):
    """Return whether a group can compute a value by this node from arrays that it reads anyway."""
    if value.shape != reader.shape or value.nbytes < _LEAST:
        return False
    if is_sum(node) or id(value) in reader.late:
        return False
    read = {id(v) for v in reader.inputs}
    known = all(id(v) in read or v.constant is not None for v in node.inputs)
    return known and reader.has_room([node]) and has_row_length(reader, node)


def _without_output(group, node, value):
    """Return the group without the output `value`, and without its node if no other reads it."""
    inner = any(v is value for other in group.nodes for v in other.inputs)
    nodes = [other for other in group.nodes if inner or other is not node]
    return _changed(group, nodes, [v for v in group.outputs if v is not value])


def _repeating(group, node, value):
    """Return the group with a copy of `node`, which computes the input `value`."""
    again = Value(value)
    nodes = [_node(node, node.args, (again,))]
    for other in group.nodes:
        if any(v is value for v in other.inputs):
            args = [again if a is value else a for a in other.args]
            other = _node(other, args, other.outputs)  # noqa: PLW2901
        nodes.append(other)
    return _changed(group, nodes, group.outputs)


def _changed(group, nodes, outputs):
    """Return a copy of the group with these nodes and outputs."""
    new = FusionGroup(group.shape)
    new.late = group.late
    for node in nodes:
        new.join(node)
    made = {id(v) for node in nodes for v in node.all_outputs}
    read = {id(v): v for node in nodes for v in node.inputs if id(v) not in made}
    new.inputs, new.outputs = tuple(read.values()), tuple(outputs)
    return new


def _node(node, args, outputs):
    new = OpNode(node.op, args, node.attrs, outputs, node.saved, node.layer)
    for value in new.all_outputs:
        value.node = new
    return new
