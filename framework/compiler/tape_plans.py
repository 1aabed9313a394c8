"""Calls of a compiled function under a `GradientTape`: plans for the trace and for its gradients.

The body is traced together with its gradients, and `partition` cuts the joint graph in two. When
the plan of the forward pass runs, the tape records one op for the whole call, whose rule is the
plan of the backward pass. For higher derivatives, jacobians and recorders that need each op, the
call is repeated op by op from the same inputs.
"""

import itertools
import weakref

import numpy as np

from framework.autodiff.batching import Batched
from framework.autodiff.notes import PAUSED, RESET, UNMET, WATCHED
from framework.autodiff.tape import GradientTape, through_composite
from framework.compiler.call_arguments import ObjectToken
from framework.compiler.compiler_log import brief
from framework.compiler.graph_comparison import difference
from framework.compiler.ir import GraphRecorder
from framework.compiler.partition import JointGraph, Partition, why_not, why_not_gradients
from framework.compiler.plan import Plan
from framework.compiler.plan_cache import CachedPlan, NoPlanError
from framework.compiler.plan_locks import exclusive_trace
from framework.compiler.result_packing import first_places, result_packer
from framework.compiler.tracing import traced
from framework.core import nest
from framework.core.op import Op
from framework.core.recorders import serials, thread
from framework.core.tensor import Tensor
from framework.ops.slices import IndexedSlices

UNDER_TAPE = ObjectToken("under a tape")
# At most this many results can have gradients, because each subset of them is differentiated
# separately.
_RESULTS = 3


def listening_tape():
    """Return the tape if the only open recorder is a GradientTape (no subclass), else None."""
    stack = thread.stack
    alone = len(stack) == 1 and type(stack[0]) is GradientTape and thread.symbolic is None
    return stack[0] if alone and thread.numerics is None else None


class TapePlans:
    """Runs calls by plans of `PlanCache` while one tape is open, and records them on the tape."""

    def __init__(self, plan_cache):
        self._plan_cache = plan_cache

    def __call__(self, key, arrays, tape, body, in_python):
        """Return the result of a call, like `PlanCache`, and record the call on the tape.

        Args:
            tape: the open tape.
            in_python: `in_python()` runs the call eagerly.
        """
        plan_cache, tracked, given = self._plan_cache, tape._tracked, body.leaves()
        # For each argument, the index of its first occurrence if the tape watches it, else -1.
        first, first_indices = {}, []
        for place, each in enumerate(given):
            followed = type(each) is Tensor and each.serial in tracked
            first_indices.append(first.setdefault(each.serial, place) if followed else -1)
        key = (UNDER_TAPE, tuple(first_indices), *key)
        entries = plan_cache.plans.get(key)
        tried = 0
        if entries is not None:
            for entry in entries:
                found = self._by_plan(entry, arrays, given, tape, body)
                if found is not None:
                    return found[0]
            if (error := plan_cache.failure(key)) is not None:
                return plan_cache.without(key, error, in_python)
            tried = plan_cache.drop_outdated(key)
        if plan_cache.refuses(key):
            return in_python()
        with exclusive_trace(Plan.outer_locks()):
            for entry in plan_cache.plans.get(key, ())[tried:]:
                found = self._by_plan(entry, arrays, given, tape, body)
                if found is not None:
                    return found[0]
            if plan_cache.refuses(key):
                return in_python()
            return self._traced(key, arrays, given, first_indices, tape, body)

    @staticmethod
    def _by_plan(entry, arrays, given, tape, body):
        """Run a plan and record it on the tape; return (result,), or None if a guard fails."""
        own = body.own(arrays, entry.shared) if entry.shared else arrays
        return entry.plan(own, given, tape, entry.pack)

    def _traced(self, key, arrays, given, first_indices, tape, body):
        plan_cache = self._plan_cache
        audit = plan_cache.audit(key)
        held = [] if audit is not None else plan_cache.held(key)
        own = body.own(arrays)
        copies = [_copy(each, array) for each, array in zip(given, own, strict=True)]
        edges, notes = len(tape._edges), len(tape._notes)
        recording = _TapeGraphRecorder(copies, undoable=audit is not None)
        inner = GradientTape(True, tape._watch_accessed)
        outer = thread.stack

        def run_body():
            # Outer recorders, such as the user's tape, and `inner` record the body as well.
            thread.stack = (*outer, inner, recording)
            return body(copies)

        with inner:
            inner.watch([*tape.watched_variables(), *(copies[n] for n in _firsts(first_indices))])
            watches = audit is None and key in plan_cache.user_code
            run = traced(
                recording, run_body, result_packer, body.function, watches, keeps_lines=not watches
            )
        taped = _TapedTrace(run, inner, copies, first_indices, tape)

        def graph():
            if any(kind in (PAUSED, RESET, UNMET, WATCHED) for kind, *_ in tape._notes[notes:]):
                raise NoPlanError(
                    "the function pauses or resets the outer tape, or watches a tensor on it"
                )
            if recording.outside(tape):
                raise NoPlanError("the function uses a watched tensor that is not an argument")
            return taped.differentiate()

        def plan_of(joint, state):
            return CachedPlan(
                TapePlan(taped, plan_cache, body.names, state), run.pack, joint, state
            )

        def by_plan(entry):
            # Remove the edges and notes of the body, because the plan records one edge for the
            # whole call.
            del tape._edges[edges:], tape._notes[notes:]
            return self._by_plan(entry, arrays, given, tape, body)

        if audit is not None:
            return audit.settled(run, by_plan, lambda: difference(audit.graph, graph()))
        return plan_cache.settled(key, run, held, graph, plan_of)[0]


