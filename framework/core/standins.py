"""Stand-ins: small arrays for the KerasTensors in a call, to infer a function's output shapes.

A function that computes with sizes cannot run while sizes are unknown. So it runs on small arrays
twice, with two different numbers for each unknown size of the model's inputs; a size of the results
that differs between the runs is unknown. Sizes are propagated through the calls that computed a
KerasTensor, so that they stay consistent.
"""

import itertools
import math
import warnings
from typing import NamedTuple

import numpy as np

from framework.core import nest
from framework.core.errors import ShapeError
from framework.core.op import Op
from framework.core.recorders import pause_all
from framework.core.symbolic import (
    KerasTensor,
    calling,
    drawn_as_zeros,
    infer,
    known_sizes,
)  # fmt: skip
from framework.core.symbolic_sizes import SIZE_OF
from framework.core.tensor import Tensor

PAIRS = (
    ((2, 4), (14, 48)), ((12, 12), (30, 30)), ((24, 24), (48, 48)), ((64, 64), (128, 128)),
    ((2, 4), (3, 5)), ((2, 2), (3, 3)),
)  # fmt: skip
"""Sizes of unknown first and other axes in two runs. The pairs, in order: far apart, so that
fractions (`n // 8`) differ too; all equal; with many divisors; small, for large tensors."""

SMALL = (1, 2, 3, 4)
"""Sizes that are tried as guesses for unknown sizes, besides those in the arguments."""

LARGEST = 1 << 20
"""The maximum number of elements of a small array; the smallest sizes may give 64 times as many."""


class At(NamedTuple):
    """An assumption: numbers for unknown input sizes, and the values in the small arrays.

    Args:
        first, others: the size of a first axis and of other axes, where it is unknown.
        fill: "zeros", "rising" (0, 1, 2, ..., for sizes computed from values), "turns"
            (1 and 0 alternating) or "eye" (identity matrices, for functions that divide by them).
        apart: 1 or -1: inputs have different sizes, later ones are larger or smaller; 0: equal.
        followed: whether sizes are propagated through the calls that computed the arguments.
    """

    first: int
    others: int
    fill: str = "zeros"
    apart: int = 0
    followed: bool = True


def trials(leaves):
    """Yield pairs of assumptions (At); the first pair without an error is used for the call."""
    fills = ("rising", "turns", "zeros")
    if sum(isinstance(leaf, KerasTensor) for leaf in leaves) > 1:
        for a, b in (PAIRS[0], PAIRS[4]):
            for apart in (1, -1):
                yield from ((At(*a), At(*b, fill, apart)) for fill in fills)
    for a, b in PAIRS:
        yield from ((At(*a), At(*b, fill)) for fill in fills)
    for a, b in PAIRS[2:]:
        yield At(*a, followed=False), At(*b, "rising", followed=False)
        yield At(*a, "eye"), At(*b, "eye")


EXTREMES = At(1, 1), At(6 * 512, 9 * 512)


def completed(pair, leaves):
    """Return the pair of assumptions, with those of EXTREMES that change a symbolic argument.

    Under both assumptions of the pair, `n // 64` or `min(n, 3)` may have the same value, although
    it depends on a size; the extreme sizes show that.
    """
    symbolic = [x for x in leaves if isinstance(x, KerasTensor)]

    def differ(k):
        def differs(x):
            one, other = (value_at(x, p) for p in pair)
            return np.array_equal(one, other) and not np.array_equal(one, value_at(x, k))

        return any(map(differs, symbolic))

    return (*pair, *filter(differ, EXTREMES))


def guesses(leaves):
    """Yield assumptions (At) in which unknown sizes equal sizes or ints among the arguments."""
    numbers = [n for n in leaves if type(n) is int and 0 < n < 100]
    for n in dict.fromkeys([*known_sizes(leaves), *numbers, sum(numbers), *SMALL]):
        for first in (2, 3, n):
            yield from (At(first, n, fill) for fill in ("zeros", "rising", "eye"))


def is_symbolic(*nests):
    """Return whether the nests contain a KerasTensor."""
    return any(isinstance(leaf, KerasTensor) for leaf in nest.flatten(nests))


def results_at(operation, args, kwargs, k):
    """Return the results of the call on small arrays, under the assumption `k` (an At)."""

    def stand_in(leaf):
        return _stand_in(leaf, k) if isinstance(leaf, KerasTensor) else leaf

    args = [nest.map_structure(stand_in, a) for a in args]
    kwargs = {name: nest.map_structure(stand_in, v) for name, v in kwargs.items()}
    silent = np.errstate(all="ignore"), warnings.catch_warnings()
    with pause_all(), calling(drawn_as_zeros(operation.name)), silent[0], silent[1]:
        warnings.simplefilter("ignore")
        return operation(*args, **kwargs)


def _stand_in(x, k):
    known = value_at(x, k)
    if known is not None:
        return known
    shape = shape_at(x, k) if k.followed else _as_input(x, k)
    most = LARGEST if k.first > 3 else 64 * LARGEST
    return Tensor(_filled(shape, x.dtype.np, k.fill, most))


