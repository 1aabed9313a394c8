"""Internal state of objects and classes, kept in their attribute `_framework`.

Users' subclasses may give attributes and methods any name that Keras does not use. To avoid
clashes, an object of a public base class keeps its internal state in a record, `self._framework`,
and a class keeps the settings of all its instances in `cls._framework`. Internal helpers are
functions of a module, not methods. Internal calls of a public method that Keras lacks go to the
class that `builtin` returns, because a user's class may define another method of this name.
"""


class Record:
    """The internal state of one object; built-in subclasses add attributes of their own."""

    def __copy__(self):
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made


class Owning:
    """Base of classes whose objects have a `Record`; a copied object gets a copy of the record."""

    def __getstate__(self):
        state = dict(vars(self))
        if "_framework" in state:
            state["_framework"] = state["_framework"].__copy__()
        return state


class ClassRecord:
    """The internal state of a class; read from an instance, it returns the instance's `Record`.

    Args:
        cls: the class; it inherits the values of its bases.
        **own: values for the class and its subclasses.

    Attributes:
        builtin: the nearest class of the package among the class and its bases.
        record: the class of the instances' records.
    """

    record = Record

    def __init__(self, cls, **own):
        self.__dict__["own"] = {}  # the values that are set on this class; subclasses inherit them
        for base in reversed(cls.__mro__[1:]):
            inherited = base.__dict__.get("_framework")
            if inherited is not None:
                self.__dict__.update(inherited.own)
        if in_package(cls):
            self.builtin = cls
        for name, value in own.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        self.__dict__[name] = self.own[name] = value

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        made = instance.__dict__["_framework"] = self.record()
        return made


class Shown:
    """A read-only attribute whose value is in the object's `Record`; an instance attribute of the
    same name hides it.

    Args:
        name: the name of the record's attribute.
    """

    def __init__(self, name, doc=None):
        self.name, self.__doc__ = name, doc

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance._framework, self.name)


class readable:
    """A property that an instance attribute of the same name hides."""

    def __init__(self, get):
        self.get, self.__doc__ = get, get.__doc__

    def __get__(self, instance, owner=None):
        return self if instance is None else self.get(instance)


def in_package(cls):
    """Return whether a class is defined in this package."""
    return cls.__module__.partition(".")[0] == "framework"


def builtin(instance):
    """Return the first class in an object's method resolution order that belongs to the package."""
    return type(instance)._framework.builtin
