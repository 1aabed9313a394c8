"""Signatures of saved functions: traces a function to a graph that is valid for unknown sizes."""

import inspect
import math
from functools import partial
from itertools import cycle, islice, product

from framework.core import nest
from framework.core.dtypes import as_dtype
from framework.core.errors import ExportError, InvalidArgumentError, SaveError
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.saving.onnx.sizes import at_all, size_from
from framework.saving.onnx.traces import FILLS, filled, first_that_runs, general_graph

_FIRST = ((2, 3, 5, 4), (4, 2, 3, 7), (3, 7, 4, 2), (5, 4, 2, 6))
"""Sizes of first axes in the traces."""

_OTHERS = (
    ((7, 12, 17, 26), (10, 9, 19, 23), (8, 19, 21, 15), (11, 6, 14, 20), (13, 22, 9, 16)),
    ((32, 49, 57, 94), (40, 97, 75, 54), (36, 47, 101, 70)),
    ((64, 160, 96, 128), (96, 64, 192, 160), (128, 96, 64, 224)),
)
"""Sizes of other axes in the traces. Their differences are not proportional; the last sizes fit
networks that halve sizes several times."""


_MOST_OPEN, _MOST_TRIED, _MOST_PLAIN = 3, 250, 65
"""The largest numbers of unknown sizes to try with sizes of variables, and of combinations. One
unknown size alone is also tried with all numbers below the last."""

_MOST_ELEMENTS = 2**20
"""The largest number of elements of one argument when it is tried with sizes of variables. The
product of two sizes of variables is rarely an argument's, and would take seconds to try."""


class SavedSignature:
    """Arguments of a function: specs for tensors, and values for the other arguments.

    Args:
        args, kwargs: nests with a TensorSpec for each tensor.
    """

    def __init__(self, args, kwargs):
        self.args, self.kwargs = list(args), dict(kwargs)

    @property
    def specs(self):
        """The TensorSpecs, in the order of the tensors."""
        leaves = nest.flatten([self.args, self.kwargs])
        return [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]

    def of_rank(self, rank):
        """Return the signature with `rank` instead of unknown ranks; itself if `rank` is None."""
        if rank is None:
            return self
        return self._with(
            lambda s: TensorSpec([None] * rank, s.dtype, s.name) if s.shape is None else s
        )

    def with_sizes(self, sizes):
        """Yield copies whose unknown sizes, except of axis 0, are replaced by known sizes."""
        opens = sum(n is None for s in self.specs for n in tuple(s.shape)[1:])
        roots = [math.isqrt(n) for n in sizes if math.isqrt(n) ** 2 == n]
        known = [None, *sorted({*roots, *sizes, 1}, key=lambda n: (n not in roots, n))]
        if opens == 1:
            known += [n for n in range(2, _MOST_PLAIN) if n not in known]
        if not 0 < opens <= _MOST_OPEN:
            return
        combinations = list(islice(product(known, repeat=opens), 1, _MOST_TRIED))
        if opens > 1:  # try those first that leave most sizes unknown, then small sizes
            combinations.sort(key=lambda c: (opens - c.count(None), math.prod(n or 1 for n in c)))
        for chosen in combinations:
            numbers = iter(chosen)
            yield self._with(
                lambda s, numbers=numbers: TensorSpec(
                    [next(numbers) if n is None and axis else n for axis, n in enumerate(s.shape)],
                    s.dtype, s.name,
                )
            )  # fmt: skip

    def is_covered_by(self, other):
        """Return whether all tensors that fit this signature fit the other."""
        return all(a.is_subtype_of(b) for a, b in zip(self.specs, other.specs, strict=True))

    def _with(self, change):
        args, kwargs = nest.map_structure(
            lambda leaf: change(leaf) if isinstance(leaf, TensorSpec) else leaf,
            [self.args, self.kwargs],
        )
        return SavedSignature(args, kwargs)

    def with_tensors(self, tensors):
        """Return (args, kwargs) with tensors instead of specs."""
        tensors = iter(tensors)
        args, kwargs = nest.map_structure(
            lambda leaf: next(tensors) if isinstance(leaf, TensorSpec) else leaf,
            [self.args, self.kwargs],
        )
        return args, kwargs


class TracedFunction:
    """A function traced for one signature.

    Attributes:
        graph: the GeneralGraph.
        structure: the nest that the function returns, with a `Place` for each tensor.
        specs: a TensorSpec for each tensor of the result.
        signature: the SavedSignature.
        shared: whether the first axes of all arguments must have the same size.
    """

    def __init__(self, graph, structure, specs, signature, shared):
        self.graph, self.structure, self.specs = graph, structure, specs
        self.signature, self.shared = signature, shared


_RANKS = range(5)  # these ranks are traced for a tensor of unknown rank
_MOST = 16  # one signature with unknown sizes is saved as at most this many signatures