def _copy(given, array):
    """Return `array` as a tensor with the serial of `given`, so that a tape treats both as one."""
    tensor = Tensor(array)
    if type(given) is Tensor:
        if given.serial is None:
            given.serial = next(serials)
        tensor.serial = given.serial
    return tensor


def _firsts(first_indices):
    """Return the index of the first occurrence of each watched tensor."""
    return [place for place, n in enumerate(first_indices) if n == place]


def _watches(tape, variable):
    return variable.serial in tape._variables or (tape._watch_accessed and variable._trainable)


class _TapeGraphRecorder(GraphRecorder):
    """A GraphRecorder that also notes variables and tensors from outside the call.

    The copy of an argument has the serial of the user's tensor, which a closure may also hold. So
    arguments are identified by object identity.
    """

    def __init__(self, copies, undoable=False):
        super().__init__(copies, undoable)
        self._given = {id(t): (t, v) for t, v in zip(copies, self.arguments, strict=True)}
        self._values.clear()
        self.read = {}  # serial of a variable that the call reads -> variable
        self._from_outside = []

    def known(self, tensor):
        given = self._given.get(id(tensor))
        if given is not None:
            return given[1]
        value = super().known(tensor)
        if value is None:
            self._from_outside.append(weakref.ref(tensor))
        return value

    def variable_read(self, variable, tensor):
        self.read[variable.serial] = variable
        super().variable_read(variable, tensor)

    def at_first(self, variable):
        """Return the Value of a variable before the call; None if the call did not read it."""
        return self._read.get(variable.serial)

    def still_there(self):
        """Return weak references to those tensors from outside the call that are still alive."""
        found = {id(t): ref for ref in self._from_outside if (t := ref()) is not None}
        return list(found.values())

    def outside(self, tape):
        return _follows_any(tape, self.still_there())


def _follows_any(tape, references):
    tracked = tape._tracked
    return any((t := ref()) is not None and t.serial in tracked for ref in references)


