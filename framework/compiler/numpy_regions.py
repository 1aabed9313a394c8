"""Large products as one step, with what follows each element by element, and in lanes with what
else is done row by row: see `matmul.several`.

For plans in NumPy calls without Numba. The numbers are the same, to the last bit.
"""

from framework.compiler.ir import Graph, OpNode
from framework.compiler.numpy_tasks import ProductTasks, products
from framework.core.op import table


def together(graph):
    """The graph with such products as one step, in an order that may be another."""
    tasks = ProductTasks(graph)
    if not tasks.by_end:
        return graph
    return Graph(graph.arguments, _ordered(graph, tasks), graph.assigned, graph.results)


class _TaskChain:
    """Tasks of which each needs the same rows of those before it.

    `numbers`: {id of what they make: its number among the outputs of the lane}.
    """

    def __init__(self):
        self.tasks, self.places, self.numbers, self.made = [], [], {}, []

    def add(self, task, places):
        """Put a task at the end.

        Args:
            places: {the place of an argument: the Value made in this lane that it is}.
        """
        self.tasks.append(task)
        self.places.append(places)
        for value in task.made:
            self.numbers[id(value)] = len(self.made)
            self.made.append(value)

    @property
    def pairs(self):
        return zip(self.tasks, self.places, strict=True)

    def takes(self, task, places):
        """Whether a task may be at the end."""
        rows = {t.rows for t in (*self.tasks, task)}
        along = {id(v) for t in self.tasks for v in t.along}
        fits = len(rows) == 1 and None not in rows and task.goes_with(places)
        return fits and along.issuperset(map(id, places.values()))


class _Scheduler:
    """Steps in their new order: tasks wait until one of their results is read by what cannot be in
    a lane with them; all that wait are done together then."""

    def __init__(self):
        self.steps, self._lanes, self._views = [], [], []
        self._lane_of = {}  # id of a Value that waits -> (its lane, the Value that it is a view of)

    def waits(self, value):
        return id(value) in self._lane_of

    def view(self, step):
        """A reshape of a Value that waits."""
        self._views.append(step)
        (x,), (y,) = step.values, step.outputs
        self._lane_of[id(y)] = self._lane_of[id(x)]

    def task(self, task):
        found = {i: self._lane_of[id(a)] for i, a in enumerate(task.args) if self.waits(a)}
        places = {i: value for i, (_, value) in found.items()}
        lanes = {id(lane): lane for lane, _ in found.values()}
        if len(lanes) == 1:
            (lane,) = lanes.values()
            if lane.takes(task, places):
                self._put(lane, task, places)
                return
        if lanes:
            self.finish()
        self._lanes.append(_TaskChain())
        self._put(self._lanes[-1], task, {})

    def _put(self, lane, task, places):
        lane.add(task, places)
        self._lane_of.update((id(v), (lane, v)) for v in task.made)

    def finish(self):
        if self._lanes:
            self.steps += [_step(self._lanes), *self._views]
        self._lanes, self._views, self._lane_of = [], [], {}


def _ordered(graph, tasks):
    order = _Scheduler()
    for step in graph.steps:
        task = tasks.by_end.get(id(step))
        if task is not None:
            order.task(task)
        elif id(step) in tasks.absorbed:
            continue
        elif not any(map(order.waits, step.values)):
            order.steps.append(step)
        elif type(step) is OpNode and step.op is table["reshape"]:
            order.view(step)
        else:
            order.finish()
            order.steps.append(step)
    order.finish()
    return order.steps


def _step(lanes):
    """One step for some lanes; what is alone stays what it is."""
    first = lanes[0].tasks[0]
    if len(lanes) == len(lanes[0].tasks) == 1 and first.is_plain:
        return first.step
    args, made, specs = [], [], []
    for lane in lanes:
        specs.append(tuple([_spec(lane, *found, args, len(made)) for found in lane.pairs]))
        made += lane.made
    attrs = {"lanes": tuple(specs), "made": tuple([(v.shape, v.dtype) for v in made])}
    return OpNode(products, args, attrs, tuple(made), (), first.step.layer)


def _spec(lane, task, places, args, before):
    """The attribute of a task, whose arguments join `args`."""
    found = []
    for i, arg in enumerate(task.args):
        if i in places:
            found.append((before + lane.numbers[id(places[i])], arg.shape))
        else:
            found.append(None)
            args.append(arg)
    return task.spec(tuple(found))
