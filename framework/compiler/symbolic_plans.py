"""Plans for functions of Python numbers; one plan is valid for all values of the numbers."""

from framework.compiler.audit_recorder import AuditRecorder
from framework.compiler.compiler_log import brief
from framework.compiler.graph_comparison import Difference, difference
from framework.compiler.ir import Graph, GraphRecorder
from framework.compiler.plan import Plan
from framework.compiler.plan_cache import SIGNATURES, CachedPlan
from framework.compiler.plan_locks import exclusive_trace
from framework.compiler.result_packing import result_packer
from framework.compiler.symbolic_numbers import ScalarProgram
from framework.compiler.tracing import traced

# A signature has at most this many plans and traces; above that, numbers are part of the signature.
_ATTEMPTS = 8


class SymbolicPlans:
    """Runs functions with ints and floats among their arguments by a `PlanCache`.

    In the first call, a number is part of the signature. A call with another number is traced with
    a symbolic number. The symbolic trace becomes a plan if it equals a trace with plain numbers,
    the previous one or the next one.
    """

    def __init__(self, plan_cache):
        self._plan_cache = plan_cache

    def __call__(self, key, arrays, numbers, body):
        """Return the result of a call, as PlanCache does; `numbers` are the pairs of `describe`."""
        plan_cache = self._plan_cache
        values = [number for _, number in numbers]
        general = list(key)
        for place, number in numbers:
            general[place] = "any " + type(number).__name__
        general = tuple(general)
        entries = plan_cache.plans.get(general, ())
        for entry in entries:
            given = body.own(arrays, entry.shared) if entry.shared else arrays
            found = entry.plan(given, values)
            if found is not None:
                return entry.pack(found)
        in_python = lambda: body(body.tensors(arrays))
        if general in plan_cache.refused:
            return in_python()
        if (error := plan_cache.failure(general)) is not None:
            return plan_cache.without(general, error, in_python)
        if any(entry.plan.audit_due for entry in entries):
            return self._audit(general, arrays, values, body)
        if entries and not plan_cache.drop_outdated(general):
            entries = ()
        return self._without_plan(key, general, arrays, values, body, len(entries))

    def _without_plan(self, key, general, arrays, values, body, plans):
        """Return the result of a call for which no plan is valid, after tracing it."""
        plan_cache = self._plan_cache
        if key in plan_cache.plans or key in plan_cache.refused:
            return plan_cache(key, arrays, body)
        if general not in plan_cache.attempts and len(plan_cache.attempts) >= SIGNATURES:
            return plan_cache(key, arrays, body)
        attempts = plan_cache.attempts.setdefault(general, _Attempts())
        if attempts.over or plans + attempts.count > _ATTEMPTS:
            attempts.give_up()
            return plan_cache(key, arrays, body)
        open_ones = [c for c in attempts.open if c.scalar_program.values(values) is not None]
        if not attempts.plain or open_ones:
            return self._trace_plain(key, general, arrays, values, body, attempts)
        if any(v == values for v, _ in attempts.plain):
            return plan_cache(key, arrays, body)
        return self._trace_symbolic(key, general, arrays, values, body, attempts)

    def _audit(self, general, arrays, values, body):
        """Return the result of a call in which a plan is audited (see `audits.py`)."""
        plan_cache = self._plan_cache
        with exclusive_trace(Plan.outer_locks()):
            audit, tensors = plan_cache.audit(general), body.tensors(arrays)
            given = None if audit is None else audit.graph.given(values)
            if given is None:
                if audit is not None:
                    audit.postpone()
                return body(tensors)
            recorder = AuditRecorder(audit.graph, tensors, given)
            call = lambda: body(tensors)
            run = traced(recorder, call, result_packer, watches=False, keeps_lines=True)

            def by_plan(entry):
                given = body.own(arrays, entry.shared) if entry.shared else arrays
                found = entry.plan(given, values)
                return None if found is None else (entry.pack(found),)

            return audit.settled(run, by_plan)

    def _trace_plain(self, key, general, arrays, values, body, attempts):
        plan_cache = self._plan_cache
        result, trace = plan_cache.traced(key, arrays, body, watches=True)
        if key in plan_cache.refused or (trace is not None and trace.asks_for_types):
            attempts.give_up()
        elif trace is not None:
            self._settle(general, attempts, plain=(values, trace))
        return result

    def _trace_symbolic(self, key, general, arrays, values, body, attempts):
        with exclusive_trace(Plan.outer_locks()):
            return self._trace_symbolic_exclusively(key, general, arrays, values, body, attempts)

    def _trace_symbolic_exclusively(self, key, general, arrays, values, body, attempts):
        tensors = body.tensors(arrays)
        recording = GraphRecorder(tensors, undoable=True)
        scalar_program = ScalarProgram(recording, values)
        run_body = lambda: body(tensors, scalar_program.numbers)
        try:
            run = traced(recording, run_body, result_packer, body.function)
        except TypeError:
            # The body may require plain numbers, so undo the call and repeat it with plain numbers.
            attempts.give_up()
            recording.undo()
            return self._plan_cache(key, arrays, body)
        finally:
            scalar_program.close()
        if run.trouble() is not None or recording.created_variables or run.changed is not None:
            attempts.give_up()
            return run.result
        make = lambda: _Candidate(run, scalar_program, body.names, len(arrays))
        self._settle(general, attempts, candidate=make)
        return run.result

    def _settle(self, general, attempts, plain=None, candidate=None):
        """Add a trace; create a plan if a plain and a symbolic trace are equal.

        Args:
            plain: (numbers, trace) of a trace with plain numbers, or None.
            candidate: a function that returns a `_Candidate`; used if `plain` is None.
        """
        plan_cache = self._plan_cache
        try:
            with plan_cache.lock:
                if plain is not None:
                    attempts.plain.append(plain)
                    candidates, plains = attempts.open, [plain]
                else:
                    attempts.open.append(candidate())
                    candidates, plains = attempts.open[-1:], attempts.plain
                for made in list(candidates):
                    found = [made.compared_to(*given) for given in plains]
                    if any(each is not None and each.unlike for each in found):
                        attempts.give_up()
                        return
                    if None in found:
                        self._make_plan(general, made, plains[found.index(None)][1])
                        attempts.open.remove(made)
                        break
        # The compiler failed, but the body has already returned its result.
        except Exception as error:
            attempts.give_up()
            plan_cache.refuse(general, f"generating the plan failed ({brief(error)})", error)

    def _make_plan(self, general, candidate, trace):
        plan = SymbolicPlan(candidate, trace.state.joined(candidate.state), self._plan_cache)
        entry = CachedPlan(plan, candidate.pack, candidate.graph, candidate.state)
        self._plan_cache.plans.setdefault(general, []).append(entry)


