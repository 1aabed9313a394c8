"""A plan: the compiled form of a graph, as a function of arrays with its memory."""

import threading

from framework.compiler import lowering
from framework.compiler.audits import Audits
from framework.compiler.blocked_codegen import alone
from framework.compiler.compiler_log import brief
from framework.compiler.fusion import FusionGroup, gains_as_loop, grouped, ufunc_of
from framework.compiler.ir import OpNode, are_current, can_be_undone, check, generators
from framework.compiler.loop_lowering import LARGE, TRIAL, calls_until_due, fits_loop, work
from framework.compiler.numba_codegen import NumbaCodegen
from framework.compiler.numpy_codegen import NumpyCodegen
from framework.compiler.numpy_regions import with_parallel_tasks
from framework.compiler.passes import for_loops, optimized
from framework.compiler.plan_locks import acquire, callers, held_locks, lock_of
from framework.compiler.plan_trial import Trial
from framework.compiler.rematerialization import rematerialized
from framework.core.numpy_warnings import _context, _slowly
from framework.kernels import tier

# NumPy computes fusion groups in blocks if they have at least this many elements.
_GROUPED = 1 << 16


class Plan:
    """Repeats a traced call on other arguments.

    Args:
        graph: the graph of the trace.
        name: the name of the function in the source.
        argument_names: names of its arguments.
        tell: `tell(message, error)` logs a failure of the compiler.
        state: the `PythonState` that the plan has guards on, or None.
        audited: whether the caller audits the plan. If an audit is due, a call returns None and
            `audit_due` is true.
        ordered: whether a call returns None for arguments that are not in C order.

    `source` is the generated source. `shared` has the indices of the arguments whose memory results
    or assigned values may share. Any thread can call a plan. Plans that change the same variables
    run one at a time, others in parallel, each call in an arena of its own.

    A plan starts with the NumPy backend. It changes to Numba loops at a call whose number depends
    on array sizes and on the cache on disk, never on a clock, so that each run of a program
    changes at the same call.

    A failure of the compiler never stops the user's program. If loops cannot be generated or
    compiled, the plan keeps its NumPy calls, and `trouble` is the reason. The first call of a new
    backend is on trial: if it raises, the variables are restored. Loops are then replaced by NumPy
    calls. If these raise, the call returns None with the error in `failure`, and the caller runs
    the Python body, which raises errors of the user's code again.
    """

    def __init__(self, graph, name, argument_names, tell, state=None, audited=False, ordered=False):
        self._graph = optimized(graph)
        check(self._graph)
        self._names, self._tell = (name, argument_names, state, ordered), tell
        self.trouble = self.failure = None
        self.reads = [guard.how for guard in graph.guards]
        self._changed = [v for v, _ in graph.assigned] + _states(graph)
        self._lock = lock_of(self._changed)
        self._generators = generators(graph)
        self._loop_code = None  # the NumbaCodegen until the plan uses its loops; then None
        self._changing = threading.Lock()  # This lock is held while the plan changes its backend.
        self.tier = "numpy"
        program = NumpyCodegen(
            grouped(with_parallel_tasks(self._graph), _fits_blocks, alone), *self._names
        )
        self.shared = program.lives.shared
        self._install((program, program.compiled()), self._failed)
        # Calls are counted from 0. `_loops_at` is the call that takes the next step towards loops,
        # or None. `_event_at` is the next call that takes such a step or is audited.
        self._loops_at = TRIAL if tier.tier() in ("auto", "numba") else None
        self._audits, self._event_at = Audits(never=not (audited and can_be_undone(graph))), 0
        if tier.tier() == "numba" or (self._loops_at and _moved(self._graph) > LARGE):
            self._towards_loops(0)
        self._schedule(0)

    def _install(self, form, otherwise):
        """Use `form`, a pair (code generator, its generated function `make`).

        If the first call raises an error, call `otherwise(error, arrays)`.
        """
        self._form = form
        self._offer(self._on_trial(form, otherwise), form)

    def _offer(self, run, form):
        """Let later calls run this compiled function instead of the previous one."""
        # `_now` is (list, function, whether NumPy can warn, form). A call pops an entry from the
        # list and returns it at its end. With a plan lock, the list is that of the lock; otherwise
        # it has idle functions, each with its own arena, and `function` is None.
        if self._lock is not None:
            self._now = self._lock.free, run, form[0].calls_numpy, form
        else:
            self._now = [run], None, form[0].calls_numpy, form

    def _on_trial(self, form, otherwise):
        """Return a function that restores the variables if its first call raises."""
        made = []

        def run(*arrays):
            self.failure = None
            # References to the old arrays prevent in-place updates, so the arrays can be restored.
            before = [(v, v._array) for v in self._changed]
            try:
                if not made:
                    made.append(Trial(form))
                found = made[0].run(*arrays)
            except BaseException as error:
                made.clear()
                while before:
                    variable, array = before.pop()
                    variable._array = array
                if isinstance(error, Exception):
                    return otherwise(error, arrays)
                raise
            if found is not None:
                trial = made.pop()
                trial.commit(before)
                later = None if trial.lends else trial.run
                del trial  # free its arena before the next one is allocated
                self._offer(later or _new_run(form), form)
            return found

        return run

    def _failed(self, error, _arrays):
        self.failure = error

    def take_failure(self):
        """Return the error of a first call that failed, or None; it is returned only once."""
        error, self.failure = self.failure, None
        return error

    @property
    def source(self):
        return self._form[0].source

    @property
    def nbytes(self):
        """(bytes of the arena, peak of the bytes that ops allocate outside it)"""
        program = self._form[0]
        return program.arena.nbytes, program.elsewhere

    # ---- events: loops and audits ----

    def _schedule(self, call):
        """Set the number of calls until the next event; -1 means that there is none."""
        due = [at for at in (self._loops_at, self._audits.at) if at is not None]
        self._event_at = min(due) if due else -1
        self._calls_left = max(0, self._event_at - call) if due else -1

    def _may_run(self):
        """Handle the event that is due; return False for an audit, which the caller performs."""
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
        """Whether an audit is due; until it is over, calls return None."""
        return self._audits.due

    def audited(self, postponed=False):
        """End an audit, or postpone it because this call took another path."""
        call = self._event_at
        (self._audits.postpone if postponed else self._audits.done)(call)
        self._schedule(call)

    # ---- change to Numba loops ----

    def _towards_loops(self, call):
        """Generate Numba loops, or compile them if it is time; after a failure keep NumPy."""
        doing, self._loops_at = "generating", None
        try:
            if self._loop_code is None:
                self._consider(call)
            if self._loop_code is not None and (self._loops_at or 0) <= call:
                doing = "compiling"
                self._promote()
        except Exception as error:
            self._stay(doing, error)

    def _stay(self, doing, error):
        self._loop_code = self._loops_at = None
        self.trouble = f"{doing} the loops failed ({brief(error)})"
        self._tell(f"stays with NumPy calls: {self.trouble}", error)

    def _consider(self, call):
        """Decide at which call loops replace NumPy calls, if at all."""
        graph = grouped(for_loops(self._graph), fits_loop, gains_as_loop, numbers=True)
        graph = rematerialized(graph)
        cost = sum(work(s) for s in graph.nodes if type(s) is FusionGroup)
        if not cost:
            return
        self._loop_code = NumbaCodegen(graph, *self._names)
        missing = sum(not loop.cached for loop in self._loop_code.loops)
        self._loops_at = max(call, calls_until_due(cost, missing))

    def _promote(self):
        """Compile or load the loops and use them from now on."""
        program, self._loop_code, self._loops_at = self._loop_code, None, None
        if tier.library("elementwise") is None:
            return
        form = program, program.compiled()
        numpy = self._form
        # Acquiring the lock waits until no thread runs the plan.
        lock = None if self._lock is None else self._acquire_lock()
        try:
            self.tier = "numba"
            self._install(form, lambda *failed: self._back(numpy, *failed))
        finally:
            if lock is not None:
                lock.append(True)

    def _back(self, numpy, error, arrays):
        """Return the result of NumPy calls after the loops raised; keep NumPy if it succeeds."""
        failed = []
        found = _slowly(self._on_trial(numpy, lambda *error: failed.append(error)), *arrays)
        if failed:
            return self._failed(*failed[0])
        if found is not None:
            self.tier, self._form = "numpy", numpy
            self._stay("running", error)
        return found

    def current(self):
        """Return whether the random generators are current: `set_seed` did not replace them."""
        return are_current(self._generators)

    def __call__(self, arrays):
        """Return the result arrays; None if a guard fails, before anything has changed."""
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
        # A KeyboardInterrupt can come after `pop` has acquired the lock, so release the lock.
        except BaseException:
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
            # An outer call of this thread has already entered `_context`, so `run` has not started.
            # `_slowly` suppresses warnings without `_context`.
            return _slowly(run, *arrays)
        finally:
            free.append(entry)

    def _another(self):
        """Return (list, function, warns, entry) for a call, if `_now` has no idle function."""
        free, run, warns, form = self._now
        if run is None:
            return free, None, warns, _new_run(form)
        within = any(plan is self for plan in self._outer())
        lock = self._acquire_lock()
        _, run, warns, form = self._now
        return lock, _new_run(form) if within else run, warns, True

    def _acquire_lock(self):
        return acquire(self._lock, [*held_locks(), *self.outer_locks()])

    @classmethod
    def outer_locks(cls):
        """Return the locks of the plans that this thread is running."""
        return [plan._lock for plan in cls._outer() if plan._lock is not None]

    @staticmethod
    def _outer():
        """Return the plans running in this thread: user code in a plan can call other plans."""
        found = callers(Plan.__call__.__code__)
        return [names["self"] for names in found if "entry" in names]


def _new_run(form):
    program, make = form
    return make(*program.arena.make())


def _states(graph):
    """Return the variables that count the draws of the random generators in the graph."""
    states = [getattr(s.draw.source, "state", None) for s in graph.draws]
    return list({id(state): state for state in states if state is not None}.values())


def _moved(graph):
    """Return how many bytes the elementwise nodes of a graph write."""
    nodes = [s for s in graph.nodes if type(s) is OpNode and s.op.kind == "elementwise"]
    return sum(v.nbytes for s in nodes for v in s.all_outputs)


def _fits_blocks(node):
    """Return whether a node can be computed in blocks: large, operands of its shape or 0-d."""
    if len(node.outputs) != 1:
        return False
    (output,) = node.outputs
    if output.size < _GROUPED or not output.in_order:
        return False
    if node.attrs or any(v.shape not in (output.shape, ()) for v in node.inputs):
        return False
    return ufunc_of(node.op) is not None or lowering.into(node) is not None
