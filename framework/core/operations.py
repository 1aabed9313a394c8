"""Public functions called on KerasTensors: they become operations of a functional model.

Most functions call a few ops, which accept KerasTensors. A function that needs sizes as numbers, or
values, becomes one operation of the model, which calls the function on tensors when it runs. Its
output shapes are inferred by calling it on small arrays (`standins.py`).
"""

import functools
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np

from framework.core import dtypes, nest
from framework.core.errors import FrameworkError, ShapeError, SymbolicValueError
from framework.core.standins import completed, guesses, is_symbolic, results_at, trials
from framework.core.symbolic import KerasTensor, known_sizes
from framework.core.symbolic_sizes import SymbolicNumber
from framework.core.tensor import Tensor

F = TypeVar("F", bound=Callable)


class FunctionOperation:
    """A public function as one operation of a functional model.

    Args:
        function: any function; the model calls it on tensors.
        reads_shapes: the result depends only on the shapes of the arguments.
    """

    always = False

    def __init__(self, function, reads_shapes=False):
        self.function, self.reads_shapes = function, reads_shapes
        self.name = function.__name__.strip("_")

    def __reduce__(self):
        function = self.function
        return _operation_at, (
            function.__module__, function.__qualname__, self.reads_shapes, self.always,
        )  # fmt: skip

    def __call__(self, *args, **kwargs):
        if self.always and is_symbolic(args, kwargs):
            return apply(self, args, kwargs)
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            if not is_symbolic(args, kwargs):
                raise
            return apply(self, args, kwargs, error)


def _operation_at(module, name, reads_shapes, always):
    function = getattr(import_module(module), name)
    made = FunctionOperation(getattr(function, "__wrapped__", function), reads_shapes)
    made.always = always
    return made


def operation(function: F) -> F:
    """Decorate a function so that a symbolic call records one operation if its ops refuse the
    KerasTensors."""
    made = FunctionOperation(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if not is_symbolic(args, kwargs):
                raise
            return apply(made, args, kwargs, error)

    return cast(F, call)


def always(function: F) -> F:
    """Decorate a function so that a symbolic call always records one operation of the model.

    Random draws need this, because a symbolic call must not draw.
    """
    made = FunctionOperation(function)
    made.always = True

    @functools.wraps(function)
    def call(*args, **kwargs):
        for arg in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(arg, KerasTensor):
                return apply(made, args, kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if not is_symbolic(args, kwargs):
                raise
            return apply(made, args, kwargs, error)

    return cast(F, call)


def when_run(function: F) -> F:
    """Decorate a function that checks values: symbolic calls skip it, because KerasTensors have
    no values."""

    @functools.wraps(function)
    def check(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except SymbolicValueError:
            return None

    return cast(F, check)


def apply(operation, args, kwargs, error=None) -> Any:
    """Return the KerasTensors that `operation(*args, **kwargs)` computes.

    Args:
        operation: a FunctionOperation.
        args, kwargs: its arguments, KerasTensors among them.
        error: the error that its ops raised on KerasTensors; raised again if the
            call on small arrays fails, too.
    """
    leaves = nest.flatten((args, kwargs))
    failure = None
    for pair in trials(leaves):
        try:
            runs = [results_at(operation, args, kwargs, k) for k in completed(pair, leaves)]
        except Exception as other:
            failure = failure or other
            continue
        return _outputs(operation, args, kwargs, runs)
    runs, known = [], known_sizes(leaves)
    for k in guesses(leaves):
        with suppress(Exception):
            runs.append(results_at(operation, args, kwargs, k))
            known = [n for n in known if n not in (k.first, k.others)]
    if runs:
        return _outputs(operation, args, kwargs, runs, known)
    if isinstance(error, FrameworkError) and not isinstance(error, SymbolicValueError):
        raise error
    raise _explained(failure, leaves) from None


def _explained(failure, leaves):
    """Return the error of a call on small arrays; a FrameworkError also names symbolic shapes."""
    if isinstance(failure, FrameworkError):
        shapes = ", ".join(str(x.shape) for x in leaves if isinstance(x, KerasTensor))
        failure.args = (f"{failure} [no sizes that replace None fit the shapes {shapes}]",)
    return failure


def _outputs(operation, args, kwargs, runs, possible=None):
    """Return the results as KerasTensors; sizes that differ between the runs become None.

    Args:
        operation, args, kwargs: the call.
        runs: the results of the call on small arrays, one entry per run; each run uses other
            numbers for the unknown sizes.
        possible: if unknown sizes were guessed, the sizes that results may have; others become
            None. None allows all sizes.
    """
    flat = [nest.flatten(run) for run in runs]
    if len({len(leaves) for leaves in flat}) > 1:
        raise ShapeError(f"{operation.name}: the number of results depends on an unknown size.")
    single = not nest.is_nested(runs[0])
    made = [_common(operation, leaves, possible) for leaves in zip(*flat)]
    kwargs = dict(kwargs)  # Each call gets a new dict, whose identity distinguishes calls.
    for i, leaf in enumerate(made):
        if isinstance(leaf, KerasTensor):
            leaf.name = operation.name
            leaf.origin = (operation, tuple(args), kwargs, None if single else i)
    return nest.pack_sequence_as(runs[0], made)


def _common(operation, leaves, possible):
    """Return one leaf of the results as a KerasTensor, from its values in several runs."""
    leaf = leaves[0]
    if type(leaf) in (bool, int, float):
        return leaf if len(set(leaves)) == 1 else SymbolicNumber(type(leaf))
    if not isinstance(leaf, (Tensor, KerasTensor, np.ndarray, np.generic)):
        return leaf
    if len({len(x.shape) for x in leaves}) > 1:
        raise ShapeError(
            f"{operation.name}: the result's number of axes depends on unknown sizes or values."
        )
    sizes = [set(sizes) for sizes in zip(*(x.shape for x in leaves))]
    shape = [found.pop() if len(found) == 1 else None for found in sizes]
    if possible is not None:
        shape = [n if n in possible else None for n in shape]
    return KerasTensor(shape, dtypes.as_dtype(leaf.dtype))
