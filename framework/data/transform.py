"""Pipeline stages that call the user's functions for each element, or skip errors."""

import functools
import warnings
from itertools import count

from framework.core import nest
from framework.core.errors import FrameworkError, InvalidArgumentError
from framework.core.random import drawing_at, place_key
from framework.core.symbolic import KerasTensor, calling
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data.parallel import Parallel, threads
from framework.data.prefetch import Ahead
from framework.data.purity import is_pure
from framework.data.row_functions import RowFunction
from framework.data.stage import (
    END,
    UNKNOWN,
    Stage,
    common_spec,
    first_rows,
    firsts,
    resuming,
    walk,
)
from framework.data.structure import as_element, map_named, spec_of


def call(function, element):
    """Return `function(element)`; a tuple's components are separate arguments."""
    return function(*element) if type(element) is tuple else function(element)


def noted(error, stage, what, number):
    """Add a note to an error that names the element and the stage at which it happened."""
    stages = [type(s).__name__ for s in walk(stage)]
    note = (
        f"This happened in {what} at element {number} (the first is 0) of stage {len(stages)} of "
        f"the dataset: {' -> '.join(reversed(stages))}."
    )
    if hasattr(error, "add_note"):  # exceptions have `add_note` since Python 3.11
        error.add_note(note)
    elif isinstance(error, FrameworkError):
        error.args = (f"{error.message} {note}", *error.args[1:])


def run(stage, what, function, element, number):
    """Return `function(element)`; an error names the element and the stage."""
    try:
        return call(function, element)
    except StopIteration as error:  # a StopIteration would end the iteration silently
        failure = RuntimeError(f"{what} raised StopIteration.")
        noted(failure, stage, what, number)
        raise failure from error
    except Exception as error:
        noted(error, stage, what, number)
        raise


# ---- specs of results ----------------------------------------------------------------------------


def result_spec(function, parent, what):
    """Return the spec of `function`'s results: from a symbolic call, or from the first elements.

    A function that needs values runs on the first two elements; sizes that differ are unknown.
    """
    spec = symbolic_result(function, parent.spec())
    if spec is not None:
        return spec

    def with_spec(element):
        return element, spec_of(as_element(call(function, element), f"{what}'s result"))

    try:
        found = firsts(parent, 2, with_spec)
    except Exception:  # the function failed for all of these elements, with any kind of error
        spec = symbolic_result(function, spec_of(firsts(parent, 1)[0]))
        if spec is None:
            raise
        return map_named(lambda each, _: TensorSpec(None, each.dtype), spec, "")
    element, spec = found[0]
    for _, other in found[1:]:
        spec = nest.map_structure(common_spec, spec, other)
    return _with_unknown_batch_size(spec, element, parent.spec())


def is_guessed(stage):
    """Return whether the spec of a stage was derived from its first elements."""
    return any(
        isinstance(s, Map) and symbolic_result(s.function, s.parent.spec()) is None
        for s in walk(stage)
    )


