"""Runs of elementwise steps of one shape, gathered into groups that are computed as one."""

import numpy as np

from framework.compiler.graph import Graph, OpStep


class Group:
    """Elementwise steps of one shape, in order, and sums of what they make.

    `inputs` are the Values from outside, all there before the group; `outputs` those of its own
    that are needed outside.
    """

    __slots__ = ("inputs", "outputs", "shape", "steps", "summed")
    saved = ()

    def __init__(self, shape):
        self.shape = shape
        self.steps, self.inputs, self.outputs = [], (), ()
        self.summed = set()  # ids of the Values that are sums

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
        made = [v for s in self.steps for v in s.made]
        inside = {id(v) for v in made}
        read, inputs = {}, {}
        for value in [v for s in self.steps for v in s.values]:
            read[id(value)] = read.get(id(value), 0) + 1
            if id(value) not in inside:
                inputs[id(value)] = value
        self.inputs = tuple(inputs.values())
        self.outputs = tuple([v for v in made if uses.get(id(v), 0) > read.get(id(v), 0)])


def grouped(graph, fits, sums=False):
    """The graph with groups in the place of elementwise steps, in an order that may be another.

    Args:
        fits: `fits(step)` says whether an elementwise step, or a sum, may be in a group.
        sums: whether a sum of what a group makes may be part of it.

    A group stays open, to be joined by later steps of its shape that read what it makes or what it
    reads, until a step outside needs something of it. No open group depends on another.
    """
    return Graph(graph.arguments, _Grouping(graph, fits, sums).steps, graph.assigned, graph.results)


class _Grouping:
    def __init__(self, graph, fits, sums):
        self.steps, self._opened = [], []
        self._home = {}  # id of a Value -> the open group that makes it
        self._uses = graph.uses()
        for step in graph.steps:
            elementwise = type(step) is OpStep and _elementwise(step) and fits(step)
            if elementwise:
                self._elementwise(step)
            elif not (sums and self._sum(step, fits)):
                self._close(self._needed(step))
                self.steps.append(step)
        self._close(list(self._opened))

    def _needed(self, step):
        """The open groups that make something the step reads."""
        found = [self._home.get(id(v)) for v in step.values]
        return list({id(g): g for g in found if g is not None}.values())

    def _elementwise(self, step):
        needs, shape = self._needed(step), step.outputs[0].shape
        reads = {id(v) for v in step.values}
        joinable = [g for g in needs if g.shape == shape and not reads & g.summed]
        if not needs:
            joinable = [g for g in self._opened if g.shape == shape and _shares(g, step)]
        target = joinable[-1] if joinable else None
        self._close([g for g in needs if g is not target])
        if target is None:
            target = Group(shape)
            self._opened.append(target)
        self._join(target, step)

    def _sum(self, step, fits):
        """Take a sum into the group that makes what is summed; False if that cannot be."""
        if type(step) is not OpStep or not is_sum(step) or not fits(step):
            return False
        (x,) = step.values
        group = self._home.get(id(x))
        if group is None or group.shape != x.shape or id(x) in group.summed:
            return False
        if any(is_sum(s) and s.values[0] is x for s in group.steps):
            return False  # one sum of a value
        group.summed.add(id(step.outputs[0]))
        self._join(group, step)
        return True

    def _join(self, group, step):
        group.steps.append(step)
        self._home[id(step.outputs[0])] = group

    def _close(self, groups):
        for group in groups:
            self._opened.remove(group)
            group.finish(self._uses)
            self.steps.extend([group] if len(group.steps) > 1 else group.steps)
            for value in [v for s in group.steps for v in s.made]:
                del self._home[id(value)]


def _elementwise(step):
    if step.op.kind != "elementwise" or not step.op.plain or not step.values:
        return False
    (made,) = step.outputs
    return made.size > 1 and made.dtype.kind in "fb" and made.dtype.itemsize in (1, 4, 8)


def is_sum(step):
    """ "all", "leading" or "last": over which axes a step adds up floats; None if it does not."""
    if step.op.name not in ("sum_to", "reduce_sum", "reduce_mean") or len(step.values) != 1:
        return None
    (x,), (y,) = step.values, step.outputs
    if x.dtype.kind != "f" or x.dtype.itemsize < 4 or x.dtype != y.dtype or not x.size:
        return None
    if step.op.name == "sum_to":
        if y.shape == ():
            return "all"
        lead = len(x.shape) - len(y.shape)
        return "leading" if lead and x.shape[lead:] == y.shape else None
    axis, keepdims = step.attrs["axis"], step.attrs["keepdims"]
    axes = len(x.shape)
    if len(axis) == axes:
        return "all" if not keepdims else None
    if axis == tuple(range(len(axis))):
        return "leading" if len(axis) else None
    return "last" if axis == tuple(range(axes - len(axis), axes)) and len(axis) else None


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