class _TapedTrace:
    """A traced call and its joint graph with gradients.

    Args:
        run: the `TracedCall`; its result is a nest of tensors.
        inner: the tape that recorded only this call.
        copies: the argument tensors of the body.
        first_indices: for each argument, the index of its first occurrence if the tape watches it,
            else -1.
        tape: the user's tape.
    """

    def __init__(self, run, inner, copies, first_indices, tape):
        self._run, self._recording, self._inner = run, run.recording, inner
        self._leaves, self._copies = run.leaves or [], copies
        recording, leaves = self._recording, self._leaves
        self.followed = _firsts(first_indices)
        self.variables = [(v, _watches(tape, v)) for v in recording.read.values()]
        self.watched = [v for v, watched in self.variables if watched]
        firsts = enumerate(first_places(leaves))
        self.made = [n for n, first in firsts if n == first and leaves[n].serial in inner._tracked]
        self.joint = None

    def differentiate(self):
        """Trace the gradients; set and return `joint`.

        Only derivative rules of the op table can run, because a user's gradient function would be
        called once more than the user expects.

        Raises:
            NoPlanError: gradients cannot be traced; the message is the reason.
        """
        reason = why_not(self._recording.nodes) or self._differentiate()
        if reason is not None:
            raise NoPlanError(reason)
        return self.joint

    def _differentiate(self):
        recording, made = self._recording, [self._leaves[place] for place in self.made]
        sources = [*(self._copies[n] for n in self.followed), *self.watched]
        if any(t.array.dtype.kind != "f" for t in (*made, *sources)):
            return "the tape watches values that are not real floats"
        if len(made) > _RESULTS:
            return f"more than {_RESULTS} of the function's results have gradients"
        if any(v.serial in recording.assigned for v in self.watched):
            return "the function assigns a variable that the tape watches"
        began, count = len(recording.nodes), len(self._leaves)
        assigned = dict(recording.assigned)
        seeds = [Tensor(np.ones(t.array.shape, t.array.dtype)) for t in made]
        found, gradients, missing = [], {}, thread.missing
        with recording:
            for seed in seeds:
                recording.take_argument(seed)
            for which in itertools.product((True, False), repeat=len(made)):
                if not any(which):
                    continue
                targets, cotangents = zip(
                    *[(t, s) for t, s, asked in zip(made, seeds, which) if asked]
                )
                grads = self._inner.gradient(list(targets), sources, list(cotangents))
                thread.missing = missing
                if any(type(g) is IndexedSlices for g in grads):
                    return "a gradient is sparse (IndexedSlices)"
                if all(which) and any(g is None for g in grads):
                    return "a watched input has no gradient"
                places = []
                for grad in grads:
                    places.append(None if grad is None else count + len(found))
                    found += [] if grad is None else [grad]
                gradients[which] = places
        if sources and not made:
            return "a watched input has no gradient"
        graph = recording.graph([*self._leaves, *found])
        if assigned.keys() != recording.assigned.keys() or recording.refusal is not None:
            return "the backward pass assigns variables or reads values"
        graph.structure = self._run.structure
        facts = self.made, [v.serial for v in recording.read.values()]
        values = graph.arguments[len(self._copies) :]
        self.joint = JointGraph(graph, began, count, values, gradients, facts)
        self.joint.watched = {v.serial: watched for v, watched in self.variables}
        return why_not_gradients(graph.nodes[began:])

    def partition(self):
        values = [self._recording.arguments[n] for n in self.followed]
        values += [self._recording.at_first(v) for v in self.watched]
        return Partition(self.joint, self.made, values)

    def still_there(self):
        return self._recording.still_there()


