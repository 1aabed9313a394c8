"""Runs of elementwise steps of one shape, gathered into groups that are computed as one."""

import numpy as np

from framework.compiler.graph import Graph, OpStep


class Group:
    """Elementwise steps of one shape, in order, each reading what is there before the group.

    `inputs` are the Values from outside, `outputs` those of its own that are needed outside.
    """

    __slots__ = ("inputs", "outputs", "shape", "steps")
    saved = ()

    def __init__(self, shape):
        self.shape = shape
        self.steps, self.inputs, self.outputs = [], (), ()

    @property
    def values(self):
        return self.inputs

    @property
    def made(self):
        return self.outputs

    @property
    def layer(self):
        return self.steps[0].layer

    def finish(self, uses):
        """Find out what comes from outside and what is needed there; `uses` counts all readers."""
        inside = {id(v) for s in self.steps for v in s.made}
        read, inputs = {}, {}
        for value in [v for s in self.steps for v in s.values]:
            read[id(value)] = read.get(id(value), 0) + 1
            if id(value) not in inside:
                inputs[id(value)] = value
        made = [v for s in self.steps for v in s.made]
        self.inputs = tuple(inputs.values())
        self.outputs = tuple([v for v in made if uses.get(id(v), 0) > read.get(id(v), 0)])


def grouped(graph, fits):
    """The graph with groups in the place of elementwise steps, in an order that may be another.

    Args:
        fits: `fits(step)` says whether an elementwise step may be in a group.

    A group stays open, to be joined by later steps of its shape that read what it makes or what it
    reads, until a step outside needs something of it. No open group depends on another.
    """
    steps, opened, home = [], [], {}  # home: id of a Value -> the open group that makes it
    uses = graph.uses()

    def close(group):
        opened.remove(group)
        group.finish(uses)
        steps.extend([group] if len(group.steps) > 1 else group.steps)
        for value in [v for s in group.steps for v in s.made]:
            home.pop(id(value), None)

    for step in graph.steps:
        needs = {id(g): g for g in [home.get(id(v)) for v in step.values] if g is not None}
        if type(step) is not OpStep or not _elementwise(step) or not fits(step):
            for group in needs.values():
                close(group)
            steps.append(step)
            continue
        shape = step.outputs[0].shape
        chosen = [g for g in needs.values() if g.shape == shape]
        if not chosen and not needs:
            chosen = [g for g in opened if g.shape == shape and _shares(g, step)]
        target = chosen[-1] if chosen else None
        for group in needs.values():
            if group is not target:
                close(group)
        if target is None:
            target = Group(shape)
            opened.append(target)
        target.steps.append(step)
        home[id(step.outputs[0])] = target
    for group in opened:
        close(group)
    return Graph(graph.arguments, steps, graph.assigned, graph.results)


def _elementwise(step):
    if step.op.kind != "elementwise" or not step.op.plain or step.attrs or not step.values:
        return False
    (made,) = step.outputs
    return made.size > 1 and made.dtype.kind in "fb" and made.dtype.itemsize in (1, 4, 8)


def _shares(group, step):
    """Whether both read one array of their shape."""
    read = {id(v) for s in group.steps for v in s.values if v.shape == group.shape}
    return any(id(v) in read for v in step.values)


def ufunc_of(op):
    """The ufunc that is an op's forward, else None."""
    for candidate in (op.forward, getattr(op.forward, "ufunc", None)):
        if isinstance(candidate, np.ufunc):
            return candidate
    return None
