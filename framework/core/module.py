"""Module: a container that finds the variables and modules held by its attributes."""

import functools
import inspect
import re
import weakref
from typing import Any

from framework.core import deferred, nest
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import ClassRecord, Owning
from framework.core.recorders import thread
from framework.core.variable import CoreVariable, name_scope

living = weakref.WeakSet()
"""All existing modules, layers and models, to find the owner of a variable."""


class NameScope(name_scope):
    """TensorFlow's `name_scope`: `with ... as path` gives the path of the scope.

    >>> with NameScope("outer"), NameScope("inner") as path:
    ...     path
    'outer/inner/'
    """

    def __enter__(self):
        super().__enter__()
        return "".join(f"{name}/" for name in thread.scope)


class SignatureOfInit:
    """Makes `inspect.signature(cls)` the signature of `__init__`, not of `__new__`."""

    def __get__(self, instance, owner):
        if instance is not None:
            # Without this attribute, `inspect` uses `__call__` for an instance.
            raise AttributeError("__signature__")
        found = inspect.signature(owner.__init__)
        return found.replace(parameters=list(found.parameters.values())[1:])


class Module(Owning):
    """Base of models that are plain Python classes.

    Variables, modules and layers held as attributes, also in lists, tuples and dicts, are found in
    TensorFlow's order: the module's own first, by sorted attribute name, then those of each
    submodule. A layer provides its own lists.

    Args:
        name: a Python identifier; the class's name in snake case if None.

    Example:
        >>> import framework as tf
        >>> class Line(Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.w, self.b = tf.Variable(2.0), tf.Variable(1.0)
        ...     def __call__(self, x):
        ...         return self.w * x + self.b
        >>> line = Line()
        >>> line(3.0).numpy(), [v.numpy() for v in line.trainable_variables]
        (np.float32(7.0), [np.float32(1.0), np.float32(2.0)])
    """

    __signature__ = SignatureOfInit()

    def __new__(cls, *_args, **_kwargs):
        self = super().__new__(cls)
        living.add(self)
        return self

    def __init__(self, name: str | None = None):
        if name is None:
            name = re.sub(_WORD_STARTS, "_", type(self).__name__).lower()
        elif not str(name).isidentifier():
            raise InvalidArgumentError(
                f"{name!r} is not a valid module name: expected a Python identifier."
            )
        self._framework.name = name

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if deferred.waiting:
            deferred.fill()

    @property
    def name(self):
        return self._framework.name

    @property
    def name_scope(self):
        """Return a context in which names of new variables begin with this module's name."""
        return NameScope(self.name)

    @property
    def variables(self):
        """All variables of the module and its submodules, as a tuple."""
        return _collect(self, "variables")

    @property
    def trainable_variables(self):
        """The trainable variables of the module and its submodules, as a tuple."""
        return _collect(self, "trainable_variables")

    @property
    def non_trainable_variables(self):
        """The variables that are not trainable, as a tuple."""
        return _collect(self, "non_trainable_variables")

    @property
    def submodules(self):
        """All modules and layers inside this one, at any depth, each once."""
        found, seen = [], {id(self)}
        for child in _leaves(self)[1]:
            _add_modules(child, found, seen)
        return tuple(found)

    @classmethod
    def with_name_scope(cls, method: Any):
        """Decorate a method: names of variables it creates begin with the module's name."""

        @functools.wraps(method)
        def scoped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


Module._framework = ClassRecord(Module)


def _visit(module, which, found, visited):
    if id(module) in visited:
        return
    visited.add(id(module))
    if not isinstance(module, Module):  # `module` is a layer, which lists its own variables
        found.update((v.serial, v) for v in getattr(module, which) if v.serial not in found)
        return
    variables, modules = _leaves(module)
    own = (v for v in variables if _belongs(v, which))
    found.update((v.serial, v) for v in own if v.serial not in found)
    for child in modules:
        _visit(child, which, found, visited)


# The positions where a word of a class name starts: TensorFlow splits "MyHTTPLayer" into 3 words.
_WORD_STARTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])"


def _belongs(variable, which):
    if which == "variables":
        return True
    return variable.trainable is (which == "trainable_variables")


def _is_module(value):
    """Return whether a value is a Module, or a layer (recognized by its attributes)."""
    return isinstance(value, Module) or hasattr(type(value), "trainable_variables")


def _add_modules(module, found, seen):
    if id(module) in seen:
        return
    seen.add(id(module))
    found.append(module)
    children = _leaves(module)[1] if isinstance(module, Module) else module._flatten_layers(False)
    for child in children:
        _add_modules(child, found, seen)


def _leaves(module):
    """Return (variables, modules and layers) in the attributes, sorted by attribute name."""
    variables, modules = [], []
    for name in sorted(vars(module)):
        for leaf in nest.flatten(vars(module)[name]):
            if isinstance(leaf, CoreVariable):
                variables.append(leaf)
            elif _is_module(leaf):
                modules.append(leaf)
    return variables, modules


def _collect(module, which):
    found = {}  # {serial: variable}, so that each variable occurs once
    _visit(module, which, found, set())
    return tuple(found.values())
