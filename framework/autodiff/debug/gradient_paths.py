"""A tape's record and notes as a graph of tensors, and the ops at which its paths end."""

from typing import NamedTuple

import numpy as np

from framework.autodiff import notes
from framework.autodiff.debug.explanation import where
from framework.autodiff.debug.recorded_ops import Layers, steps


def label(variable):
    """Return a variable's path or name, quoted."""
    return repr(getattr(variable, "path", None) or variable.name)


class Link(NamedTuple):
    """An edge from an input of an op to an output, both given by the tensors' serial numbers.

    `output` is None if no gradient flows back through the op: the path ends here.
    """

    op: object
    input: int
    output: object
    layer: object
    line: str = ""


def only_blocked(links, mine, targets):
    """Return whether every path to the targets passes an op without derivative."""
    through = [link for link in links if link.output is not None]
    return forward(through, mine).isdisjoint(targets)


def links_of(tape):
    """Return a tape's recorded edges; after a backward pass, only those without a cotangent."""
    layers = Layers(tape)
    found = []
    for step in steps(tape):
        for serial, reads in step.edges:
            blocked = _to_integers(step.op, reads)
            outputs = (None,) if blocked else step.outputs
            found += [Link(step.op, serial, o, step.layer, step.line) for o in outputs]
    layer = None
    for note in tape._notes:
        kind, index, what, serials = note[:4]
        if kind is notes.LAYER:
            layer = what
        elif kind is notes.CUT:
            found += [Link(what, s, None, layer) for s in serials]
        elif kind is notes.BLOCKED:
            found += [Link(what, s, None, layers.at(index)) for s in serials]
        elif kind is notes.UNMET:
            place = layers.at(index)
            found += [Link(what, s, o, place) for s in serials for o in note[4]]
    return found


def _to_integers(op, reads):
    """Return whether the op casts from or to a dtype that has no gradients, such as int32."""
    if op.name != "cast":
        return False
    kinds = [np.dtype(reads[name]).kind for name in ("x_dtype", "dtype") if name in reads]
    return any(kind not in "fcV" for kind in kinds)


def forward(links, start):
    """Return the serials `start` and all their descendants."""
    after = {}
    for link in links:
        after.setdefault(link.input, []).append(link.output)
    found, open_ends = set(start), list(start)
    while open_ends:
        for output in after.get(open_ends.pop(), ()):
            if output is not None and output not in found:
                found.add(output)
                open_ends.append(output)
    return found


def ends_of(tape, links, reached):
    """Return {reason: remedy} for the ops and assignments at which paths from the source end."""
    found = {}
    for link in links:
        if link.output is None and link.input in reached:
            found.setdefault(*end_of(link.op, link.layer, link.line))
    layer = None
    for kind, _, what, serials, *_ in tape._notes:
        if kind is notes.LAYER:
            layer = what
        elif kind is notes.ASSIGNED and not reached.isdisjoint(serials):
            found.setdefault(*assigned_to(what, layer, ""))
        elif kind is notes.READ and what in LEAVING and not reached.isdisjoint(serials):
            found.setdefault(*left_by(what, layer, ""))
    return found


LEAVING = {
    "numpy": ".numpy()", "__array__": "np.asarray()", "item": ".item()", "tolist": ".tolist()",
    "float": "float()", "int": "int()", "complex": "complex()", "index": "an index",
    "bool": "bool()", "convert": "a list whose values tf.constant, or a variable, copied",
}  # fmt: skip
"""The code by which a user reads a tensor's value, for each name in a `value_read` event."""


def left_by(how, layer, line):
    remedy = "compute with tf functions, or NumPy functions called on the tensor itself"
    if how == "convert":
        remedy = "make the tensor by tf.stack or tf.convert_to_tensor, which gradients go through"
    return f"the value left the tape through {LEAVING[how]}{where(layer, line)}", remedy


def assigned_to(variable, layer, line):
    """Return (reason, remedy) for a value that was assigned to a variable."""
    place = where(layer, line)
    reason = f"the value went into the variable {label(variable)} by assign(){place}, and no "
    remedy = "compute with the tensor itself, or take the gradient with respect to the variable"
    return f"{reason}gradient goes back through an assignment", remedy


def end_of(op, layer, line, dtype=None):
    """Return (why no gradient flows back through this op, the remedy)."""
    place = where(layer, line)
    if op.name == "stop_gradient":
        return f"stop_gradient{place} cuts the path", "remove stop_gradient, or use another path"
    if op.name == "cast":
        to = "an integer or boolean dtype" if dtype is None else str(dtype)
        return (
            f"a cast to {to}{place} has no derivative",
            "keep a floating dtype between the source and the target",
        )  # fmt: skip
    remedy = _REMEDIES.get(op.name, "use a differentiable op instead")
    return f"the op {op.name}{place} has no derivative", remedy


_REMEDIES = {
    "argmax": "use softmax, or work with the values and not with their positions",
    "argmin": "use softmax of the negative, or work with the values and not with their positions",
    "round": "leave the rounding out while training, or pass its gradient through by "
    "tf.grad_pass_through",
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
                    "use a smooth function such as sigmoid(a - b) instead of the comparison"),
}  # fmt: skip


def joined(ends):
    """Combine the ends of several paths into one reason and one remedy."""
    ends = list(ends.items())[:3]
    return " and ".join(reason for reason, _ in ends), ends[0][1]
