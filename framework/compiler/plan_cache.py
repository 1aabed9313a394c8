"""The plan cache of one Python function: it traces calls, creates plans and runs them.

Two equal traces are compiled to a plan.
"""

import threading

from framework.compiler.audit_recorder import AuditRecorder
from framework.compiler.call_arguments import text_of
from framework.compiler.compiler_log import brief, tell
from framework.compiler.graph_comparison import difference
from framework.compiler.ir import GraphRecorder
from framework.compiler.plan import Plan
from framework.compiler.plan_locks import exclusive_trace
from framework.compiler.result_packing import result_packer
from framework.compiler.tracing import Trace, traced
from framework.core.recorders import thread
from framework.kernels import tier

_new = object.__new__
_PATHS = 8  # A signature has at most this many plans, one per path through Python conditions.
SIGNATURES = 32  # At most this many signatures get plans.
_PLANNED = object()  # `_twin` returns this object if a plan with an equal graph exists.
_ATTEMPTS = 3  # After this many calls that create variables, a signature is refused.


class NoPlanError(Exception):
    """Raised if a trace cannot become a plan; the message is the reason."""


class CachedPlan(Trace):
    """A plan with its trace.

    Args:
        plan: the plan.
        pack: a function that builds the result from arrays.
        graph: the graph of the trace.
        state: the Python state that the plan has guards on.
    """

    __slots__ = ("pack", "plan", "shared")

    def __init__(self, plan, pack, graph, state):
        super().__init__(graph, state)
        self.plan, self.pack, self.shared = plan, pack, plan.shared


