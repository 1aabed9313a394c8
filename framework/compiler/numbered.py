"""Numbered: plans for calls with Python numbers, whatever these are."""

import sys

import numpy as np

from framework.compiler.compiled import SIGNATURES, Entry, packing
from framework.compiler.graph import Recording
from framework.compiler.numbers import Prelude
from framework.compiler.plan import Plan
from framework.compiler.sameness import difference
from framework.compiler.telling import brief

_ATTEMPTS = 8  # plans, and runs of which none became one, before each number is its own signature


class Numbered:
    """Calls `Compiled` for the arguments of a function with ints and floats among them.

    The first number is part of the signature. A run with a second one is recorded with an open
    number in its place. It becomes a plan when a run with a plain number did what the plan would
    have done: one before it, or the next.
    """

    def __init__(self, compiled):
        self._compiled = compiled

    def __call__(self, key, arrays, numbers, body):
        """As `Compiled`; `numbers` are the pairs that `describe` gives."""
        compiled = self._compiled
        values = [number for _, number in numbers]
        general = list(key)
        for place, number in numbers:
            general[place] = "any " + type(number).__name__
        general = tuple(general)
        entries = compiled.plans.get(general, ())
        for entry in entries:
            given = body.own(arrays, entry.shared) if entry.shared else arrays
            found = entry.plan(given, values)
            if found is not None:
                return entry.pack(found)
        if general in compiled.refused:
            return body(body.tensors(arrays))
        if (error := compiled.failure(general)) is not None:
            return compiled.without(general, error, lambda: body(body.tensors(arrays)))
        if entries:
            compiled.drop_outdated(general)
            entries = compiled.plans.get(general, ())
        if key in compiled.plans or key in compiled.refused:
            return compiled(key, arrays, body)
        if general not in compiled.attempts and len(compiled.attempts) >= SIGNATURES:
            return compiled(key, arrays, body)
        attempts = compiled.attempts.setdefault(general, _Attempts())
        if attempts.over or len(entries) + attempts.count > _ATTEMPTS:
            attempts.give_up()
            return compiled(key, arrays, body)
        open_ones = [c for c in attempts.open if c.prelude.values(values) is not None]
        if not attempts.plain or open_ones:
            return self._plainly(key, general, arrays, values, body, attempts)
        if any(v == values for v, _ in attempts.plain):
            return compiled(key, arrays, body)
        return self._openly(key, general, arrays, values, body, attempts)

    def _plainly(self, key, general, arrays, values, body, attempts):
        with _Watch() as watch:
            result, graph = self._compiled.recorded(key, arrays, body)
        if graph is None or watch.asks_for_types:
            attempts.give_up()
        else:
            self._settle(general, attempts, plain=(values, graph))
        return result

    def _openly(self, key, general, arrays, values, body, attempts):
        tensors = body.tensors(arrays)
        recording = Recording(tensors, undoable=True)
        prelude = Prelude(recording, values)
        try:
            with recording:
                result = body(tensors, prelude.numbers)
                leaves, pack = packing(result)
        except Exception:
            # Perhaps a plain number would have done: as if nothing had been, with that.
            attempts.give_up()
            recording.undo()
            return self._compiled(key, arrays, body)
        finally:
            prelude.close()
        if recording.refusal is not None or leaves is None or recording.made_variables:
            attempts.give_up()
            return result
        make = lambda: _Candidate(recording.graph(leaves), prelude, pack, body.names, len(arrays))
        self._settle(general, attempts, candidate=make)
        return result

    def _settle(self, general, attempts, plain=None, candidate=None):
        """Take in what a run gave: (its numbers, its graph), or what makes a candidate."""
        compiled = self._compiled
        try:
            with compiled.lock:
                if plain is not None:
                    attempts.plain.append(plain)
                    candidates, plains = attempts.open, [plain]
                else:
                    attempts.open.append(candidate())
                    candidates, plains = attempts.open[-1:], attempts.plain
                for made in list(candidates):
                    if any(self._agree(general, made, *given) for given in plains):
                        attempts.open.remove(made)
                        break
        except Exception as error:  # the body's own have come through before
            attempts.give_up()
            compiled.refuse(general, f"writing its plan failed ({brief(error)})", error)

    def _agree(self, general, candidate, values, graph):
        """Make a plan of the candidate if it does what the plain run did."""
        given = candidate.given(values)
        if given is None or difference(graph, candidate.graph, given) is not None:
            return False
        plan = WithNumbers(candidate, self._compiled)
        self._compiled.plans.setdefault(general, []).append(Entry(plan, candidate.pack))
        return True


class WithNumbers:
    """A plan and the prelude that gives it the rest of its arguments."""

    def __init__(self, candidate, compiled):
        names = [*candidate.names, *(f"number_{i}" for i in range(len(candidate.added)))]
        self._plan = Plan(candidate.graph, compiled.name, names, compiled.tell)
        self._prelude = candidate.prelude
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

    @property
    def failure(self):
        return self._plan.failure

    def __call__(self, arrays, numbers):
        """As a Plan; `numbers` are those of the call."""
        added = self._prelude(numbers)
        return None if added is None else self._plan([*arrays, *added])


class _Candidate:
    """A run with open numbers that no plain run has confirmed yet."""

    def __init__(self, graph, prelude, pack, names, arrays):
        self.graph, self.prelude, self.pack, self.names = graph, prelude, pack, names
        self.added = graph.arguments[arrays:]  # one for each number that an op got

    def given(self, values):
        """What its added arguments are for these numbers, by id; None where a guard fails."""
        found = self.prelude.values(values)
        if found is None:
            return None
        return {id(v): number for v, number in zip(self.added, found, strict=True)}


class _Attempts:
    """The runs for one kind of call that are no plans yet."""

    def __init__(self):
        self.plain = []  # (numbers, graph)
        self.open = []
        self.over = False

    def give_up(self):
        self.plain, self.open, self.over = [], [], True

    @property
    def count(self):
        return len(self.plain) + len(self.open)


class _Watch:
    """Looks whether code outside the package asks for the types of objects.

    `type(n)` is a question that an open number answers otherwise than a plain one; `np.arange(n)`
    asks it without the protocols by which others of NumPy's functions see the plain number. The
    run with an open number must not be the first to find out: its result is handed out, and to run
    again in its place would repeat whatever else the body does.
    """

    def __enter__(self):
        self._outer = sys.getprofile()
        self.asks_for_types = self._outer is not None  # cannot watch beside a profiler
        if self._outer is None:
            sys.setprofile(self._see)
        return self

    def __exit__(self, *_):
        if self._outer is None:
            sys.setprofile(None)

    def _see(self, frame, event, arg):
        asks = event == "call" and "type" in frame.f_code.co_names
        if asks or (event == "c_call" and arg is np.arange):
            self.asks_for_types = self.asks_for_types or not _is_for_package(frame)


_PACKAGE = __name__.partition(".")[0] + "."


_LIBRARY = {*sys.stdlib_module_names, "numpy"}


def _is_for_package(frame):
    """Whether a frame is the package's own, or of a library that the package has called."""
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if module.startswith(_PACKAGE):
            return True
        if module.partition(".")[0] not in _LIBRARY or module == "__main__":
            return False
        frame = frame.f_back
    return False