def all_traced(function, signature, name, sizes=()):
    """Trace `function` for a signature; return a list of TracedFunctions, one in most cases.

    For a tensor of unknown rank, the function is traced for each rank that it accepts. If it does
    not accept arbitrary sizes of axes other than the first, it is traced for sizes of variables.

    Args:
        function: a Python function of the signature's arguments.
        signature: a SavedSignature.
        name: the function's name, for messages.
        sizes: the sizes of variables.

    Raises:
        SaveError: the call cannot be repeated as a graph of ops.
    """
    for spec in signature.specs:
        if spec.value_type is not Tensor:
            raise SaveError(
                f"{name} cannot be saved for {spec!r}: a saved function takes dense tensors, such "
                "as x.to_tensor()."
            )
    ranks = _RANKS if any(spec.shape is None for spec in signature.specs) else (None,)
    found, failure = [], None
    for rank in ranks:
        made, error = _of_rank(function, signature.of_rank(rank), name, sizes)
        found, failure = found + made, failure or error
    if not found:
        raise failure
    return found


def _of_rank(function, signature, name, sizes):
    """Return (TracedFunctions, None), or ([], the error)."""
    try:
        return [_traced(function, signature, name, FILLS)], None
    except (SaveError, InvalidArgumentError) as error:
        failure = error
    found = []
    for fixed in signature.with_sizes(sizes):
        if any(fixed.is_covered_by(each.signature) for each in found):
            continue
        try:
            found.append(_traced(function, fixed, name, FILLS[:1], _MOST_ELEMENTS))
        except (SaveError, InvalidArgumentError):
            continue
        if len(found) == _MOST:
            break
    return found, failure


def _traced(function, signature, name, fills, most=math.inf):
    """Trace `function` for a signature, on arguments of at most `most` elements."""
    specs, structures = signature.specs, []

    def call(*tensors):
        args, kwargs = signature.with_tensors(tensors)
        result = function(*args, **kwargs)
        leaves, structure = _numbered(result)
        structures.append(structure)
        return leaves

    def attempt(sizes, fill):
        count = max((len(n.values) for s in sizes for n in s if hasattr(n, "values")), default=2)
        trials = ([filled(s, spec.dtype.np, k, fill) for s, spec in zip(sizes, specs)]
                  for k in range(count))  # fmt: skip
        return general_graph([call] * count, trials, assigns=True)[0]

    def of_sizes(shared, sizes):
        return first_that_runs([partial(attempt, sizes, fill) for fill in fills]), shared

    try:
        shapes = [trial for trial in _trial_shapes(specs) if _largest(trial[1]) <= most]
        if not shapes:
            raise SaveError(f"{name} cannot be saved: an argument has over {most:,} elements.")
        trials = [partial(of_sizes, *trial) for trial in shapes]
        graph, shared = first_that_runs(trials, (InvalidArgumentError, ExportError))
    except ExportError as error:
        raise SaveError(f"{name} cannot be saved: {error}") from None
    return TracedFunction(graph, structures[-1], _result_specs(graph), signature, shared)


def _trial_shapes(specs):
    """Yield candidates: (whether all first axes share one size, shapes with `Size` objects)."""
    opens = [(i, axis) for i, s in enumerate(specs) for axis, n in enumerate(s.shape) if n is None]
    firsts = [place for place in opens if place[1] == 0]
    for shared in (False, True) if len(firsts) > 1 else (False,):
        for rows in _OTHERS if len(opens) > len(firsts) else _OTHERS[:1]:
            for same in (False, True) if len(opens) - len(firsts) > 1 else (False,):
                of_first = cycle(_FIRST[:1] if shared else _FIRST)
                others = cycle(rows[:1] if same else rows)
                sizes = {p: next(of_first if p[1] == 0 else others) for p in opens}
                yield shared, _shapes(specs, sizes)


def _largest(shapes):
    """Return the number of elements of the largest array that has one of the shapes."""
    return max((math.prod(max(at_all(n)) for n in shape) for shape in shapes), default=0)


def _shapes(specs, sizes):
    return [
        tuple(size_from(sizes[i, axis]) if n is None else n for axis, n in enumerate(spec.shape))
        for i, spec in enumerate(specs)
    ]


def _numbered(result):
    """Return (the tensors in a result, the result with a `Place` instead of each tensor)."""
    tensors = []

    def number(leaf):
        leaf = leaf.read() if hasattr(leaf, "assign_add") else leaf
        if not isinstance(leaf, Tensor):
            return leaf
        tensors.append(leaf)
        return Place(len(tensors) - 1)

    return tensors, nest.map_structure(number, result)


class Place:
    """A placeholder in a nested result for the tensor with this number."""

    def __init__(self, number):
        self.number = number


def _result_specs(graph):
    return [
        TensorSpec([n if type(n) is int else None for n in a.shape], as_dtype(a.dtype))
        for a in graph.results
    ]


def parameters_of(function):
    """Return [name, kind, default as (value,) or None] of each parameter of a function."""
    return [
        (p.name, p.kind.name, None if p.default is p.empty else (p.default,))
        for p in inspect.signature(function).parameters.values()
    ]


def signature_from(parameters):
    """Return the `inspect.Signature` for a result of `parameters_of`."""
    made = []
    for name, kind, default in parameters:
        value = inspect.Parameter.empty if default is None else default[0]
        made.append(inspect.Parameter(name, getattr(inspect.Parameter, kind), default=value))
    return inspect.Signature(made)
