"""Formulas of losses and metrics: one definition serves a public function and several classes.

A formula computes one value per sample from labels and predictions that are already tensors.
`public` turns it into the function that users call; `follow` adds it as a method to a class, such
as a Loss, whose fields are the formula's parameters.
"""

import functools
import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

from framework.core.configurable import fields_of, set_default
from framework.core.registry import snake_case

F = TypeVar("F", bound=Callable[..., Any])


def public(operands, result=None, aliases=()) -> Callable[[F], F]:
    """Return a decorator that turns a formula into a public function.

    Args:
        operands: a function that converts the user's labels and predictions.
        result: a function that converts the formula's values, or None.
        aliases: further names that `losses.get` and `metrics.get` accept for the classes that
            `follow` completes with this function.
    """

    def decorate(formula) -> Any:
        @functools.wraps(formula)
        def function(y_true, y_pred, *args, **kwargs):
            values = formula(*operands(y_true, y_pred), *args, **kwargs)
            return values if result is None else result(values)

        function.formula, function.aliases = formula, aliases
        return function

    return decorate


def follow(cls, function, method, registry, base):
    """Complete a class: add the formula as a method, set name and docstring, and register it.

    Args:
        cls: a class whose fields are those of `base` and the parameters of the function.
        function: the result of `public`, or a formula that has no public function.
        method: the name of the method that computes the values.
        registry: where the class is registered.
        base: the base class that all classes of this kind share, such as FormulaLoss.
    """
    name, cls._framework.formula = snake_case(cls.__name__), function
    set_default(cls, "name", cls.__dict__.get("name") or name)
    own = [field for field in fields_of(cls) if field not in fields_of(base)]
    setattr(cls, method, _method(getattr(function, "formula", function), own))
    if cls.__doc__:
        cls.__doc__ = _described(cls, function, own, base)
    aliases = getattr(function, "aliases", ()) if name == function.__name__ else ()
    registry.add(*aliases)(cls)


def _method(formula, fields):
    """Return a method that calls the formula with the values of the object's fields."""
    if not fields:
        return lambda self, y_true, y_pred: formula(y_true, y_pred)
    values = attrgetter(*fields)
    if fields != list(inspect.signature(formula).parameters)[2 : 2 + len(fields)]:
        named = {field: attrgetter(field) for field in fields}
        return lambda self, y_true, y_pred: formula(
            y_true, y_pred, **{name: value(self) for name, value in named.items()}
        )
    if len(fields) == 1:
        return lambda self, y_true, y_pred: formula(y_true, y_pred, values(self))
    return lambda self, y_true, y_pred: formula(y_true, y_pred, *values(self))


def _described(cls, function, fields, base):
    """Return the class's docstring, with arguments described as in the function's docstring."""
    lines, described = [inspect.cleandoc(cls.__doc__), "", "Args:"], False
    for line in inspect.cleandoc(function.__doc__ or "").split("\n"):
        if not line.startswith(" " * 8):
            described = line.startswith(" " * 4) and line[4:].partition(":")[0] in fields
        if described:
            lines.append(line)
    shared = ", ".join(field for field in fields_of(cls) if field in fields_of(base))
    return "\n".join([*lines, f"    {shared}: as in `{base.__name__}`.", ""])