class SymbolicPlan:
    """A plan with the ScalarProgram that computes its scalar arguments."""

    def __init__(self, candidate, state, plan_cache):
        names = [*candidate.names, *(f"number_{i}" for i in range(len(candidate.added)))]
        plan = Plan(candidate.graph, plan_cache.name, names, plan_cache.tell, state, audited=True)
        self._plan, self._prelude = plan, candidate.scalar_program
        self.audited = plan.audited
        self.current = self._plan.current
        self.shared = [n for n in self._plan.shared if n < len(candidate.names)]
        self.reads = [*self._plan.reads, *self._prelude.reads]

    @property
    def source(self):
        return self._plan.source

    @property
    def trouble(self):
        return self._plan.trouble

    @property
    def nbytes(self):
        return self._plan.nbytes

    def take_failure(self):
        return self._plan.take_failure()

    @property
    def audit_due(self):
        return self._plan.audit_due

    def __call__(self, arrays, numbers):
        """Run the plan as `Plan` does; `numbers` are the ints and floats of the call."""
        added = self._prelude(numbers)
        return None if added is None else self._plan([*arrays, *added])


class _OpenGraph(Graph):
    """The graph of a trace with symbolic numbers, and their ScalarProgram.

    Args:
        graph: the graph.
        scalar_program: the `ScalarProgram`.
        arrays: the number of arguments that are arrays.
    """

    def __init__(self, graph, scalar_program, arrays):
        super().__init__(graph.arguments, graph.nodes, graph.assigned, graph.results)
        self.structure, self.blocks, self.scalar_program = (
            graph.structure,
            graph.blocks,
            scalar_program,
        )
        self.added = graph.arguments[arrays:]  # the graph's arguments that represent numbers

    def given(self, values):
        """Return {id of an added argument: its number}, or None if a guard fails."""
        found = self.scalar_program.values(values)
        if found is None:
            return None
        return {id(v): number for v, number in zip(self.added, found, strict=True)}


def _compare(graph, open_graph, values):
    """Return the `Difference` between a trace with plain and one with symbolic numbers."""
    given = open_graph.given(values)
    if given is None:
        return Difference("", guarded=True)
    return difference(graph, open_graph, given)


class _Candidate:
    """A trace with symbolic numbers that no trace with plain numbers has confirmed yet."""

    def __init__(self, run, scalar_program, names, arrays):
        self.graph = _OpenGraph(run.graph(), scalar_program, arrays)
        self.scalar_program, self.pack, self.names, self.state = (
            scalar_program,
            run.pack,
            names,
            run.state,
        )
        self.added = self.graph.added

    def compared_to(self, values, trace):
        """Return the `Difference` from a plain trace, or None if the traces are equal."""
        if (changing := self.state.differs_from(trace.state)) is not None:
            return Difference(changing, guarded=True)
        return _compare(trace.graph, self.graph, values)


class _Attempts:
    """Traces of one signature that have not become plans yet."""

    def __init__(self):
        self.plain = []  # (numbers, trace) of traces with plain numbers
        self.open = []
        self.over = False

    def give_up(self):
        self.plain, self.open, self.over = [], [], True

    @property
    def count(self):
        return len(self.plain) + len(self.open)
