"""Parallel regions of plans without Numba: large products, their epilogues and row kernels.

Independent tasks run in parallel. Tasks that need the same rows form a chain, which a thread runs
for a range of rows (see `matmul.several`). The results have the same bits as without regions.
"""

from framework.compiler.ir import Graph, OpNode
from framework.compiler.numpy_tasks import ProductTasks, products
from framework.core.op import table


def with_parallel_tasks(graph):
    """Return the graph, reordered, with parallel tasks merged into nodes of the op `products`."""
    tasks = ProductTasks(graph)
    if not tasks.by_end:
        return graph
    return Graph(graph.arguments, _scheduled(graph, tasks), graph.assigned, graph.results)


class _TaskChain:
    """Tasks that a thread runs in sequence on its rows; no task reads results for other rows.

    `numbers`: {id of a result: its index among the outputs of the chain}.
    """

    def __init__(self):
        self.tasks, self.places, self.numbers, self.all_outputs = [], [], {}, []

    def add(self, task, places):
        """Append a task.

        Args:
            places: {index of an argument: the earlier result of the chain that it receives}.
        """
        self.tasks.append(task)
        self.places.append(places)
        for value in task.all_outputs:
            self.numbers[id(value)] = len(self.all_outputs)
            self.all_outputs.append(value)

    @property
    def pairs(self):
        return zip(self.tasks, self.places, strict=True)

    def takes(self, task, places):
        """Return whether the chain can be extended by the task."""
        rows = {t.rows for t in (*self.tasks, task)}
        partitioned = {id(v) for t in self.tasks for v in t.partitioned}
        fits = len(rows) == 1 and None not in rows and task.goes_with(places)
        return fits and partitioned.issuperset(map(id, places.values()))


class _Scheduler:
    """Orders nodes, with tasks in chains.

    When a node outside a task's chain reads the task's result, all pending tasks become one node.
    """

    def __init__(self):
        self.nodes, self._chains, self._views = [], [], []
        self._chain_of = {}  # id of a pending Value -> (its chain, the Value whose view it is)

    def is_pending(self, value):
        return id(value) in self._chain_of

    def view(self, node):
        """Add a reshape of a Value that a pending task computes; the reshaped array is a view."""
        self._views.append(node)
        (x,), (y,) = node.inputs, node.outputs
        self._chain_of[id(y)] = self._chain_of[id(x)]

    def task(self, task):
        found = {i: self._chain_of[id(a)] for i, a in enumerate(task.args) if self.is_pending(a)}
        places = {i: value for i, (_, value) in found.items()}
        chains = {id(chain): chain for chain, _ in found.values()}
        if len(chains) == 1:
            (chain,) = chains.values()
            if chain.takes(task, places):
                self._put(chain, task, places)
                return
        if chains:
            self.finish()
        self._chains.append(_TaskChain())
        self._put(self._chains[-1], task, {})

    def _put(self, chain, task, places):
        chain.add(task, places)
        self._chain_of.update((id(v), (chain, v)) for v in task.all_outputs)

    def finish(self):
        if self._chains:
            self.nodes += [_node(self._chains), *self._views]
        self._chains, self._views, self._chain_of = [], [], {}


def _scheduled(graph, tasks):
    scheduler = _Scheduler()
    for node in graph.nodes:
        task = tasks.by_end.get(id(node))
        if task is not None:
            scheduler.task(task)
        elif id(node) in tasks.absorbed:
            continue
        elif not any(map(scheduler.is_pending, node.inputs)):
            scheduler.nodes.append(node)
        elif type(node) is OpNode and node.op is table["reshape"]:
            scheduler.view(node)
        else:
            scheduler.finish()
            scheduler.nodes.append(node)
    scheduler.finish()
    return scheduler.nodes


def _node(chains):
    """Return one node for several chains; a single product without epilogue stays as it is."""
    first = chains[0].tasks[0]
    if len(chains) == len(chains[0].tasks) == 1 and first.is_plain:
        return first.node
    args, made, specs = [], [], []
    for chain in chains:
        specs.append(tuple([_task_spec(chain, *found, args, len(made)) for found in chain.pairs]))
        made += chain.all_outputs
    attrs = {"chains": tuple(specs), "made": tuple([(v.shape, v.dtype) for v in made])}
    return OpNode(products, args, attrs, tuple(made), (), first.node.layer)


def _task_spec(chain, task, places, args, before):
    """Return the TaskSpec of a task and append its arguments to `args`."""
    found = []
    for i, arg in enumerate(task.args):
        if i in places:
            found.append((before + chain.numbers[id(places[i])], arg.shape))
        else:
            found.append(None)
            args.append(arg)
    return task.spec(tuple(found))
