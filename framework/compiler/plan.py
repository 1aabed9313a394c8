"""Plan: a graph compiled to a function of arrays, with its memory."""

import threading

from framework.compiler import lines as writing
from framework.compiler.blocks import BLOCK
from framework.compiler.emit import Program
from framework.compiler.fusion import grouped, ufunc_of
from framework.compiler.graph import check, generators
from framework.compiler.passes import optimized
from framework.core import random
from framework.core.quiet import _context, _slowly


class Plan:
    """What a run did, to be done again on other arguments.

    Args:
        graph: of the run.
        name: of the function in the source.
        argument_names: names for its arguments.

    `source` is the Python text that runs. A call may come from any thread: plans that change
    something run one at a time, others side by side, each in memory of its own.
    """

    def __init__(self, graph, name, argument_names):
        graph = grouped(optimized(graph), _fits_blocks)
        check(graph)
        program = Program(graph, name, argument_names)
        self.source = program.source
        self.reads = [guard.how for guard in graph.guards]
        self.nbytes = program.arena.nbytes
        self._make, self._arena = program.compiled(), program.arena
        self._free = []
        self._lock = threading.Lock() if graph.assigned or graph.draws else None
        self._generators = generators(graph)
        self.program = program

    def current(self):
        """Whether the generators that it draws from are still those that `set_seed` made."""
        return not self._generators or all(
            any(g is known for known in (random._Global.generator, *random.seeded_generators()))
            for g in self._generators
        )

    def __call__(self, arrays):
        """The result arrays, or None where a guard does not hold and nothing was changed."""
        free = self._free
        try:
            run = free.pop()
        except IndexError:
            run = self._make(*self._arena.make())
        lock = self._lock
        try:
            if lock is None:
                return _quietly(run, arrays)
            with lock:
                return _quietly(run, arrays)
        finally:
            free.append(run)


def _quietly(run, arrays):
    try:
        return _context.run(run, *arrays)
    except RuntimeError as error:
        if "already entered" not in str(error):
            raise
        return _slowly(run, *arrays)


def _fits_blocks(step):
    """Whether a step is computed block by block: large, all of one shape but for numbers."""
    (output,) = step.outputs
    if output.size < 2 * BLOCK:
        return False
    if any(v.shape not in (output.shape, ()) for v in step.values):
        return False
    return ufunc_of(step.op) is not None or writing.into(step) is not None
