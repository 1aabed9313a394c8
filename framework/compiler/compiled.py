"""Compiled: the plans of one Python function, traced as it is called, and why each exists.

A run is traced twice, and becomes a plan if both did the same.
"""

import threading

from framework.compiler.audit_recorder import AuditRecorder
from framework.compiler.call_arguments import text_of
from framework.compiler.compiler_log import brief, tell
from framework.compiler.graph_comparison import difference
from framework.compiler.ir import GraphRecorder
from framework.compiler.plan import Plan
from framework.compiler.result_packing import result_packer
from framework.compiler.tracing import Trace, traced
from framework.compiler.turns import exclusive
from framework.core.recorders import thread
from framework.kernels import tier

_new = object.__new__
_PATHS = 8  # plans for one signature: ways through Python's conditions
SIGNATURES = 32  # signatures that get plans
_PLANNED = object()  # instead of a trace: a plan does the same
_ATTEMPTS = 3  # runs of which each makes variables, before it is given up


class NoPlanError(Exception):
    """Why a run that could be repeated cannot become a plan."""


class Entry(Trace):
    """A plan, the trace it was made from, and how its arrays are handed out.

    Args:
        plan: the plan.
        pack: a function from the result arrays to the result.
        run: the traced run.
        graph: of that run.
        state: the Python state that the plan is guarded by.
    """

    __slots__ = ("pack", "plan", "shared")

    def __init__(self, plan, pack, graph, state):
        super().__init__(graph, state)
        self.plan, self.pack, self.shared = plan, pack, plan.shared