def symbolic_result(function, spec):
    """Return the spec of `function`'s results for arguments of `spec`; None if it needs values."""
    try:
        with calling("map"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            element = map_named(_symbol, spec, "")
            return map_named(_spec_of_symbol, _as_tuple(call(function, element)), "")
    except Exception:  # user code may raise any error when its inputs are KerasTensors
        return None


def _as_tuple(value):
    return tuple(value) if isinstance(value, list) else value


def _symbol(spec, _):
    if type(spec) is not TensorSpec or spec.shape is None:
        raise InvalidArgumentError("element_spec: expected a dense tensor of known rank.")
    return KerasTensor(tuple(spec.shape), spec.dtype)


def _spec_of_symbol(value, _):
    # KerasTensors are compared by identity, so a result that is no KerasTensor may be wrong
    if not isinstance(value, KerasTensor):
        raise InvalidArgumentError("element_spec: a result is not a KerasTensor.")
    return TensorSpec(value.shape, value.dtype)


def _with_unknown_batch_size(spec, argument, argument_spec):
    """Set leading dimensions of `spec` to None where they equal a batch size that is unknown.

    Args:
        spec: the spec of a function's result for `argument`.
        argument: a nest of tensors.
        argument_spec: its spec, in which unknown batch sizes are None.
    """
    pairs = zip(nest.flatten(argument), nest.flatten(argument_spec))
    sizes = {t.shape[0] for t, s in pairs if getattr(s, "shape", None) and s.shape[0] is None}

    def opened(spec, _):
        if not getattr(spec, "shape", None) or spec.shape[0] not in sizes:
            return spec
        return type(spec)((None, *spec.shape[1:]), spec.dtype)

    return map_named(opened, spec, "")


# ---- map, filter, scan ---------------------------------------------------------------------------


class Map(Stage):
    """A pipeline stage that yields `function(element)`, computed on `workers` threads.

    On threads, random draws of the function depend on the numbers of the element and of the
    iteration. If the function can be called for many rows at once, this stage only adds it to the
    `Rows`, and `batch` calls it once for each batch.
    """

    direct = True
    calls_python = True
    what = "map_func"

    def __init__(
        self, parent, function, workers=None, in_order=True, seed=None, processes=False
    ):  # fmt: skip
        super().__init__(parent)
        self.function, self.in_order = function, in_order
        self.processes = processes
        self.workers = workers if processes else threads(workers)
        if workers is not None:
            self.seed, self.epoch = seed, 0
        self.by_rows = RowFunction(function, self._result)
        # None until the first two rows show whether all rows can be computed together
        self._fits = None if is_pure(function) else False

    @property
    def maps_rows(self):
        """Whether `passes` yields `Rows`: the function can be called for many rows at once."""
        if self._fits is None:
            rows = first_rows(self.parent, 2)
            self._fits = rows is not None and self.by_rows.fits(rows)
        return self._fits

    @property
    def indexed(self):
        return self.parent.indexed and self.maps_rows

    mapped = indexed

    @property
    def streams(self):
        return self.parent.streams and self.maps_rows

    def rows(self):
        return self.parent.rows().through(self.by_rows)

    def passes(self):
        return self._passes() if self.maps_rows else None

    def _passes(self):
        start = 0
        for rows in self.parent.passes():
            yield rows.through(self.by_rows, start)
            start += len(rows)

    def spec(self):
        return result_spec(self.function, self.parent, self.what)

    def elements(self):
        return self._mapped(self.parent.iterate(), 0)

    def after(self, count):
        return self._mapped(self.parent.after(count), count)

    def _mapped(self, source, start):
        if self.workers is None:
            return map(self._result, source, count(start))
        key = place_key(self.seed, self.epoch)
        self.epoch += 1
        if self.processes:
            from framework.data.process_map import ElementCall, ProcessMap

            note = lambda error, number: noted(error, self, self.what, number)
            call = ElementCall(self.function, key)
            return ProcessMap(call, source, count(start), self.workers, note)

        def drawn(element, number):
            with drawing_at(key, number):
                return self._result(element, number)

        return Parallel(drawn, source, count(start), self.workers, self.in_order)

    def _result(self, element, number):
        value = run(self, self.what, self.function, element, number)
        return as_element(value, f"{self.what}'s result")


class Filter(Stage):
    """A pipeline stage that yields the elements for which `predicate` is true.

    If `ends`, it stops at the first false result.
    """

    calls_python = True

    def __init__(self, parent, predicate, ends=False):
        super().__init__(parent)
        self.predicate, self.ends = predicate, ends

    def length(self):
        return UNKNOWN

    def elements(self):
        source, numbers, ended = self.parent.iterate(), count(), False

        def step():
            nonlocal ended
            for element in source if not ended else ():
                if _truth(run(self, "predicate", self.predicate, element, next(numbers))):
                    return element
                if self.ends:
                    ended = True
                    break
            return END

        return resuming(step)


def _truth(value):
    result = as_element(value, "predicate's result")
    if type(result) is not Tensor or result.ndim or not result.dtype.is_bool:
        raise InvalidArgumentError(f"predicate must return one bool, got {result!r}.")
    return bool(result)


class Scan(Stage):
    """A pipeline stage that yields the outputs of `state, output = function(state, element)`."""

    calls_python = True

    def __init__(self, parent, state, function):
        super().__init__(parent)
        self.state, self.function = state, function

    def spec(self):
        element = firsts(self.parent, 1)[0]
        return spec_of(self._results(self.state, element, 0)[1])

    def elements(self):
        state, numbers = self.state, count()
        source = self.parent.iterate()

        def step():
            nonlocal state
            for element in source:
                state, output = self._results(state, element, next(numbers))
                return output
            return END

        return resuming(step)

    def _results(self, state, element, number):
        pair = run(self, "scan_func", self.function, (state, element), number)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidArgumentError(
                f"scan: scan_func must return (state, output), got {type(pair).__name__}."
            )
        new, output = (as_element(part, "scan_func's result") for part in pair)
        before, after = (nest.flatten(spec_of(part)) for part in (self.state, new))
        if [s.dtype for s in before] != [s.dtype for s in after]:
            raise InvalidArgumentError(
                f"scan: scan_func must return a state like initial_state, {before}, got {after}."
            )
        return new, output


class Distinct(Stage):
    """A pipeline stage that yields each distinct element of an iteration once."""

    def length(self):
        return UNKNOWN

    def elements(self):
        seen = set()
        for element in self.parent.iterate():
            array = getattr(element, "array", None)
            if array is None:
                raise InvalidArgumentError(
                    f"unique: expected elements of one tensor, got {type(element).__name__}."
                )
            value = repr(array.tolist()) if array.dtype.kind == "O" else array.tobytes()
            if (array.shape, value) not in seen:
                seen.add((array.shape, value))
                yield element


class IgnoreErrors(Stage):
    """A pipeline stage that skips the elements whose computation raises an error."""

    def __init__(self, parent, warn):
        super().__init__(parent)
        self.warn = warn

    def length(self):
        return UNKNOWN

    def elements(self):
        source = self.parent.iterate()
        while True:
            try:
                element = next(source)
            except StopIteration:
                return
            except Exception as error:
                if self.warn:
                    warnings.warn(f"ignore_errors: {error}", stacklevel=2)
                continue
            yield element
            del element


# ---- datasets of elements ------------------------------------------------------------------------


class Interleave(Stage):
    """A pipeline stage that yields the elements of the datasets `function(element)`, in turn.

    `cycle` datasets are open at a time; each in turn gives `block` elements.
    With `ahead`, a thread for each open dataset computes its elements in advance; their random
    draws depend on the numbers of the element and of the iteration.
    """

    calls_python = True

    def __init__(self, parent, function, cycle=1, block=1, ahead=False, seed=None, name="flat_map"):
        super().__init__(parent)
        self.function, self.cycle, self.block, self.ahead = function, cycle, block, ahead
        self.name = name
        if ahead:
            self.seed, self.epoch = seed, 0

    def length(self):
        return UNKNOWN

    def spec(self):
        element = firsts(self.parent, 1)[0]
        return self._dataset(element, 0).element_spec

    def elements(self):
        parents, numbers, key = self.parent.iterate(), count(), None
        if self.ahead:
            key = place_key(self.seed, self.epoch)
            self.epoch += 1
        opened, turn, taken, more = [None] * self.cycle, 0, 0, True

        def step():
            nonlocal turn, taken, more
            while True:
                if opened[turn] is None and more:
                    opened[turn] = self._opened(parents, numbers, key)
                    more = opened[turn] is not None
                element = END if opened[turn] is None else next(opened[turn], END)
                if element is END:
                    opened[turn] = None
                    if not more and opened.count(None) == self.cycle:
                        return END
                taken += 1
                if element is END or taken == self.block:
                    turn, taken = (turn + 1) % self.cycle, 0
                if element is not END:
                    return element

        return resuming(step)

    def _opened(self, parents, numbers, key):
        """Return the iterator over the next element's dataset; None if there is no element."""
        for element in parents:
            number = next(numbers)
            dataset = self._dataset(element, number)
            if key is None:
                return iter(dataset)
            make, size = functools.partial(iter, dataset), max(2, self.block)
            return Ahead(make, size, drawing_at(key, number))
        return None

    def _dataset(self, element, number):
        dataset = run(self, f"{self.name}'s map_func", self.function, element, number)
        if not hasattr(dataset, "element_spec"):
            raise InvalidArgumentError(
                f"{self.name}: map_func must return a Dataset, got {type(dataset).__name__}. Use "
                "map for functions that return tensors."
            )
        return dataset
