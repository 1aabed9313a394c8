"""What threads share in plans of NumPy calls without Numba, as tasks for `matmul.several`: a large
product with what follows it element by element, or a kernel that works row by row.
"""

from typing import NamedTuple

import numpy as np

from framework.compiler.fusion import ufunc_of
from framework.compiler.ir import OpNode, Value
from framework.core.op import Op, no_derivative, table
from framework.kernels import gelu, matmul, rows

_UFUNCS = (np.add, np.multiply)  # either operand may come first


class RowKernel(NamedTuple):
    """An op that works by rows: its form for that, how many arguments and outputs, the first ones,
    have those rows, and whether threads share it at a size."""

    by_rows: object
    arguments: int
    outputs: int
    shares: object
    dtypes: str = "fd"


_KERNELS = {
    "layer_norm": RowKernel(rows.layer_norm_by_rows, 1, 1, rows.shares),
    "layer_norm_back": RowKernel(rows.layer_norm_back_by_rows, 2, 1, rows.shares),
    "gelu_with_slope": RowKernel(gelu.with_slope_by_rows, 1, 2, gelu.shared, "f"),
}


def _products(*arrays, lanes, made):
    """The results of some lanes."""
    given, outs = iter(arrays), [np.empty(shape, dtype) for shape, dtype in made]
    free = iter(outs)

    def operand(place):
        return next(given) if place is None else outs[place[0]].reshape(place[1])

    def task(spec):
        operands = [operand(place) for place in spec.places]
        own = [next(free) for _ in range(spec.count)]
        if spec.kernel is not None:
            return spec.kernel(*operands, *own, **dict(spec.attrs))
        return spec.product(operands, *own)

    matmul.several([[task(spec) for spec in lane] for lane in lanes])
    return tuple(outs)


class TaskSpec(NamedTuple):
    """A task as an attribute of its step.

    Args:
        places: of each operand: None for the next argument of the step, or (the number of one of
            its outputs, the shape in which it is seen).
        count: how many outputs it has.
        kernel, attrs: its form by rows; or None and
        turned: whether either factor of the product is transposed, and
        following: what follows: (a ufunc, the same of the product that is its operand, or None).
    """

    places: tuple
    count: int
    kernel: object
    attrs: tuple
    turned: tuple
    following: tuple

    def product(self, operands, out):
        """The product as `several` takes it."""
        given = iter(operands)
        a, b = factors(given, self.turned)
        steps = [(u, next(given) if t is None else factors(given, t)) for u, t in self.following]
        return a, b, out, steps

    def text(self, operands, out):
        """The source of that, of those of the operands and of `out`."""
        given = iter(operands)
        pair = lambda turned: ", ".join([next(given) + ".T" * t for t in turned])
        factors = pair(self.turned)
        operands = [(u, next(given) if t is None else f"({pair(t)})") for u, t in self.following]
        steps = "".join([f"({u.__name__}, {x}), " for u, x in operands])
        return f"({factors}, {out}, ({steps}))"


def factors(given, turned):
    """The next two, transposed as said."""
    a, b = (next(given).T if t else next(given) for t in turned)
    return a, b


# Of plans alone: no tape ever sees it. Its arguments are those of the tasks, one after the other,
# without what the tasks of a lane make for one another.
products = Op("products", _products, no_derivative, outputs=None, listed=False, fresh=True)


class ProductTasks:
    """The products of a graph, each with what follows it.

    `by_end`: {id of a task's last step: the task}. `absorbed`: ids of all steps of tasks.
    """

    def __init__(self, graph):
        self.absorbed, self.by_end = set(), {}
        self._uses = graph.uses()
        self._maker = {id(v): step for step in graph.steps for v in step.made}
        self._reader = {id(v): step for step in graph.steps for v in step.values}
        for step in graph.steps:
            if id(step) in self.absorbed:
                continue
            if _is_large(step):
                self._follow(ProductTask(step))
            elif _is_by_rows(step):
                self.by_end[id(step)] = RowTask(step)

    def _follow(self, task):
        steps = [task.step]
        while self._is_alone(task.output):
            taken = self._taken(task, self._reader[id(task.output)])
            if not taken:
                break
            steps += taken
        while steps[-1].op is table["reshape"]:  # another name for what the task makes
            (task.output,) = steps.pop().values
        self.absorbed.update(map(id, steps))
        self.by_end[id(steps[-1])] = task

    def _is_alone(self, value):
        """Whether one step reads the value, and nothing else."""
        return self._uses.get(id(value)) == 1 and id(value) in self._reader

    def _taken(self, task, step):
        """The steps that the task can do too, where this one reads its result."""
        if type(step) is not OpNode or id(step) in self.absorbed:
            return []
        now, made = task.output, step.outputs[0]
        if step.op is not table["reshape"]:
            if ufunc_of(step.op) not in _UFUNCS or step.attrs or made.shape != now.shape:
                return []
            other = next((a for a in step.args if a is not now), None)
            if type(other) is not Value or other.dtype != now.dtype:
                return []
            way = self._way_from_product(task, other)
            if not way and not task.goes_along(other):
                return []
            task.add(ufunc_of(step.op), other, way[:1])
            task.output = made
            return [*way, step]
        task.output = made
        return [step]

    def _way_from_product(self, task, value):
        """A product of the task's size and what makes the value of it, no more than reshapes."""
        way = []
        while self._is_alone(value):
            step = self._maker.get(id(value))
            if type(step) is not OpNode or id(step) in self.absorbed:
                break
            way.insert(0, step)
            if _is_large(step):
                return way if step.outputs[0].shape == task.shape else []
            if step.op is not table["reshape"]:
                break
            (value,) = step.values
        return []


