"""Where internal state lives: behind `_framework`, the one name that subclasses may not use.

Users' subclasses may call attributes and methods what they like, as long as Keras has no other use
for the name. So an object of a public base class keeps what is internal in a record,
`self._framework`, and a class keeps what holds for all its instances in `cls._framework`. Internal
helpers are functions of a module. Where a public method that Keras does not have is needed
internally, `builtin` gives the package's class to call it on, whatever a user's class has under
its name.
"""


class Record:
    """What is internal to one object. Built-in subclasses keep their own state in it too."""

    def __copy__(self):
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made


class Owning:
    """Base of objects with a record: a copy has its own."""

    def __getstate__(self):
        state = dict(vars(self))
        if "_framework" in state:
            state["_framework"] = state["_framework"].__copy__()
        return state


class ClassRecord:
    """What is internal to a class; read from an instance, the record of that instance.

    Args:
        cls: the class, which begins with what its bases have.
        **own: what holds for the class and those made from it.

    Attributes:
        builtin: the nearest class of the package among the class and its bases.
        record: the class of the instances' records.
    """

    record = Record

    def __init__(self, cls, **own):
        self.__dict__["own"] = {}  # without what is inherited
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
        made = instance.__dict__["_framework"] = self.record()  # and found there from now on
        return made


class Shown:
    """A class attribute that shows what a record holds, until an instance has its own of the name.

    Args:
        name: of the record's attribute.
    """

    def __init__(self, name, doc=None):
        self.name, self.__doc__ = name, doc

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance._framework, self.name)


class readable:
    """A property that an instance's own attribute of the name hides."""

    def __init__(self, get):
        self.get, self.__doc__ = get, get.__doc__

    def __get__(self, instance, owner=None):
        return self if instance is None else self.get(instance)


def in_package(cls):
    """Whether a class is the package's, not a user's."""
    return cls.__module__.partition(".")[0] == "framework"


def builtin(instance):
    """The nearest class of the package among an object's class and its bases."""
    return type(instance)._framework.builtin