class Compiled:
    """Runs a body by plans, one for each signature and path, and in Python where it must be.

    Args:
        name: of the function, for the source and for messages.
        losses_stay: whether nobody asks layers for their losses after the function.
    """

    def __init__(self, name, losses_stay=True):
        self.name, self._losses_stay = name, losses_stay
        self.plans = {}  # key of a signature -> [Entry]
        self.refused = {}  # key -> why it runs in Python
        self.seen = {}  # key -> [Trace] of runs without a plan
        self.unlike = {}  # key -> how many runs made variables or changed Python state
        self.user_code = {}  # key -> True where runs are in code outside the package
        self.attempts = {}  # key without its numbers -> what `Numbered` knows of it
        self.lock = threading.RLock()  # who has it may change what is known
        self._told = set()  # kinds of sentences

    def __reduce__(self):
        return Compiled, (self.name, self._losses_stay)  # a copy makes plans of its own

    def __call__(self, key, arrays, body):
        """The result of `body(tensors)`, by a plan where there is one.

        Args:
            key: all that the run depends on besides the values of `arrays`.
            arrays: NumPy arrays, never changed.
            body: the `Arguments`; called with a tensor for each array, while it is traced.
        """
        entries = self.plans.get(key)
        tried = 0
        if entries is not None:
            for entry in entries:
                given = body.own(arrays, entry.shared) if entry.shared else arrays
                found = entry.plan(given)
                if found is not None:
                    return entry.pack(found)
            if (error := self.failure(key)) is not None:
                return self.without(key, error, lambda: body(body.tensors(arrays)))
            tried = self.drop_outdated(key)
        return self.traced(key, arrays, body, tried)[0]

    def traced(self, key, arrays, body, tried=0, watches=False):
        """The result of `body`, run in Python, and the `Trace` of the run.

        The trace is None where the run cannot be repeated, or where another thread made a plan
        meanwhile, which gives the result.

        Args:
            tried: how many of the key's plans have been tried already.
            watches: whether Python code is watched in the first run already.
        """
        if self.refuses(key):
            return body(body.tensors(arrays)), None
        with exclusive(Plan.outer_turns()):
            for entry in self.plans.get(key, ())[tried:]:
                given = body.own(arrays, entry.shared) if entry.shared else arrays
                found = entry.plan(given)
                if found is not None:
                    return entry.pack(found), None
            if self.refuses(key):
                return body(body.tensors(arrays)), None
            return self._traced(key, arrays, body, watches)

    def _traced(self, key, arrays, body, watches):
        tensors = body.tensors(arrays)
        lines, call = key in self.user_code, lambda: body(tensors)

        def by_plan(entry):
            given = body.own(arrays, entry.shared) if entry.shared else arrays
            found = entry.plan(given)
            return None if found is None else (entry.pack(found),)

        if (audit := self.audit(key)) is not None:
            recorder = AuditRecorder(audit.graph, tensors)
            run = traced(recorder, call, result_packer, watches=False, keeps_lines=lines)
            return audit.settled(run, by_plan), None
        held, recording = self.held(key), GraphRecorder(tensors)
        function, watches = getattr(body, "function", None), watches or lines
        looks = not (key in self.seen or key in self.unlike)
        run = traced(recording, call, result_packer, function, watches, looks, lines)
        names = lambda: getattr(body, "names", None) or [f"x{i}" for i in range(len(arrays))]

        def plan_of(graph, state):
            ordered = all(array.flags.c_contiguous for array in arrays)
            plan = Plan(graph, self.name, names(), self.tell, state, True, ordered)
            return Entry(plan, run.pack, graph, state)

        return self.settled(key, run, held, run.graph, plan_of)

    def settled(self, key, run, held, make_graph, plan_of):
        """Take in a traced run: what the call returns, and the run's `Trace` or None.

        Args:
            run: the `Run`.
            held: what `held` gave before the run.
            make_graph: gives the graph of the run.
            plan_of: `plan_of(graph, state)` gives an Entry.
        """
        try:
            if (reason := self.why_not(run)) is not None:
                raise NoPlanError(reason)
            trace = run.trace(make_graph())
            with self.lock:
                self.consider(key, run, trace, held, plan_of)
        except NoPlanError as reason:
            self.refuse(key, str(reason))
            return run.result, None
        except Exception as error:  # the body's own have come through before
            self.refuse(key, f"writing its plan failed ({brief(error)})", error)
            return run.result, None
        return run.result, trace

    def held(self, key):
        """The traces and entries of a key that read the same Python state as a run now would."""
        traces = (*self.plans.get(key, ()), *self.seen.get(key, ()))
        return [trace for trace in traces if trace.holds()]

    def audit(self, key):
        """The `Audit` of one of a key's plans, where one is due; else None."""
        for entry in self.plans.get(key, ()):
            if entry.plan.audit_due:
                if entry.holds():
                    return Audit(self, key, entry)
                entry.plan.audited(postponed=True)
        return None

    def why_not(self, run):
        """Why a traced run cannot be repeated by a plan; None if it can be."""
        if (reason := run.trouble()) is not None:
            return reason
        layer = None if self._losses_stay else run.recording.left_in(run.leaves)
        return None if layer is None else f"{layer} adds a loss that it does not use itself"

    def refuses(self, key):
        """Whether what has this key runs in Python for good, or has all the plans that it may."""
        if key in self.refused:
            return True
        entries = self.plans.get(key, ())
        known = key in self.plans or key in self.seen or key in self.unlike
        if len(entries) < _PATHS and (known or not self._many()):
            return False
        if any(entry.plan.audit_due for entry in entries):
            return False
        self._tell_reason(self._why_full(entries))
        return True

    def consider(self, key, run, trace, held, plan_of):
        """Make the plan of a trace that two runs left, or keep it for the next run.

        A plan is made of two runs that did the same and read the same Python state. Two runs that
        differ must be told apart by a guard: what else made them differ is not known, and the body
        runs in Python from then on.

        Args:
            held: the traces and entries of this key whose Python state was there as the run began.
        """
        if run.recording.runs_user_code:
            self.user_code[key] = True
        if run.recording.made_variables or run.changed is not None:
            self._unlike(key, run)
            if run.changed is not None:
                return
        else:
            self.unlike.pop(key, None)
        seen = self.seen.setdefault(key, [])
        twin = self._twin(key, trace, held, seen)
        if key in self.refused or twin is _PLANNED:
            return
        if twin is not None and trace.state is not None and not run.recording.made_variables:
            state = trace.state if twin.state is None else trace.state.joined(twin.state)
            self.plans.setdefault(key, []).append(plan_of(trace.graph, state))
            seen.remove(twin)
            if not seen:
                del self.seen[key]
        else:
            seen.append(trace)
            self._limit(key, seen)

    def _twin(self, key, trace, held, seen):
        """The trace of an earlier run that did the same; None without one.

        It is _PLANNED where a plan did the same: a guard inside the plan failed. The key is refused
        where a run differs and no guard tells the two apart, but for first runs.
        """
        twin = None
        for other in held:
            found = difference(other.graph, trace.graph)
            if found is None and other not in seen:
                return _PLANNED
            if found is None and not other.differs_from(trace):
                twin = other
            elif found is None or found.guarded:
                continue
            elif other.is_first and other in seen:
                seen.remove(other)
            elif not trace.is_first:
                self._disagree(key, found)
                return None
        return twin

    def _limit(self, key, seen):
        """Give up where too many runs have no plan."""
        if len(seen) > _PATHS:
            changing = seen[-2].differs_from(seen[-1])
            way = "it takes another way at every call"
            self.refuse(key, way if changing is None else f"{changing} changes from call to call")

    def _unlike(self, key, run):
        """Count a run that no later one can be like."""
        count = self.unlike[key] = self.unlike.get(key, 0) + 1
        if run.recording.made_variables:
            if count > _ATTEMPTS:
                self.refuse(key, "it makes variables at every call")
        elif count > 1:  # the first may have been the one that fills a cache
            self.refuse(key, f"it changes {run.changed}, which it reads")

    def _disagree(self, key, found):
        """Two runs differ, and no guard tells them apart."""
        what = found.what or "the way through the code"
        where = f" at {found.line}" if found.line else ""
        self.plans.pop(key, None)
        self.refuse(key, f"{what} changes from call to call{where}")

    def _many(self):
        return len(self.plans) + len(self.seen.keys() | self.unlike.keys()) >= SIGNATURES

    def _why_full(self, entries):
        if entries:
            return f"it took another way through its conditions in each of {_PATHS} runs"
        return f"it was called with {SIGNATURES} signatures, as many as get plans"

    def refuse(self, key, reason, error=None, quietly=False):
        """Run what has this key in Python from now on."""
        self.seen.pop(key, None)
        self.unlike.pop(key, None)
        if len(self.refused) < SIGNATURES:
            self.refused[key] = reason
        if not quietly:
            self._tell_reason(reason, error)

    def failure(self, key):
        """The error of a plan's first run, where one has just failed."""
        found = [e.plan.failure for e in self.plans.get(key, ()) if e.plan.failure is not None]
        return found[0] if found else None

    def without(self, key, error, run):
        """The result of `run()`, where a plan raised `error`; it is refused if that does not."""
        result = run()
        self.plans.pop(key, None)
        self.refuse(key, f"running its plan failed ({brief(error)})", error)
        return result

    def drop_outdated(self, key):
        """Let go of the plans that draw from generators which `set_seed` has replaced.

        Returns:
            How many plans are left.
        """
        with self.lock:
            entries = self.plans.get(key, ())
            kept = [entry for entry in entries if entry.plan.current()]
            if not kept:
                self.plans.pop(key, None)
            elif len(kept) < len(entries):
                self.plans[key] = kept
            return len(kept)

    def forget(self, token):
        """Drop the plans whose key holds `token`."""
        for known in self._known():
            for key in [key for key in list(known) if token in key]:
                known.pop(key, None)

    def forget_all(self):
        """Drop all plans: what they took for granted has changed."""
        for known in self._known():
            known.clear()

    def _known(self):
        known = self.plans, self.refused, self.seen, self.unlike, self.attempts
        return (*known, self.user_code)

    def explain(self):
        """A line for each signature: its plans, or why it runs in Python."""
        lines = []
        for key, entries in self.plans.items():
            reads = sorted({how for e in entries for how in e.plan.reads})
            guards = f", one for each way through what Python reads ({', '.join(reads)})"
            count = f"{len(entries)} plan{'' if len(entries) == 1 else 's'}"
            troubles = sorted({e.plan.trouble for e in entries if e.plan.trouble is not None})
            troubles = [f" It stays with NumPy calls: {t}." for t in troubles]
            guards = guards if reads else ""
            memory = _memory([e.plan.nbytes for e in entries])
            lines.append(f"({text_of(key)}): {count}{guards}.{memory}{''.join(troubles)}")
        lines += [f"({text_of(key)}): in Python: {why}." for key, why in self.refused.items()]
        return "\n".join(lines)

    def _tell_reason(self, reason, error=None):
        self.tell(f"runs in Python: {reason}", error)

    def tell(self, sentence, error=None):
        """Say what it does, once for each kind of sentence (what is before the colon)."""
        kind = sentence.partition(":")[0]
        if kind not in self._told:
            self._told.add(kind)
            tell(f"{self.name} {sentence}.", error)

    @property
    def source(self):
        """The Python source of the plans, in the order in which they were traced."""
        entries = [e for found in self.plans.values() for e in found]
        return "\n".join(e.plan.source for e in entries)


