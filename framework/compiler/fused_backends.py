"""Backends of a fused function: NumPy calls on blocks (`NumpyBlocks`) or loops (`NumbaLoops`).

A call updates a list of variables with the same scalars, which `prepare` returned. Each variable is
a pair: its arrays, of equal size and in C order, and an array for each result, which can be the
array that the result replaces. Backends with equal `alike` compute the same function, so one call
can update the variables of several backends.

Both backends give the same bits if the graph has no sums and no exp or similar ops on arrays.
"""

from operator import itemgetter
from weakref import WeakValueDictionary

import numpy as np

from framework.compiler import lowering
from framework.compiler.blocked_codegen import BlockedFunction
from framework.compiler.fusion import FusionGroup, gains_as_loop, grouped, ufunc_of
from framework.compiler.ir import Graph
from framework.compiler.loop_lowering import CHUNK, GroupLoop, fits_loop
from framework.core.errors import InvalidArgumentError
from framework.core.numpy_warnings import no_warnings
from framework.kernels import threads, tier


class Namespace(dict):
    """The global variables of generated source, with a unique name for each object."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.keys_of = {}

    def bound(self, key, text, value):
        """Return the name of an object in the namespace, added at its first use."""
        if key not in self.keys_of:
            self.keys_of[key] = f"{text}_{len(self.keys_of)}"
            self[self.keys_of[key]] = value
        return self.keys_of[key]

    def function(self, source, name):
        """Compile the source and return its function `name`, with NumPy warnings suppressed."""
        # The source is generated from op names; it contains no user input.
        exec(compile(source, "<fused update>", "exec"), self)  # noqa: S102
        return no_warnings(self[name])


class ScalarNodes:
    """NumPy calls for the scalar nodes that do not depend on sums; both backends call `prepare`.

    `rest` lists all other nodes, and `read` the scalars that they read. `prepare(*scalars)`
    computes these as 0-d arrays. Objects with equal `key` compute the same function.
    """

    def __init__(self, graph):
        given = [v for v in graph.arguments if not v.shape]
        self._names = {id(v): f"n{i}" for i, v in enumerate(given)}
        self._namespace = Namespace(asarray=np.asarray)
        lines, self.rest = [], []
        for node in graph.nodes:
            known = all(id(v) in self._names or v.constant is not None for v in node.inputs)
            if known and not node.all_outputs[0].shape:
                lines.append(self._line(node))
            else:
                self.rest.append(node)
        read = {id(v): v for s in self.rest for v in s.inputs if not v.shape}
        made = {id(v) for s in self.rest for v in s.all_outputs}
        self.read = [v for v in read.values() if id(v) not in made]
        results = [f"asarray({self._operand(v)}), " for v in self.read]
        source = "\n".join([
            f"def prepare({', '.join(self._names[id(v)] for v in given)}):",
            *(f"    {line}" for line in lines),
            f"    return ({''.join(results)})",
            "",
        ])  # fmt: skip
        self.key = source, tuple(self._namespace.keys_of)
        self.prepare = self._namespace.function(source, "prepare")

    def _line(self, node):
        operands = [self._operand(a) for a in node.args]
        known = set(self._names.values())
        name = self._names[id(node.all_outputs[0])] = f"n{len(self._names)}"
        operator = lowering.OPERATORS.get(node.op.name)
        if operator is not None and all(
            v.dtype.char in "fd" for v in (*node.inputs, *node.all_outputs)
        ):
            return f"{name} = {operator.join(operands)}"
        # A forward function that is not a ufunc may treat NumPy scalars as Python numbers, so pass
        # it arrays.
        if ufunc_of(node.op) is None:
            operands = [f"asarray({o})" if o in known else o for o in operands]
        # Omit the wrapper that suppresses warnings, because the caller runs under `no_warnings`.
        forward = getattr(node.op.forward, "ufunc", node.op.forward)
        call = self._namespace.bound(id(forward), node.op.name, forward)
        return f"{name} = {call}({', '.join(operands)})"

    def _operand(self, arg):
        if hasattr(arg, "constant"):
            found = self._names.get(id(arg))
            return found or self._namespace.bound(id(arg), "c", arg.constant)
        if type(arg) in (int, float, bool) and arg - arg == 0:
            return repr(arg)
        return self._namespace.bound(("object", repr(arg)), "c", arg)


class NumpyBlocks:
    """The NumPy backend: computes block by block into scratch blocks and the result arrays.

    Args:
        graph: a Graph of elementwise nodes, whose arguments are the arrays, then the scalars.
        places: for each result, the index of the array that it replaces.
    """

    def __init__(self, graph, places):
        self.numbers, self.alike = ScalarNodes(graph), graph
        arrays = [v for v in graph.arguments if v.shape]
        group = FusionGroup(arrays[0].shape)
        group.nodes = self.numbers.rest
        group.finish(graph.uses())
        targets = {id(v): arrays[p] for v, p in zip(graph.results, places)}
        over = {id(v): [targets[id(v)]] for v in group.outputs}
        namespace = Namespace(lowering.NAMES)
        blocks = BlockedFunction("block", group, namespace.bound, over)
        self.source = blocks.source
        self._function = namespace.function(self.source, "block")
        # (index of the result, index of the argument) of results that are unchanged arguments
        self._kept = [(k, p) for k, p in enumerate(places) if graph.results[k] is arrays[p]]
        made = [v if v is not targets[id(v)] else None for v in graph.results]
        pool = [*arrays, *made, *self.numbers.read]
        at = {id(v): i for i, v in enumerate(pool)}
        self._order = [at[id(v)] for v in (*group.inputs, *group.outputs)]

    def __call__(self, variables, prepared):
        for arrays, destinations in variables:
            self._of_one(arrays, destinations, prepared)

    def _of_one(self, arrays, destinations, prepared):
        for result, place in self._kept:
            if destinations[result] is not arrays[place]:
                destinations[result][...] = arrays[place]
        pool = [*arrays, *destinations, *prepared]
        self._function(*map(pool.__getitem__, self._order))


class NumbaLoops:
    """The Numba backend: compiled loops, usually one.

    Nodes that read a sum over all elements (a norm) need a second loop.

    Args:
        graph, places: as in `NumpyBlocks`; the graph can have sums over all elements.

    Raises:
        InvalidArgumentError: a loop cannot compute a node.
    """

    def __init__(self, graph, places):
        self._graph, self._places = graph, places
        self.numbers = ScalarNodes(graph)
        rest = Graph(graph.arguments, self.numbers.rest, [], graph.results)
        groups = grouped(rest, fits_loop, gains_as_loop, numbers=True).nodes
        if not all(type(g) is FusionGroup for g in groups):
            raise InvalidArgumentError(
                "fused function: a Numba loop cannot compute all of its ops."
            )
        arrays = [v for v in graph.arguments if v.shape]
        # A call puts its arrays into one list, the pool: arguments, scalars, temporary arrays.
        # Values are identified by their index in the pool.
        self._at = {id(v): i for i, v in enumerate([*arrays, *self.numbers.read])}
        self._size = len(self._at)
        # for each temporary array, (whether it has the size of the variables, dtype)
        self._temporary = []
        # (pool index of the source, pool index of the target) of the copies at the end
        self._copies = []
        # for each loop, (GroupLoop, pool indices of its arrays, [(pool index of a mean, divisor)])
        self._calls = []
        for position, group in enumerate(groups):
            later = {id(v) for g in groups[position + 1 :] for v in g.inputs}
            self._group(group, later)
        self._functions = ()
        (made, order, _), *others = self._calls
        more = others or self._temporary or self._copies
        self._at_once = made.divisible and not more
        if self._at_once:
            key = id(made.task), tuple(order), tuple(places), self.numbers.key
            self.alike = _built.get(key) or _built.setdefault(key, _BatchedLoop(made, graph))
            self._loops = [self.alike]
        else:
            self._loops, self.alike = [made.loop for made, *_ in self._calls], graph

    def _group(self, group, later):
        """Add the loop of a fusion group; `later` has the ids of Values that later groups read."""
        targets = {id(v): p for v, p in zip(self._graph.results, self._places)}
        at, in_place = self._at, {}
        for value in group.outputs:
            place = targets.get(id(value))
            old = None if place is None else self._graph.arguments[place]
            if old is None or id(old) in later:
                continue
            at[id(value)] = place
            if any(old is v for v in group.inputs):
                in_place[id(value)] = old
        made = GroupLoop(group, in_place)
        for value in [*made.outputs, *made.sums]:
            if id(value) not in at:
                at[id(value)] = self._size
                self._temporary.append((bool(value.shape), value.dtype))
                if id(value) in targets:
                    self._copies.append((self._size, targets[id(value)]))
                self._size += 1
        order = [at[id(v)] for v in (*made.inputs, *made.outputs, *made.sums)]
        counts = [(at[v], n) for v, n in made.counts.items()]
        self._calls.append((made, order, counts))

    @property
    def missing(self):
        """The number of loops that must be compiled, because they are not in memory or on disk."""
        return sum(not loop.cached for loop in self._loops)

    def compile(self):
        """Load the machine code, or compile it, which takes a second or more."""
        self._functions = [
            (loop.compiled(), _chooser(order), counts)
            for loop, (_, order, counts) in zip(self._loops, self._calls)
        ]

    def __call__(self, variables, prepared):
        for arrays, destinations in variables:
            for place, destination in zip(self._places, destinations):
                if destination is not arrays[place]:
                    destination[...] = arrays[place]
                    arrays[place] = destination
        if self._at_once:
            ((function, chosen, _),) = self._functions
            function([chosen([*arrays, *prepared]) for arrays, _ in variables])
        else:
            for arrays, _ in variables:
                self._of_one([a if a.ndim == 1 else a.reshape(-1) for a in arrays], prepared)

    def _of_one(self, arrays, prepared):
        pool = [*arrays, *prepared]
        for whole, dtype in self._temporary:
            pool.append(np.empty(pool[0].shape if whole else (), dtype))
        for function, chosen, counts in self._functions:
            function(*chosen(pool))
            for place, count in counts:
                np.divide(pool[place], count, pool[place])
        for place, target in self._copies:
            pool[target][...] = pool[place]


class _BatchedLoop:
    """A loop that one call runs for several variables. The thread team shares the elements if that
    saves time: Adam on 100,000 parameters takes half the time.

    The machine code does not check its arrays. This class checks dtypes at the first call with each
    list of sizes.
    """

    def __init__(self, group, graph):
        # Keep a reference to the graph, because ids of its Values are part of the keys of `_built`.
        self._graph = graph
        self._task, self._each = group.task, group.seconds() / group.size
        values = *group.inputs, *group.outputs
        self._dtypes = [v.dtype for v in values]
        self._whole = next(i for i, v in enumerate(values) if v.shape)
        # (number of threads, size of each variable...) -> (arguments of `_do`, number of chunks)
        self._known = {}

    @property
    def cached(self):
        """Whether the machine code is in memory or on disk."""
        return self._task.cached

    def compiled(self):
        """Compile the loop; return this object, whose call takes a list of arrays per variable."""
        self._task.address()
        team = tier.library("team")
        self._do, self._most = team.do_phase, team.MOST // (len(self._dtypes) + _OF_TASK)
        return self

    def __call__(self, variables):
        if len(variables) > self._most:
            self(variables[self._most :])
            variables = variables[: self._most]
        arrays = [array for each in variables for array in each]
        key = threads.count(), *[each[self._whole].size for each in variables]
        try:
            numbers, parts = self._known[key]
        except KeyError:
            # The cache is full because the sizes change from call to call, so old entries are
            # useless.
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            numbers, parts = self._known[key] = self._template(key[1:], [a.dtype for a in arrays])
        self._do(numbers, parts, *arrays)

    def _template(self, sizes, dtypes):
        if dtypes != self._dtypes * len(sizes):
            raise TypeError(f"fused function: expected arrays of {self._dtypes}, got {dtypes}.")
        parts, numbers, tasks = threads.parts(self._each * sum(sizes)), [], []
        for size in sizes:
            extent = -(-size // CHUNK)
            numbers += [*[0] * len(self._dtypes), size, size, CHUNK]
            tasks += self._task.address(), 0, extent, -(-extent // parts)
        return np.array([*numbers, *tasks, 0, len(sizes), parts], np.int64), parts


_MOST_KNOWN = 100
_OF_TASK = 8  # A task has at most this many integer arguments besides the addresses of arrays.
_built = WeakValueDictionary()


def _chooser(places):
    """Return a function that picks the items of a list at these indices, as a tuple."""
    return itemgetter(*places) if len(places) > 1 else lambda pool: (pool[places[0]],)
