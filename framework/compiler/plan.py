"""Plan: a graph compiled to a function of arrays, with its memory."""

import threading

from framework.compiler import lowering
from framework.compiler.audits import Audits
from framework.compiler.blocked_codegen import alone
from framework.compiler.compiler_log import brief
from framework.compiler.fusion import FusionGroup, grouped, takes_passes, ufunc_of
from framework.compiler.ir import OpNode, are_current, can_be_undone, check, generators
from framework.compiler.loop_lowering import LARGE, TRIAL, calls_until_due, fits_loop, work
from framework.compiler.numba_codegen import NumbaCodegen
from framework.compiler.numpy_codegen import NumpyCodegen
from framework.compiler.numpy_regions import with_parallel_tasks
from framework.compiler.passes import for_loops, optimized
from framework.compiler.turns import callers, held, taken, turn_of
from framework.core.numpy_warnings import _context, _slowly
from framework.kernels import tier

_GROUPED = 1 << 16  # elements of an array, from which on NumPy goes over it in blocks


class Plan:
    """What a run did, to be done again on other arguments.

    Args:
        graph: of the run.
        name: of the function in the source.
        argument_names: names for its arguments.
        tell: `tell(sentence, error)` says what went wrong.
        state: the `PythonState` that must hold for the plan to run; None without one.
        audited: whether the caller audits it: a call returns None then, and `audit_due` is true.
        ordered: whether a call returns None for arguments that are not in C order.

    `shared` are the places of the arguments of which a result, or what it assigns, may be a view.

    `source` is the Python text that runs. A call may come from any thread: plans that change the
    same variables run one at a time, others side by side, each in memory of its own.

    A plan begins as NumPy calls. Its groups of elementwise steps become Numba loops, where Numba is
    to be used, at a call whose number follows from their sizes and from what is compiled already,
    not from a clock: the same run on the same machine changes at the same call.

    A mistake in what is written here ends no run of the user's. Where loops cannot be had, NumPy
    calls stay, and `trouble` says why. What is new is on trial in its first run: arrays that it
    would write in place are kept, and are put back if it raises. Loops give way to the NumPy calls
    then; these give None, with the error in `failure`: whoever runs the body in its place sees
    whether the error was the body's own.
    """

    def __init__(self, graph, name, argument_names, tell, state=None, audited=False, ordered=False):
        self._graph = optimized(graph)
        check(self._graph)
        self._names, self._tell = (name, argument_names, state, ordered), tell
        self.trouble = self.failure = None
        self.reads = [guard.how for guard in graph.guards]
        self._changed = [v for v, _ in graph.assigned] + _states(graph)
        self._turn = turn_of(self._changed)
        self._generators = generators(graph)
        self._waiting = None  # the program with loops, until it takes over
        self._changing = threading.Lock()  # who has it moves on towards loops
        self.tier = "numpy"
        program = NumpyCodegen(
            grouped(with_parallel_tasks(self._graph), _fits_blocks, alone), *self._names
        )
        self.shared = program.lives.shared
        self._install((program, program.compiled()), self._failed)
        # Numbers of calls, from 0: when loops are due next, None for never; of the next event.
        self._loops_at = TRIAL if tier.tier() in ("auto", "numba") else None
        self._audits, self._event_at = Audits(never=not (audited and can_be_undone(graph))), 0
        if tier.tier() == "numba" or (self._loops_at and _moved(self._graph) > LARGE):
            self._towards_loops(0)
        self._schedule(0)

    def _install(self, form, otherwise):
        """Have a (program, its `make`) run; `otherwise(error, arrays)` is for a first run that
        fails."""
        self._form = form
        self._offer(self._on_trial(form, otherwise), form)

    def _offer(self, run, form):
        """Have calls use this run."""
        # What a call takes an entry of: the turn where it changes something, else runs that nobody
        # is in, each with memory of its own. The run of the turn; whether NumPy may warn in it; and
        # what makes another.
        if self._turn is not None:
            self._now = self._turn.free, run, form[0].calls_numpy, form
        else:
            self._now = [run], None, form[0].calls_numpy, form

    def _on_trial(self, form, otherwise):
        """What stands for a run until it has given a result."""
        made = []

        def run(*arrays):
            self.failure = None
            before = [(v, v._array) for v in self._changed]  # so named, none is written in place
            try:
                if not made:
                    made.append(_new_run(form))
                found = made[0](*arrays)
            except Exception as error:
                for variable, array in before:
                    variable._array = array
                return otherwise(error, arrays)
            if found is not None:
                self._offer(made[0], form)
            return found

        return run

    def _failed(self, error, _arrays):
        self.failure = error

    @property
    def source(self):
        return self._form[0].source

    @property
    def nbytes(self):
        """(bytes of its memory, bytes that ops allocate beside it at most at one time)"""
        program = self._form[0]
        return program.arena.nbytes, program.elsewhere

    # ---- events: loops and audits ----

    def _schedule(self, call):
        """Count the calls from this one to the next event; -1 where there is none."""
        due = [at for at in (self._loops_at, self._audits.at) if at is not None]
        self._event_at = min(due) if due else -1
        self._calls_left = max(0, self._event_at - call) if due else -1

    def _may_run(self):
        """Handle the event that is due; False where that is an audit, which the caller makes."""
        if self.audit_due:
            return False
        if self._changing.acquire(blocking=False):
            try:
                call = self._event_at
                if self._loops_at is not None and call >= self._loops_at:
                    self._towards_loops(call)
                if not self._audits.reached(call):
                    self._schedule(call + 1)
            finally:
                self._changing.release()
        return not self.audit_due

    @property
    def audit_due(self):
        """Whether calls return None until the plan has been audited."""
        return self._audits.due

    def audited(self, postponed=False):
        """Run again: this call has been audited, or took another way through the code."""
        call = self._event_at
        (self._audits.postpone if postponed else self._audits.done)(call)
        self._schedule(call)

    # ---- loops ----

    def _towards_loops(self, call):
        """Take the next step; where it fails, stay with NumPy calls."""
        doing, self._loops_at = "generating", None
        try:
            if self._waiting is None:
                self._consider(call)
            if self._waiting is not None and (self._loops_at or 0) <= call:
                doing = "compiling"
                self._promote()
        except Exception as error:
            self._stay(doing, error)

    def _stay(self, doing, error):
        self._waiting = self._loops_at = None
        self.trouble = f"{doing} its loops failed ({brief(error)})"
        self._tell(f"stays with NumPy calls: {self.trouble}", error)

    def _consider(self, call):
        """Decide at which call the groups become loops, if ever."""
        graph = grouped(for_loops(self._graph), fits_loop, takes_passes, numbers=True)
        cost = sum(work(s) for s in graph.nodes if type(s) is FusionGroup)
        if not cost:
            return
        self._waiting = NumbaCodegen(graph, *self._names)
        missing = sum(not loop.cached for loop in self._waiting.loops)
        self._loops_at = max(call, calls_until_due(cost, missing))

    def _promote(self):
        """Let the program with loops take over, its machine code made or loaded now."""
        program, self._waiting, self._loops_at = self._waiting, None, None
        if tier.library("elementwise") is None:
            return
        form = program, program.compiled()
        numpy = self._form
        turn = None if self._turn is None else self._taken()  # not while another thread is in it
        try:
            self.tier = "numba"
            self._install(form, lambda *failed: self._back(numpy, *failed))
        finally:
            if turn is not None:
                turn.append(True)

    def _back(self, numpy, error, arrays):
        """The result by NumPy calls, which stay if they can do what the loops could not."""
        failed = []
        found = _slowly(self._on_trial(numpy, lambda *error: failed.append(error)), *arrays)
        if failed:
            return self._failed(*failed[0])
        if found is not None:
            self.tier, self._form = "numpy", numpy
            self._stay("running", error)
        return found

    def current(self):
        """Whether the generators that it draws from are still those that `set_seed` made."""
        return are_current(self._generators)

    def __call__(self, arrays):
        """The result arrays, or None where a guard does not hold and nothing was changed."""
        left = self._calls_left
        if left >= 0:
            if left:
                self._calls_left = left - 1
            elif not self._may_run():
                return None
        if self._generators and not self.current():
            return None
        free, run, warns, _ = self._now
        try:
            entry = free.pop()
        except IndexError:
            free, run, warns, entry = self._another()
        except BaseException:  # an interrupt, between taking the entry and the next line
            if run is not None:
                free.append(True)
            raise
        try:
            if run is None:
                run = entry
            return _context.run(run, *arrays) if warns else run(*arrays)
        except RuntimeError as error:
            if "already entered" not in str(error):
                raise
            return _slowly(run, *arrays)  # nested `no_warnings`: nothing has run yet
        finally:
            free.append(entry)

    def _another(self):
        """What `_now` gives and an entry, where there is none: a new run, or, in time, the turn."""
        free, run, warns, form = self._now
        if run is None:
            return free, None, warns, _new_run(form)
        within = any(plan is self for plan in self._outer())
        turn = self._taken()
        _, run, warns, form = self._now
        return turn, _new_run(form) if within else run, warns, True

    def _taken(self):
        return taken(self._turn, [*held(), *self.outer_turns()])

    @classmethod
    def outer_turns(cls):
        """The turns of the plans that this thread is in."""
        return [plan._turn for plan in cls._outer() if plan._turn is not None]

    @staticmethod
    def _outer():
        """The plans that this thread is in: user code that runs within one may call others."""
        found = callers(Plan.__call__.__code__)
        return [names["self"] for names in found if "entry" in names]


def _new_run(form):
    program, make = form
    return make(*program.arena.make())


def _states(graph):
    """The variables that count the draws of the graph's generators."""
    states = [getattr(s.draw.source, "state", None) for s in graph.draws]
    return list({id(state): state for state in states if state is not None}.values())


def _moved(graph):
    """Bytes that elementwise steps make."""
    nodes = [s for s in graph.nodes if type(s) is OpNode and s.op.kind == "elementwise"]
    return sum(v.nbytes for s in nodes for v in s.all_outputs)


def _fits_blocks(node):
    """Whether a step is computed block by block: large, all of one shape but for numbers."""
    if len(node.outputs) != 1:
        return False
    (output,) = node.outputs
    if output.size < _GROUPED or not output.in_order:
        return False
    if node.attrs or any(v.shape not in (output.shape, ()) for v in node.inputs):
        return False
    return ufunc_of(node.op) is not None or lowering.into(node) is not None
