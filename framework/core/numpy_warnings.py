"""Suppress NumPy's floating-point warnings: inf and nan are valid results of ops.

Functions that often return inf or nan run in a context in which NumPy does not warn. Add, subtract
and multiply avoid the cost of the context, because they are called most often: a warning filter for
the modules of ops and of assignments hides their overflow warnings, and those of a few other ops.
If filters are reset after the import (by pytest, or with `-W error`), these ops warn as in NumPy.
"""

import contextvars
import functools
import inspect
import threading
import warnings

import numpy as np

_OPS = r"framework\.(core\.(op|variable)|ops\.\w+)$"
warnings.filterwarnings("ignore", category=RuntimeWarning, module=_OPS)


class Context(threading.local):
    """A `contextvars` context for each thread, in which NumPy does not warn.

    `kinds` are arguments of `np.errstate` for exceptions. Running a function in the context costs
    0.08 µs; `np.errstate` around the function costs 0.5 to 1 µs.
    """

    def __init__(self, **kinds):
        context = contextvars.Context()
        context.run(np.seterr, all="ignore", **kinds)
        self.run = context.run


_context = Context()


def no_warnings(function):
    """Return a ufunc, or a function on arrays, that runs without NumPy's warnings.

    The result's attribute `ufunc` is `function`.

    If such a function calls another one, the context is already entered, so entering it again
    raises a RuntimeError before the inner function starts. The inner function then runs under
    `np.errstate`. A RuntimeError that `function` itself raises has a longer traceback; it is
    raised again.
    """
    if isinstance(function, np.ufunc):
        arity, plain = function.nin, True
    else:
        parameters = inspect.signature(function).parameters.values()
        plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        arity = len(parameters)

    def unary(x):
        try:
            return _context.run(function, x)
        except RuntimeError as error:
            if error.__traceback__.tb_next:
                raise
            return _slowly(function, x)

    def binary(a, b):
        try:
            return _context.run(function, a, b)
        except RuntimeError as error:
            if error.__traceback__.tb_next:
                raise
            return _slowly(function, a, b)

    def general(*args, **kwargs):
        try:
            return _context.run(function, *args, **kwargs)
        except RuntimeError as error:
            if error.__traceback__.tb_next:
                raise
            return _slowly(function, *args, **kwargs)

    made = {1: unary, 2: binary}.get(arity, general) if plain else general
    # The wrapper keeps the parameters' names, which derivative rules use.
    if not isinstance(function, np.ufunc):
        functools.update_wrapper(made, function)
    made.ufunc = function  # The compiler calls `function` without this wrapper.
    return made


def _slowly(function, *args, **kwargs):
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)
