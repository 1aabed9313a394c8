"""Plan: a graph compiled to a function of arrays, with its memory."""

import math
import sys
import time

from framework.compiler import lines as writing
from framework.compiler.blocks import BLOCK
from framework.compiler.emit import Program
from framework.compiler.fusion import Group, grouped, ufunc_of
from framework.compiler.graph import OpStep, check, generators
from framework.compiler.loop_groups import fits_loop, work
from framework.compiler.passes import optimized, with_outer_products
from framework.core import random
from framework.core.quiet import _context, _slowly
from framework.kernels import tier

# What a plan's groups must have cost as NumPy calls, in seconds, before they become loops: about
# what it costs to load Numba, where it is not, and to compile the loops that the disk lacks.
_TO_LOAD, _TO_COMPILE = 0.1, 0.7  # the second for each loop
_TRIAL = 20  # calls before a plan looks at what loops would save,
_LARGE = 1 << 25  # unless its elementwise steps make so many bytes: then it looks at once


class Plan:
    """What a run did, to be done again on other arguments.

    Args:
        graph: of the run.
        name: of the function in the source.
        argument_names: names for its arguments.

    `source` is the Python text that runs. A call may come from any thread: plans that change
    something run one at a time, others side by side, each in memory of its own.

    A plan begins as NumPy calls. Its groups of elementwise steps become Numba loops, where Numba is
    to be used, at a call whose number follows from their sizes and from what is compiled already,
    not from a clock: the same run on the same machine changes at the same call.
    """

    def __init__(self, graph, name, argument_names):
        self._graph = optimized(graph)
        check(self._graph)
        self._names = name, argument_names
        self.reads = [guard.how for guard in graph.guards]
        self._in_turn = bool(graph.assigned or graph.draws)
        self._generators = generators(graph)
        self._waiting = None  # the program with loops, until it takes over
        self.tier = "numpy"
        program = Program(grouped(self._graph, _fits_blocks), *self._names)
        self._install(program, program.compiled())
        self._calls_left = _TRIAL if tier.tier() in ("auto", "numba") else -1
        if tier.tier() == "numba" or (self._calls_left > 0 and _moved(self._graph) > _LARGE):
            self._consider()

    def _install(self, program, make):
        self.source, self.nbytes = program.source, program.arena.nbytes
        self._arena, self._make = program.arena, make
        # Runs that nobody is in, each with memory of its own. Where a run changes something there
        # is one, and who takes it has the turn.
        self._free = [self._make(*program.arena.make())] if self._in_turn else []

    def _consider(self):
        """Decide at which call the groups become loops, if ever."""
        self._made = _TRIAL - max(0, self._calls_left)  # calls so far
        self._calls_left = -1
        graph = grouped(with_outer_products(self._graph), fits_loop, numbers=True)
        cost = sum(work(s) for s in graph.steps if type(s) is Group)
        if not cost:
            return
        self._waiting = Program(graph, *self._names, loops=True)
        missing = sum(not loop.cached for loop in self._waiting.loops.values())
        due = (0.0 if "numba" in sys.modules else _TO_LOAD) + _TO_COMPILE * missing
        if tier.tier() == "numba":
            due = 0.0
        self._calls_left = max(0, math.ceil(due / cost) - self._made)
        if not self._calls_left:
            self._promote()

    def _promote(self):
        """Let the program with loops take over, its machine code made or loaded now."""
        program, self._waiting, self._calls_left = self._waiting, None, -1
        if tier.library("elementwise") is None:
            return
        make = program.compiled()  # before the turn is taken: it may fail, and takes its time
        if self._in_turn:
            self._another()  # not while another thread is in it
        self._install(program, make)
        self.tier = "numba"

    def _next_tier(self):
        if self._waiting is None:
            self._consider()
        else:
            self._promote()

    def current(self):
        """Whether the generators that it draws from are still those that `set_seed` made."""
        return not self._generators or all(
            any(g is known for known in (random._Global.generator, *random.seeded_generators()))
            for g in self._generators
        )

    def __call__(self, arrays):
        """The result arrays, or None where a guard does not hold and nothing was changed."""
        left = self._calls_left
        if left >= 0:
            if left:
                self._calls_left = left - 1
            else:
                self._next_tier()
        if self._generators and not self.current():
            return None
        free = self._free
        try:
            run = free.pop()
        except IndexError:
            run, free = self._another()
        try:
            return _context.run(run, *arrays)
        except RuntimeError as error:
            if "already entered" not in str(error):
                raise
            return _slowly(run, *arrays)  # from within a quiet function: nothing has run yet
        finally:
            free.append(run)

    def _another(self):
        """A run, and the list it is to be put back into: a new one, or the one when it is free."""
        if not self._in_turn:
            return self._make(*self._arena.make()), self._free
        while True:
            free = self._free
            try:
                return free.pop(), free
            except IndexError:
                time.sleep(1e-5)


def _moved(graph):
    """Bytes that elementwise steps make."""
    steps = [s for s in graph.steps if type(s) is OpStep and s.op.kind == "elementwise"]
    return sum(v.nbytes for s in steps for v in s.made)


def _fits_blocks(step):
    """Whether a step is computed block by block: large, all of one shape but for numbers."""
    if len(step.outputs) != 1:
        return False
    (output,) = step.outputs
    if output.size < 2 * BLOCK:
        return False
    if step.attrs or any(v.shape not in (output.shape, ()) for v in step.values):
        return False
    return ufunc_of(step.op) is not None or writing.into(step) is not None
