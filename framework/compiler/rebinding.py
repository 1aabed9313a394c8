"""Copies of a Python function with other global names or closure variables."""

from types import FunctionType


def with_names(function, **names):
    """Return a copy of the function in which these global names have other values."""
    return _copy(function, {**function.__globals__, **names}, function.__closure__)


def with_cells(make, cells, *buffers):
    """Call `make`; return its function, with free variables bound to the user's closure cells."""
    run = make(*buffers)
    names = zip(run.__code__.co_freevars, run.__closure__, strict=True)
    return _copy(run, run.__globals__, tuple([cells.get(name, own) for name, own in names]))


def _copy(function, names, closure):
    code, defaults = function.__code__, function.__defaults__
    return FunctionType(code, names, function.__name__, defaults, closure)