class ProductTask:
    """A product, what follows it, and the Value of the result."""

    def __init__(self, step):
        self.step, self.args, self._following = step, list(step.args), []
        (self.output,) = step.outputs
        self.shape = self.output.shape
        self._along = [] if step.attrs.get("transpose_a") else [0]  # arguments with its rows

    def goes_along(self, other):
        """Whether an operand is of the result's shape, or a row of the product."""
        shape = self.output.shape
        if other.shape == shape:
            return len(shape) > 1
        return other.shape == shape[-1:] == self.shape[-1:]

    def add(self, ufunc, other, product):
        """Have a ufunc follow.

        Args:
            product: of which `other` is another shape, as a sequence of its step; or nothing.
        """
        for step in product:
            self.args += step.args
            self._following.append((ufunc, _turned(step)))
        if not product:
            if other.shape == self.output.shape:
                self._along.append(len(self.args))
            self.args.append(other)
            self._following.append((ufunc, None))

    @property
    def made(self):
        return (self.output,)

    along = made  # what has its rows

    @property
    def is_plain(self):
        """Whether it is no more than its first step."""
        return self.output is self.step.outputs[0]

    @property
    def rows(self):
        """How many rows it has where it is done by rows; else None."""
        return self.shape[0] if self.shape[0] >= self.shape[1] else None

    def goes_with(self, places):
        """Whether of the arguments at these places it needs its own rows only."""
        return set(places) <= set(self._along)

    def spec(self, places):
        return TaskSpec(places, 1, None, (), _turned(self.step), tuple(self._following))


class RowTask:
    """A step whose kernel works by rows, as a task."""

    is_plain = True

    def __init__(self, step):
        self.step, self.args, self.made = step, step.args, step.made
        self._kernel = _KERNELS[step.op.name]
        self.along = self.made[: self._kernel.outputs]
        x = step.values[0]
        self.rows = x.size // x.shape[-1]

    def goes_with(self, places):
        return max(places) < self._kernel.arguments

    def spec(self, places):
        attrs = tuple(self.step.attrs.items())
        return TaskSpec(places, len(self.made), self._kernel.by_rows, attrs, (), ())


def _turned(step):
    return tuple([bool(step.attrs.get(f"transpose_{x}")) for x in "ab"])


def _is_large(step):
    """Whether a step is a product that NumPy's threads share."""
    if type(step) is not OpNode or step.op is not table["matmul"] or len(step.values) != 2:
        return False
    a, b = step.values
    if len(a.shape) != 2 or len(b.shape) != 2 or a.dtype != b.dtype or a.dtype.char not in "fd":
        return False
    depth = a.shape[0] if step.attrs.get("transpose_a") else a.shape[1]
    return matmul.shares(step.outputs[0].size * depth)


def _is_by_rows(step):
    """Whether a step has a kernel by rows that NumPy's threads share."""
    kernel = _KERNELS.get(step.op.name) if type(step) is OpNode else None
    if kernel is None or len(step.values) != len(step.args):
        return False
    whole, line = step.values[: kernel.arguments], step.values[kernel.arguments :]
    x = whole[0]
    dtypes = {v.dtype for v in (*step.values, *step.made)}
    if dtypes != {x.dtype} or x.dtype.char not in kernel.dtypes:
        return False
    if not kernel.shares(x.size) or not matmul.shares(matmul.SHARED):
        return False
    lines = [x.shape[-1:], (x.size // x.shape[-1],)]  # a number for each column, or for each row
    fits = all(v.shape == x.shape for v in whole) and all(v.shape in lines for v in line)
    return fits and all(step.attrs.get("needed", (True,)))
