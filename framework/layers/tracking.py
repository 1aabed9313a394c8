"""What a layer owns: variables, layers, metrics and seed generators, found as attributes are set.

They are kept in the order in which they were first set, as Keras keeps them: saved weights and
optimizer slots rely on it. Lists and dicts held by a layer tell it when they change.
"""

from framework.core.changes import changes
from framework.core.errors import InvalidArgumentError
from framework.core.module import Module, living
from framework.core.random import SeedGenerator
from framework.core.variable import CoreVariable

_LISTS = (
    "_trainable_variables", "_non_trainable_variables", "_layers", "_modules", "_metrics",
    "_seed_generators",
)  # fmt: skip

structure = [0]
"""How often what any layer owns has changed: lists made from it are good until this moves."""


class Tracked:
    """An object whose attributes are looked through for what it owns."""

    _locked = False
    _no_settings = frozenset(("built", "name"))  # attributes that no call depends on

    def _begin_tracking(self):
        for name in _LISTS:
            self.__dict__[name] = []
        living.add(self)

    def __setattr__(self, name, value):
        held = self.__dict__
        old = held.get(name, _ABSENT)
        if type(value) in _NEVER_OWNED and (old is _ABSENT or type(old) in _NEVER_OWNED):
            object.__setattr__(self, name, value)
        else:
            self._set_tracked(name, value)
        if held.get("built") and name not in self._no_settings and name in held:
            old = getattr(type(self), name, _ABSENT) if old is _ABSENT else old
            if old is not _ABSENT:
                changes.note(self, name, old, held[name])

    def _set_tracked(self, name, value):
        old = self.__dict__.get(name)
        if old is not value:
            value = self._track(value)
        object.__setattr__(self, name, value)
        if old is not None and old is not value:
            self._untrack(old)

    def __delattr__(self, name):
        old = self.__dict__.get(name)
        object.__delattr__(self, name)
        self._untrack(old)

    def _track(self, value):
        """Own what `value` is or holds; the value, in containers that tell of changes."""
        place = self._place_of(value)
        if place is not None:
            self._own(place, value)
            return value
        kind = type(value)
        if kind is list:
            return TrackedList([self._track(v) for v in value], self)
        if kind is dict:
            return TrackedDict({k: self._track(v) for k, v in value.items()}, self)
        if isinstance(value, tuple):
            items = [self._track(v) for v in value]
            if all(new is old for new, old in zip(items, value)):
                return value
            return kind(*items) if hasattr(kind, "_fields") else kind(items)
        return value

    def _place_of(self, value):
        """The list that things like `value` belong in, None for what is not owned."""
        if isinstance(value, CoreVariable):
            return "_trainable_variables" if value.trainable else "_non_trainable_variables"
        if isinstance(value, Tracked):
            return "_layers"
        if isinstance(value, SeedGenerator):
            return "_seed_generators"
        if isinstance(value, Module):
            return "_modules"
        if hasattr(type(value), "update_state") and hasattr(type(value), "reset_state"):
            return "_metrics"
        return None

    def _own(self, place, value):
        variables = place.endswith("_variables")
        known = _LISTS[:2] if variables else (place,)
        if any(value is v for name in known for v in self.__dict__[name]):
            return
        if self._locked and place != "_metrics":
            raise InvalidArgumentError(
                f"You cannot add new elements of state (variables or sub-layers) to a layer that "
                f"is already built: {self.name!r} got {value!r}. Make all state in __init__() or "
                "build()."
            )
        self.__dict__[place].append(value)
        structure[0] += 1
        if variables and not self.trainable:
            value.trainable = False

    def _untrack(self, value):
        """Disown what `value` is or holds, unless another attribute holds it too."""
        if value is None or type(value) in _NEVER_OWNED:
            return
        held = None
        for item in _leaves(value):
            place = self._place_of(item)
            if place is None:
                continue
            held = _held(self) if held is None else held
            if id(item) not in held:
                self._disown(item)

    def _disown(self, item):
        for name in _LISTS:
            owned = self.__dict__[name]
            owned[:] = [v for v in owned if v is not item]
        structure[0] += 1

    def __setstate__(self, state):  # a copy's containers tell the copy
        self.__dict__.update({k: _rewrap(v, self) for k, v in state.items()})


def _leaves(value):
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for item in value for leaf in _leaves(item)]


def _held(owner):
    """Identities of all that the attributes of `owner` hold, its own lists aside."""
    attributes = [v for k, v in vars(owner).items() if k not in _LISTS]
    return {id(leaf) for leaf in _leaves(attributes)}


def _rewrap(value, owner):
    if isinstance(value, Telling):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = [(k, _rewrap(v, owner)) for k, v in items]
        if isinstance(value, dict):
            return TrackedDict(made, owner)
        return TrackedList([v for _, v in made], owner)
    return value


class Telling:
    """What the two containers share."""

    _owner = None

    def _new(self, value):
        self._note()
        return value if self._owner is None else self._owner._track(value)

    def _note(self):
        owner = self._owner
        if owner is not None and owner.__dict__.get("built"):
            names = [name for name, value in vars(owner).items() if value is self]
            changes.note(owner, names[0] if names else "...", self, None)

    def _gone(self, values):
        self._note()
        if self._owner is not None:
            for value in values:
                self._owner._untrack(value)

    def __copy__(self):
        return type(self).__mro__[2](self)  # a copy belongs to nobody: a plain list or dict

    copy = __copy__


class TrackedList(Telling, list):
    """A list that tells the layer holding it what comes and goes."""

    __hash__ = None

    def __init__(self, values=(), owner=None):
        list.__init__(self, values)
        self._owner = owner

    def append(self, value):
        list.append(self, self._new(value))

    def insert(self, index, value):
        list.insert(self, index, self._new(value))

    def extend(self, values):
        list.extend(self, [self._new(v) for v in values])

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __setitem__(self, index, value):
        old = self[index]
        if isinstance(index, slice):
            list.__setitem__(self, index, [self._new(v) for v in value])
            self._gone(old)
        else:
            list.__setitem__(self, index, self._new(value))
            self._gone([old])

    def __delitem__(self, index):
        old = self[index]
        list.__delitem__(self, index)
        self._gone(old if isinstance(index, slice) else [old])

    def pop(self, index=-1):
        value = list.pop(self, index)
        self._gone([value])
        return value

    def remove(self, value):
        index = next((i for i, v in enumerate(self) if v is value), None)
        del self[self.index(value) if index is None else index]

    def clear(self):
        old = list(self)
        list.clear(self)
        self._gone(old)


class TrackedDict(Telling, dict):
    """A dict that tells the layer holding it what comes and goes."""

    __hash__ = None

    def __init__(self, values=(), owner=None):
        dict.__init__(self, values)
        self._owner = owner

    def __setitem__(self, key, value):
        old = self.get(key)
        dict.__setitem__(self, key, self._new(value))
        self._gone([old])

    def __delitem__(self, key):
        old = self[key]
        dict.__delitem__(self, key)
        self._gone([old])

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        value = dict.pop(self, key, *default)
        self._gone([value])
        return value

    def popitem(self):
        key, value = dict.popitem(self)
        self._gone([value])
        return key, value

    def clear(self):
        old = list(self.values())
        dict.clear(self)
        self._gone(old)


_ABSENT = object()

# The commonest values of attributes, which own nothing and are no properties' business.
_NEVER_OWNED = frozenset((type(None), bool, int, float, str))
