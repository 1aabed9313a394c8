"""Removes transposes, which surround each convolution: ONNX has channels first, this package last.

A Transpose is moved behind elementwise nodes until its inverse follows and cancels it.
"""

import numpy as np

from framework.saving.onnx.builder import Node

_UNARY = (
    ("Relu", "Sigmoid", "Tanh", "Exp", "Neg", "Abs", "Sqrt", "Cast", "Erf", "Gelu", "Softplus",
     "HardSigmoid", "Reciprocal", "Clip", "Log", "Floor", "Ceil", "Sign", "Identity", "Not")
)  # fmt: skip
_BROADCAST = ("Add", "Sub", "Mul", "Div", "Min", "Max", "Pow", "Where")


def merged(nodes, initializers, results, names):
    """Return equivalent nodes with fewer transposes, and without unused nodes.

    Args:
        nodes: the Nodes in order; they are changed.
        initializers: {name: array}, which is changed.
        results: the names of the graph's outputs.
        names: a function that makes a name unique.
    """
    done, made = [], {}  # `made` maps an output's name to the Transpose node that computes it
    for node in nodes:
        if node.op_type == "Transpose":
            last = _joined(node, made)
        else:
            last = _moved(node, made, initializers, names, done)
        done.append(last)
        if last.op_type == "Transpose":
            made[last.outputs[0]] = last
    return _without_unused(_renamed(done), results)


def _perm(node):
    return tuple(node.attrs["perm"])


def _joined(node, made):
    """Merge a Transpose with the Transpose before it; a pair that cancels becomes Identity."""
    before, perm = made.get(node.inputs[0]), _perm(node)
    if before is not None:
        perm = tuple(_perm(before)[i] for i in perm)
        node.inputs[0] = before.inputs[0]
        node.attrs["perm"] = perm
    if perm == tuple(range(len(perm))):
        node.op_type, node.attrs = "Identity", {}
    return node


def _moved(node, made, initializers, names, done):
    """Move the Transposes of a node's inputs after the node, if it can compute in their layout."""
    perms = {_perm(made[name]) for name in node.inputs if name in made}
    move = _MOVES.get(node.op_type)
    if move is None or len(perms) != 1:
        return node
    perm = move(node, perms.pop(), made, initializers, names)
    if perm is None:
        return node
    output = node.outputs[0]
    node.outputs = [names(output)]
    done.append(node)
    return _joined(Node("Transpose", [node.outputs[0]], [output], {"perm": perm}), made)


# Each of these functions changes a node so that it reads the inputs of its Transpose nodes. It
# returns the permutation of the Transpose that must follow the node, or None if the node cannot
# compute in this layout.


def _elementwise(node, perm, made, initializers, names):
    for name in node.inputs:
        array = initializers.get(name)
        if name not in made and (array is None or array.ndim > len(perm)):
            return None
    node.inputs = [
        made[n].inputs[0] if n in made else _turned(n, perm, initializers, names)
        for n in node.inputs
    ]
    return perm


def _concat(node, perm, made, initializers, names):
    if any(name not in made for name in node.inputs):
        return None
    node.inputs = [made[name].inputs[0] for name in node.inputs]
    node.attrs["axis"] = perm[node.attrs["axis"]]
    return perm


def _pad(node, perm, made, initializers, names):
    pads = initializers.get(node.inputs[1])
    if pads is None or node.inputs[0] not in made:
        return None
    order = np.argsort(perm)
    turned = pads.reshape(2, -1)[:, order].reshape(-1)
    node.inputs = [
        made[node.inputs[0]].inputs[0],
        _new(turned, node.inputs[1], initializers, names),
    ]
    return perm


def _reduce(node, perm, made, initializers, names):
    axes = initializers.get(node.inputs[1])
    if axes is None or node.inputs[0] not in made:
        return None
    turned = np.array([perm[i] for i in axes], np.int64)
    node.inputs = [
        made[node.inputs[0]].inputs[0],
        _new(turned, node.inputs[1], initializers, names),
    ]
    if node.attrs["keepdims"]:
        return perm
    kept = [axis for axis in perm if axis not in turned.tolist()]
    return tuple(sorted(kept).index(axis) for axis in kept)


def _new(array, name, initializers, names):
    """Add an initializer and return its name, which is derived from `name`."""
    new = names(name)
    initializers[new] = np.ascontiguousarray(array)
    return new


_MOVES = {
    **dict.fromkeys((*_UNARY, *_BROADCAST), _elementwise),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), _reduce),
    "Concat": _concat, "Pad": _pad,
}  # fmt: skip


def _turned(name, perm, initializers, names):
    """Transpose an initializer so that it broadcasts in the new layout; return the new name."""
    array = initializers[name]
    if array.size == 1:
        return name
    wide = array.reshape((1,) * (len(perm) - array.ndim) + array.shape)
    return _new(wide.transpose(np.argsort(perm)), name, initializers, names)


def _renamed(nodes):
    """Remove Identity nodes; nodes that read their outputs read their inputs instead."""
    new, kept = {}, []
    for node in nodes:
        rename([node], new)
        if node.op_type == "Identity":
            new[node.outputs[0]] = node.inputs[0]
        else:
            kept.append(node)
    return kept, new


def rename(nodes, new):
    """Rename values in nodes and their bodies; `new` maps old names to new names."""
    for node in nodes:
        node.inputs = [new.get(n, n) for n in node.inputs]
        node.outputs = [new.get(n, n) for n in node.outputs]
        if "body" in node.attrs:
            rename(node.attrs["body"].nodes, new)


def identity(source, name):
    """Return a node that gives a value a second name."""
    return Node("Identity", [source], [name], {})


def _without_unused(kept_and_new, results):
    """Remove nodes that no result needs; return (nodes, {result: the name of its value})."""
    nodes, new = kept_and_new
    found = {name: new.get(name, name) for name in results}
    used, kept = set(found.values()), []
    for node in reversed(nodes):
        if used.intersection(node.outputs):
            used.update(reads(node))
            kept.append(node)
    return kept[::-1], found


def reads(node):
    """Return the names that a node reads, also inside its body."""
    names = set(node.inputs)
    body = node.attrs.get("body")
    if body is not None:
        for inner in body.nodes:
            names |= reads(inner)
    return names