class Audit:
    """A run in Python instead of a call of a plan, to see whether it still does the same.

    Args:
        compiled: the `Compiled`.
        key: of the plan.
        entry: of the plan.
    """

    def __init__(self, compiled, key, entry):
        self._compiled, self._key, self._entry = compiled, key, entry
        self.graph = entry.graph

    def settled(self, run, by_plan, difference=None):
        """The result of the call: by the plan if the run did the same, else the run's.

        Args:
            run: the `Run`, its recording a `AuditRecorder` with `graph`.
            by_plan: `by_plan(entry)` gives (the result of the call by an entry's plan,), or None.
            difference: gives the `Difference`; without it the recording is asked.
        """
        if (reason := self._compiled.why_not(run)) is not None:
            return self.end(reason, run)
        if difference is None:
            found = run.recording.difference(run.leaves, run.structure)
        else:
            try:
                found = difference()
            except NoPlanError as reason:
                return self.end(reason, run)
        entry = self._entry
        if found is not None and found.guarded:
            self.postpone()
            return run.result
        if found is not None:
            where = f" at {found.line}" if found.line else ""
            return self.end(f"{found.what or 'the way through the code'} changed{where}", run)
        if (changed := entry.state.changed()) is not None:
            return self.end(f"it changes {changed}, which it reads", run)
        after = run.recording.undo()
        entry.plan.audited()
        found = by_plan(entry)
        if found is None:
            run.recording.redo(after)
            return run.result
        return found[0]

    def postpone(self):
        """Let the plan go on: this call takes another way through the code."""
        self._entry.plan.audited(postponed=True)

    def end(self, reason, run):
        """Drop the key's plans with one warning; the result of the run."""
        compiled = self._compiled
        compiled.plans.pop(self._key, None)
        compiled.refuse(self._key, str(reason), quietly=True)
        tell(f"{compiled.name} ends its plan, which no longer does what its body does: {reason}.")
        return run.result


def _memory(sizes):
    """Sentences on the memory of plans, `nbytes` of each, where it is worth them."""
    planned, allocated = (max(found) / 1e6 for found in zip(*sizes, strict=True))
    found = []
    if planned >= 1:
        works = "It works in" if len(sizes) == 1 else "They work in up to"
        found.append(f" {works} {planned:.1f} MB.")
    if allocated >= 1:
        beside = " beside it" if found else ""
        found.append(f" What ops return or keep in new arrays takes {allocated:.1f} MB{beside}.")
    return "".join(found)


def compiles():
    """Whether a call may run by a plan here: nobody listens, and nothing is symbolic."""
    here = thread.__dict__  # this thread's, fetched once
    return (
        not here["stack"]
        and here["symbolic"] is None
        and here["numerics"] is None
        and (tier._tier or tier.tier()) != "off"  # without a call, but for the first time
    )
