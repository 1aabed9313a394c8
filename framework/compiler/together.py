"""Large products as one step, with what follows each element by element: see `matmul.several`.

For plans in NumPy calls without Numba. The numbers are the same, to the last bit.
"""

import numpy as np

from framework.compiler.fusion import ufunc_of
from framework.compiler.graph import Graph, OpStep, Value
from framework.core.op import Op, no_derivative, table
from framework.kernels import matmul

_UFUNCS = (np.add, np.multiply)  # either operand may come first


def _products(*arrays, tasks):
    """The results of some products, and of what follows them."""
    given, outs, written = iter(arrays), [], []
    for turned, following, shape in tasks:
        a, b = factors(given, turned)
        steps = [(u, next(given) if t is None else factors(given, t)) for u, t in following]
        outs.append(np.empty(shape, a.dtype))
        written.append((a, b, outs[-1], steps))
    matmul.several(written)
    return tuple(outs)


def factors(given, turned):
    """The next two, transposed as said."""
    a, b = (next(given).T if t else next(given) for t in turned)
    return a, b


# Of plans alone: no tape ever sees it. Its arguments are those of the tasks, one after the other; a
# task is (whether either factor is transposed, what follows, the shape of the result). What follows
# is a ufunc and, where its operand is a product too, whether either factor is transposed, or None.
products = Op("products", _products, no_derivative, outputs=None, listed=False, fresh=True)


def together(graph):
    """The graph with such products as one step, in an order that may be another."""
    tasks = _Tasks(graph)
    if not tasks.by_end:
        return graph
    return Graph(graph.arguments, _ordered(graph, tasks), graph.assigned, graph.results)


class _Tasks:
    """The products of a graph, each with what follows it.

    `by_end`: {id of a task's last step: the task}. `absorbed`: ids of all steps of tasks.
    """

    def __init__(self, graph):
        self.absorbed, self.by_end = set(), {}
        self._uses = graph.uses()
        self._maker = {id(v): step for step in graph.steps for v in step.made}
        self._reader = {id(v): step for step in graph.steps for v in step.values}
        for step in graph.steps:
            if id(step) not in self.absorbed and _is_large(step):
                self._follow(_Task(step))

    def _follow(self, task):
        steps = [task.product]
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
        if type(step) is not OpStep or id(step) in self.absorbed:
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
            if type(step) is not OpStep or id(step) in self.absorbed:
                break
            way.insert(0, step)
            if _is_large(step):
                return way if step.outputs[0].shape == task.shape else []
            if step.op is not table["reshape"]:
                break
            (value,) = step.values
        return []


class _Task:
    """A product, what follows it, and the Value of the result."""

    def __init__(self, step):
        self.product, self.args, self._following = step, list(step.args), []
        (self.output,) = step.outputs
        self.shape = self.output.shape

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
            self.args.append(other)
            self._following.append((ufunc, None))

    @property
    def attribute(self):
        return _turned(self.product), tuple(self._following), self.output.shape


def _turned(step):
    return tuple([bool(step.attrs.get(f"transpose_{x}")) for x in "ab"])


def _is_large(step):
    """Whether a step is a product that NumPy's threads share."""
    if type(step) is not OpStep or step.op is not table["matmul"] or len(step.values) != 2:
        return False
    a, b = step.values
    if len(a.shape) != 2 or len(b.shape) != 2 or a.dtype != b.dtype or a.dtype.char not in "fd":
        return False
    depth = a.shape[0] if step.attrs.get("transpose_a") else a.shape[1]
    return matmul.shares(step.outputs[0].size * depth)


def _ordered(graph, tasks):
    """The steps; tasks wait until one of their results is read, and are done together then."""
    steps, ready, views, waiting = [], [], [], set()

    def finish():
        if ready:
            steps.extend([_step(ready), *views])
        for gone in (ready, views, waiting):
            gone.clear()

    for step in graph.steps:
        task = tasks.by_end.get(id(step))
        if task is not None:
            if any(id(a) in waiting for a in task.args):
                finish()
            ready.append(task)
            waiting.add(id(task.output))
        elif id(step) in tasks.absorbed:
            continue
        elif not any(id(v) in waiting for v in step.values):
            steps.append(step)
        elif type(step) is OpStep and step.op is table["reshape"]:
            views.append(step)
            waiting.update(id(v) for v in step.made)
        else:
            finish()
            steps.append(step)
    finish()
    return steps


def _step(tasks):
    """One step for some tasks; a product alone stays what it is."""
    first = tasks[0].product
    if len(tasks) == 1 and tasks[0].output is first.outputs[0]:
        return first
    args = [a for task in tasks for a in task.args]
    attrs = {"tasks": tuple([task.attribute for task in tasks])}
    return OpStep(products, args, attrs, tuple([t.output for t in tasks]), (), first.layer)