class TapePlan:
    """Plans for the forward and the backward pass; the tape records a call as one op."""

    def __init__(self, run, plan_cache, names, state):
        self._name, self._tell = plan_cache.name, plan_cache.tell
        self._partition, self._count = run.partition(), run.joint.count
        forward = self._partition.forward
        self._plan = Plan(forward, self._name, names, self._tell, state, audited=True)
        self.audited = self._plan.audited
        self._variables, self._watched = run.variables, run.watched
        self._followed, self._made = run.followed, run.made
        self._outside = run.still_there()
        self._dtypes = [v.dtype for v in run.joint.seeds]
        # (which cotangents exist, which gradients are needed) -> (plan, which gradients it returns)
        self._backs = {}
        self._op = _PlanOp(self._name)
        self.current, self.reads = self._plan.current, self._plan.reads
        self.shared = self._plan.shared

    @property
    def source(self):
        backs = [plan.source for plan, _ in self._backs.values() if plan is not None]
        return "\n".join([self._plan.source, *backs])

    @property
    def nbytes(self):
        """Memory of the forward plan; values saved for the backward pass belong to the tape."""
        return self._plan.nbytes

    @property
    def trouble(self):
        return self._plan.trouble

    def take_failure(self):
        return self._plan.take_failure()

    @property
    def audit_due(self):
        return self._plan.audit_due

    def __call__(self, arrays, given, tape, pack):
        """Return (result,), and record the call on the tape; None if it must be traced again."""
        for variable, watched in self._variables:
            if _watches(tape, variable) is not watched:
                return None
        if self._outside and _follows_any(tape, self._outside):
            return None
        reads = []
        for variable in self._watched:
            tensor = Tensor(variable._array)
            tape.variable_read(variable, tensor)
            reads.append(tensor)
        found = self._plan(arrays)
        if found is None:
            return None
        count = self._count
        result = pack(found[:count])
        if self._made:
            leaves = (result,)
            if type(result) is not Tensor:
                leaves = [t for t in nest.flatten(result) if type(t) is Tensor]
            outputs = tuple([leaves[place] for place in self._made])
            inputs = [*[given[place] for place in self._followed], *reads]
            call = _PlanCall(self, found[count:])
            tape.op(self._op, inputs, {"call": call}, outputs, call.given)
        return (result,)

    def gradients(self, g, given, needed):
        """Return the gradients of the sources as arrays; None if no plan can compute them."""
        which = tuple([each is not None for each in g])
        if any(each is not None and each.dtype != t for each, t in zip(g, self._dtypes)):
            return None
        back = self._backs.get((which, needed))
        if back is None:
            back = self._backs[which, needed] = self._back(which, needed)
        plan, there = back
        if plan is None:
            return None
        found = plan([*given, *[each for each in g if each is not None]])
        if found is None:
            self._failed(which, needed, plan.failure)
            return None
        found = iter(found)
        return [next(found) if is_there else None for is_there in there]

    def _back(self, which, needed):
        try:
            graph, there = self._partition.backward(which, needed)
            names = [f"x{i}" for i in range(len(graph.arguments) - sum(which))]
            names += [f"g{i}" for i, asked in enumerate(which) if asked]
            return Plan(graph, f"{self._name}_back", names, self._tell), there
        except Exception as error:
            return self._failed(which, needed, error)

    def _failed(self, which, needed, error):
        self._tell(
            f"computes gradients in Python: generating their plan failed ({brief(error)})", error
        )
        self._backs[which, needed] = None, ()
        return None, ()

    def replay(self, sources, given):
        return self._partition.replay(sources, given)


class _PlanCall:
    """The attribute of the op that the tape records: the plan, and the arrays that a call saved."""

    __slots__ = ("given", "plan")

    def __init__(self, plan, given):
        self.plan, self.given = plan, given


class _PlanOp(Op):
    """The op that a tape records for a call of a plan."""

    __slots__ = ()
    takes_none = True

    def __init__(self, name):
        super().__init__(
            name, lambda *xs, call: self.composite(*xs, call=call), outputs=None, listed=False,
            backward=self._back, composite=lambda *xs, call: call.plan.replay(xs, call.given),
        )  # fmt: skip

    def _back(self, g, xs, call, saved, needed):
        rows = any(type(each) in (Tensor, Batched) for each in g)
        if not rows:
            g = [each if each is None else np.asarray(each) for each in g]
            found = call.plan.gradients(g, saved, needed)
            if found is not None:
                return found
            g = [each if each is None else Tensor(each) for each in g]
        sources = [x if type(x) is Tensor else Tensor(x) for x in xs]
        found = through_composite(self, (sources, {"call": call}), needed, g)
        return found if rows else [d if d is None else d.array for d in found]