def _filled(shape, dtype, fill, most):
    count = math.prod(shape)
    if count > most:
        raise ShapeError(f"Shape inference needs an array of shape {shape}, which is too large.")
    if dtype.kind in "OSU":
        return np.full(shape, b"", object)
    if fill == "eye":
        matrix = np.eye(*shape[-2:], dtype=dtype) if len(shape) > 1 else np.ones((), dtype)
        return np.array(np.broadcast_to(matrix, shape))
    if fill == "rising" and dtype.kind != "b":
        # A scalar is 1 here and 0 for "zeros", so the two runs differ in the size of `tf.range(x)`.
        return np.arange(count).astype(dtype).reshape(shape) if shape else np.ones((), dtype)
    array = np.zeros(count, dtype)
    if fill != "zeros":
        array[::2] = 1
    return array.reshape(shape)


# ---- values computed from sizes ------------------------------------------------------------------


def value_at(x, k):
    """Return a symbolic number's value under the assumption `k`; None if it depends on data too."""
    if not x.is_number and (len(x.shape) > 1 or x.origin is None):
        return None
    memo = _memo(x)
    if ("value", k) not in memo:
        memo["value", k] = None  # if the next line raises an error, the value counts as unknown
        memo["value", k] = _value(x, k)
    return memo["value", k]


def _value(x, k):
    operation, args, kwargs, index = x.origin
    if operation is SIZE_OF:
        return shape_at(args[0], k)[args[1]]
    given = [leaf for leaf in nest.flatten((args, kwargs)) if isinstance(leaf, KerasTensor)]
    if not getattr(operation, "reads_shapes", False) and (
        not given or any(value_at(leaf, k) is None for leaf in given)
    ):
        return None
    found = results_at(operation, args, kwargs, k)
    return found if index is None else nest.flatten(found)[index]


# ---- shapes of the small arrays ------------------------------------------------------------------


def shape_at(x, k):
    """Return the shape of the small array for a KerasTensor, under the assumption `k` (an At)."""
    if None not in x.shape:
        return x.shape
    if ("shape", k) not in _memo(x):
        for each in _from_inputs_on(x, k):
            _memo(each)["shape", k] = _shape(each, k)
    return _memo(x)["shape", k]


def _memo(x):
    found = getattr(x, "_stand_ins", None)
    if found is None:
        found = x._stand_ins = {}
    return found


_numbers = itertools.count()


def _as_input(x, k):
    first, others = k.first, k.others
    if k.apart:
        place = _memo(x).setdefault("place", next(_numbers) % 3)
        times = 6 ** (place if k.apart > 0 else 2 - place)
        first, others = first * times, others * times
    return tuple(n if n is not None else others if i else first for i, n in enumerate(x.shape))


def _inputs_of(x):
    """Return those arguments of the call that computed `x` whose shape has unknown sizes."""
    if x.origin is None:
        return []
    leaves = nest.flatten(x.origin[1:3])
    return [a for a in leaves if isinstance(a, KerasTensor) and None in a.shape]


def _from_inputs_on(x, k):
    """Return `x` and the tensors that it is computed from, in topological order."""
    found, begun, stack = [], {id(x)}, [(x, iter(_inputs_of(x)))]
    while stack:
        each, waiting = stack[-1]
        source = next(waiting, None)
        if source is None:
            stack.pop()
            found.append(each)
        elif id(source) not in begun and ("shape", k) not in _memo(source):
            begun.add(id(source))
            stack.append((source, iter(_inputs_of(source))))
    return found


def _shape(x, k):
    """Infer the shape of `x` from its call; if it contradicts `x.shape`, treat `x` as an input."""
    inputs = _inputs_of(x)
    if not inputs:
        return _as_input(x, k)
    operation, args, kwargs, index = x.origin
    if None not in x.shape[1:] and not isinstance(operation, Op) and _is_layer(operation):
        # A layer does not change the batch size.
        return (shape_at(inputs[0], k)[0], *x.shape[1:])
    try:
        shape = tuple(_specs(operation, args, kwargs, k)[index or 0][0])
    # User code may raise any exception for unexpected sizes.
    except Exception:
        return _as_input(x, k)
    fits = len(shape) == len(x.shape) and all(
        n is not None and m in (None, n) for m, n in zip(x.shape, shape)
    )
    return shape if fits else _as_input(x, k)


def _is_layer(operation):
    return hasattr(operation, "compute_output_spec")


def _specs(operation, args, kwargs, k):
    """Return (shape, dtype) of each result of a call, as a list."""

    def known(leaf):
        if not isinstance(leaf, KerasTensor) or leaf.is_number:
            return leaf
        return KerasTensor(shape_at(leaf, k), leaf.dtype)

    if isinstance(operation, Op):
        found = infer(operation, [known(a) for a in args], kwargs)
        return [found] if isinstance(found, tuple) else found
    if not _is_layer(operation):
        found = results_at(operation, args, kwargs, k)
        return [(getattr(v, "shape", ()), None) for v in nest.flatten(found)]
    args = [nest.map_structure(known, a) for a in args]
    kwargs = {name: nest.map_structure(known, v) for name, v in kwargs.items()}
    with calling(operation.name):
        found = operation.compute_output_spec(*args, **kwargs)
    return [(v.shape, v.dtype) for v in nest.flatten(found)]
