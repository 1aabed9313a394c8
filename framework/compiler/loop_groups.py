"""A group of elementwise steps as one Numba loop."""

import math

from framework.compiler import loops
from framework.compiler.fusion import is_sum
from framework.compiler.graph import Value


def fits_loop(step):
    """Whether a step may be part of a loop: its op has a form there, and its operands a layout."""
    if is_sum(step):
        return True
    (output,) = step.outputs
    dtypes = [a.dtype if type(a) is Value else type(a) for a in step.args]
    if not all(type(a) is Value or type(a) in (int, float, bool) for a in step.args):
        return False
    if any(loops.layout_of(v.shape, output.shape) is None for v in step.values):
        return False
    return loops.supports(step.op.name, dtypes, step.attrs) and not loops.is_slow(step.op.name)


class LoopGroup:
    """The loop of a group.

    Args:
        group: a Group of steps that `fits_loop`.
        in_place: {id of an output: the input that lies where it is written}.

    It is called with `inputs`, then `outputs`, then `sums`: Values, in order.
    """

    def __init__(self, group, in_place):
        names = {id(v): f"a{i}" for i, v in enumerate(group.inputs)}
        operands = [
            loops.Operand(
                names[id(v)], v.dtype, loops.layout_of(v.shape, group.shape), len(v.shape)
            )
            for v in group.inputs
        ]
        steps, sums, self.counts = [], {}, {}
        self.sums = []
        for step in group.steps:
            (made,) = step.outputs
            args = [names[id(a)] if type(a) is Value else a for a in step.args]
            if is_sum(step):
                sums.setdefault(args[0], is_sum(step))
                self.sums.append(made)
                if step.op.name == "reduce_mean":
                    (x,) = step.values
                    self.counts[id(made)] = math.prod(x.shape) // max(1, math.prod(made.shape))
                continue
            names[id(made)] = f"v{len(steps)}"
            steps.append((names[id(made)], step.op.name, tuple(args), step.attrs))
        self.inputs = group.inputs
        stored = [v for v in group.outputs if not any(v is s for s in self.sums)]
        self.outputs = [v for v in stored if id(v) not in in_place]
        stores = {
            names[id(v)]: names[id(in_place[id(v)])] if id(v) in in_place else None for v in stored
        }
        ndim = [len(v.shape) for v in (*self.outputs, *self.sums)]
        self.loop = loops.build(loops.Program(operands, steps, stores, sums, ndim))


def work(group):
    """About how long a group takes as NumPy calls, in seconds: what a loop could save."""
    return sum(
        0.5e-6 + 1e-10 * sum(v.nbytes for v in (*step.values, *step.made)) for step in group.steps
    )