class PlanCache:
    """Runs a function by plans, one per signature and path, or eagerly without a plan.

    Args:
        name: the name of the function, for the source and for messages.
        losses_stay: whether a plan may ignore losses that layers add but the function does not use.
    """

    def __init__(self, name, losses_stay=True):
        self.name, self._losses_stay = name, losses_stay
        self.plans = {}  # key of a signature -> [CachedPlan]
        self.refused = {}  # key -> the reason why calls with this key run eagerly
        self.seen = {}  # key -> [Trace]: traces for which there is no plan yet
        self.unlike = {}  # key -> number of calls that created variables or changed Python state
        self.user_code = {}  # key -> True if code outside the package calls ops
        self.attempts = {}  # key without its numbers -> the `_Attempts` of `SymbolicPlans`
        self.lock = threading.RLock()  # This lock is held while the tables above change.
        self._told = set()  # kinds of messages that have been logged

    def __reduce__(self):
        return PlanCache, (self.name, self._losses_stay)  # A copy creates its own plans.

    def __call__(self, key, arrays, body):
        """Return the result of `body(tensors)`, computed by a plan if one is valid.

        Args:
            key: the signature: everything on which the call depends, except the values of `arrays`.
            arrays: NumPy arrays; they are not changed.
            body: the `CallArguments`; tracing calls it with a tensor for each array.
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
        """Trace `body` and return (result, `Trace`).

        The trace is None if a plan cannot repeat the call. It is also None if another thread has
        created a valid plan meanwhile; this plan computes the result.

        Args:
            tried: the number of the key's plans that have been tried.
            watches: whether to watch user code even in the first call.
        """
        if self.refuses(key):
            return body(body.tensors(arrays)), None
        with exclusive_trace(Plan.outer_locks()):
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
            return CachedPlan(plan, run.pack, graph, state)

        return self.settled(key, run, held, run.graph, plan_of)

    def settled(self, key, run, held, make_graph, plan_of):
        """Process a traced call and return (result, `Trace` or None).

        Args:
            run: the `TracedCall`.
            held: what `held` returned before the call.
            make_graph: returns the graph of the call.
            plan_of: `plan_of(graph, state)` returns a CachedPlan.
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
        # The compiler failed, but the body has already returned its result.
        except Exception as error:
            self.refuse(key, f"generating the plan failed ({brief(error)})", error)
            return run.result, None
        return run.result, trace

    def held(self, key):
        """Return the traces and CachedPlans of a key whose Python state is unchanged."""
        traces = (*self.plans.get(key, ()), *self.seen.get(key, ()))
        return [trace for trace in traces if trace.holds()]

    def audit(self, key):
        """Return the `Audit` of one of a key's plans if one is due, else None."""
        for entry in self.plans.get(key, ()):
            if entry.plan.audit_due:
                if entry.holds():
                    return Audit(self, key, entry)
                entry.plan.audited(postponed=True)
        return None

    def why_not(self, run):
        """Return the reason why a plan cannot repeat a traced call, or None."""
        if (reason := run.trouble()) is not None:
            return reason
        layer = None if self._losses_stay else run.recording.left_in(run.leaves)
        return None if layer is None else f"{layer} adds a loss that the function does not use"

    def refuses(self, key):
        """Return whether calls with a key run eagerly, without further plans."""
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
        """Create a plan if an earlier trace is equal, else keep the trace for the next call.

        Equal means the same graph and the same Python state. If two traces differ and no guard
        distinguishes them, the cause is unknown, and the function runs eagerly from then on.

        Args:
            held: the traces and CachedPlans of this key with the Python state of this call.
        """
        if run.recording.runs_user_code:
            self.user_code[key] = True
        if run.recording.created_variables or run.changed is not None:
            self._unlike(key, run)
            if run.changed is not None:
                return
        else:
            self.unlike.pop(key, None)
        seen = self.seen.setdefault(key, [])
        twin = self._twin(key, trace, held, seen)
        if key in self.refused or twin is _PLANNED:
            return
        if twin is not None and trace.state is not None and not run.recording.created_variables:
            state = trace.state if twin.state is None else trace.state.joined(twin.state)
            self.plans.setdefault(key, []).append(plan_of(trace.graph, state))
            seen.remove(twin)
            if not seen:
                del self.seen[key]
        else:
            seen.append(trace)
            self._limit(key, seen)

    def _twin(self, key, trace, held, seen):
        """Return an earlier trace that is equal, or None.

        Return _PLANNED if a plan has an equal graph, but did not run because a guard failed.
        Let calls with this key run eagerly if two traces differ, neither is a first one (see
        `Trace`), and no guard distinguishes them.
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
        """Let calls with this key run eagerly if too many traces have led to no plan."""
        if len(seen) > _PATHS:
            changing = seen[-2].differs_from(seen[-1])
            path = "the function takes another path at every call"
            self.refuse(key, path if changing is None else f"{changing} changes from call to call")

    def _unlike(self, key, run):
        """Count a call that created variables or changed its Python state; refuse repeated ones."""
        count = self.unlike[key] = self.unlike.get(key, 0) + 1
        if run.recording.created_variables:
            if count > _ATTEMPTS:
                self.refuse(key, "the function creates variables at every call")
        elif count > 1:  # The first such call is accepted, because it may only have filled a cache.
            self.refuse(key, f"the function changes {run.changed}, which it reads")

    def _disagree(self, key, found):
        """Let calls with this key run eagerly: traces differ, and no guard distinguishes them."""
        what = found.what or "the executed path"
        where = f" at {found.line}" if found.line else ""
        self.plans.pop(key, None)
        self.refuse(key, f"{what} changes from call to call{where}")

    def _many(self):
        return len(self.plans) + len(self.seen.keys() | self.unlike.keys()) >= SIGNATURES

    def _why_full(self, entries):
        if entries:
            return f"conditions of the function took another path in each of {_PATHS} traces"
        return f"the function was called with more than {SIGNATURES} signatures, the limit of plans"

    def refuse(self, key, reason, error=None, quietly=False):
        """Run calls with this key eagerly from now on."""
        self.seen.pop(key, None)
        self.unlike.pop(key, None)
        if len(self.refused) < SIGNATURES:
            self.refused[key] = reason
        if not quietly:
            self._tell_reason(reason, error)

    def failure(self, key):
        """Return the error of a plan whose first call has just failed, or None."""
        found = [e.plan.take_failure() for e in self.plans.get(key, ())]
        return next((error for error in found if error is not None), None)

    def without(self, key, error, run):
        """Return `run()`, the eager result, after a plan raised `error`; refuse further plans.

        If `run()` raises as well, the error is the program's own, and the plan is kept.
        """
        result = run()
        self.plans.pop(key, None)
        self.refuse(key, f"running the plan failed ({brief(error)})", error)
        return result

    def drop_outdated(self, key):
        """Drop the plans whose random generators were replaced by `set_seed`.

        Returns:
            The number of remaining plans.
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
        """Drop the plans whose key contains `token`."""
        for known in self._known():
            for key in [key for key in list(known) if token in key]:
                known.pop(key, None)

    def forget_all(self):
        """Drop all plans and traces of the function."""
        for known in self._known():
            known.clear()

    def _known(self):
        known = self.plans, self.refused, self.seen, self.unlike, self.attempts
        return (*known, self.user_code)

    def explain(self):
        """Return a line for each signature: its plans, or the reason why it runs eagerly."""
        lines = []
        for key, entries in self.plans.items():
            reads = sorted({how for e in entries for how in e.plan.reads})
            guards = f", one for each path of values that Python reads ({', '.join(reads)})"
            count = f"{len(entries)} plan{'' if len(entries) == 1 else 's'}"
            troubles = sorted({e.plan.trouble for e in entries if e.plan.trouble is not None})
            troubles = [f" The plan stays with NumPy calls: {t}." for t in troubles]
            guards = guards if reads else ""
            memory = _memory([e.plan.nbytes for e in entries])
            lines.append(f"({text_of(key)}): {count}{guards}.{memory}{''.join(troubles)}")
        lines += [f"({text_of(key)}): runs eagerly: {why}." for key, why in self.refused.items()]
        return "\n".join(lines)

    def _tell_reason(self, reason, error=None):
        self.tell(f"runs eagerly: {reason}", error)

    def tell(self, sentence, error=None):
        """Log a message, once per kind of message (the text before the colon)."""
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
    """An eager call that replaces a call of a plan, to check that the plan is still valid.

    Args:
        plan_cache: the `PlanCache`.
        key: the key of the plan.
        entry: the CachedPlan.
    """

    def __init__(self, plan_cache, key, entry):
        self._plan_cache, self._key, self._entry = plan_cache, key, entry
        self.graph = entry.graph

    def settled(self, run, by_plan, difference=None):
        """Return the result of the call: the plan's if it is still valid, else that of the body.

        Args:
            run: the `TracedCall` of the body, usually recorded by an `AuditRecorder` of `graph`.
            by_plan: `by_plan(entry)` returns (result,) of the entry's plan, or None.
            difference: returns the `Difference`; by default that of the AuditRecorder.
        """
        if (reason := self._plan_cache.why_not(run)) is not None:
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
            return self.end(f"{found.what or 'the executed path'} changed{where}", run)
        if (changed := entry.state.changed()) is not None:
            return self.end(f"the function changes {changed}, which it reads", run)
        after = run.recording.undo()
        entry.plan.audited()
        found = by_plan(entry)
        if found is None:
            run.recording.redo(after)
            return run.result
        return found[0]

    def postpone(self):
        """Postpone the audit to a later call, because a guard fails in this call."""
        self._entry.plan.audited(postponed=True)

    def end(self, reason, run):
        """Drop the key's plans with a warning; return the result of the body."""
        plan_cache = self._plan_cache
        plan_cache.plans.pop(self._key, None)
        plan_cache.refuse(self._key, str(reason), quietly=True)
        tell(f"{plan_cache.name} drops its plan, which no longer matches its body: {reason}.")
        return run.result


def _memory(sizes):
    """Describe the memory of plans, given their `nbytes`; "" below 1 MB."""
    planned, allocated = (max(found) / 1e6 for found in zip(*sizes, strict=True))
    found = []
    if planned >= 1:
        arena = "Its arena takes" if len(sizes) == 1 else "Their arenas take up to"
        found.append(f" {arena} {planned:.1f} MB.")
    if allocated >= 1:
        found.append(f" New arrays that ops return or save take {allocated:.1f} MB.")
    return "".join(found)


def compiles():
    """Return whether this thread can run plans: no recorder, symbolic call or check is active."""
    # Each access to an attribute of a thread-local object costs time, so read its dict once.
    here = thread.__dict__
    return (
        not here["stack"]
        and here["symbolic"] is None
        and here["numerics"] is None
        # Reading `tier._tier`, which the first call of `tier.tier` sets, is faster than the call.
        and (tier._tier or tier.tier()) != "off"
    )
