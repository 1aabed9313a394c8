"""What a layer owns: variables, layers, metrics and seed generators, found as attributes are set.

They are kept in the order in which they were first set, as Keras keeps them: saved weights and
optimizer slots rely on it. Lists and dicts held by a layer tell it when they change.
"""

from framework.core.changes import changes
from framework.core.errors import InvalidArgumentError
from framework.core.module import Module
from framework.core.own import Owning, Record
from framework.core.random import SeedGenerator
from framework.core.variable import CoreVariable

_VARIABLES = ("trainable_variables", "non_trainable_variables")
_LISTS = (*_VARIABLES, "layers", "modules", "metrics", "seed_generators")

structure = [0]
"""How often what any layer owns has changed: lists made from it are good until this moves."""


class LayerRecord(Record):
    """What is internal to a layer.

    Attributes:
        trainable_variables, ..., seed_generators: what the layer itself owns.
        locked: whether it may own nothing else.
        trainable, dtype_policy: what was given.
        initialized: whether `__init__` of the base has run.
        init_arguments: of a class with its own `__init__`.
        input_shape_arg: what older Keras's `input_shape=` said.
        building, build_shapes: whether `build` runs, and the shapes it got, by name.
        path: its name after those of the layers that it was built in.
        direct: the dtype of tensors that `call` takes as they are, once that is known.
        entered, losses, losses_entry: the outermost call that the layer was in, the losses
            added in one, and in which.
        first_call: (args, kwargs, outputs) of the first symbolic call.
        makes_masks: whether outputs may have a mask where inputs have none; None: as the class.
        variables_now: (the count of changes of structure, all variables).
    """

    locked = initialized = building = False
    trainable = True
    dtype_policy = init_arguments = input_shape_arg = build_shapes = path = None
    direct = first_call = variables_now = makes_masks = None
    entered = losses_entry = 0

    def __init__(self):
        self.trainable_variables, self.non_trainable_variables = [], []
        self.layers, self.modules, self.metrics, self.seed_generators = [], [], [], []
        self.losses = []

    def held(self):
        """What the layer holds beside its attributes."""
        return ()


class Tracked(Owning):
    """An object whose attributes are looked through for what it owns."""

    def __setattr__(self, name, value):
        held = self.__dict__
        old = held.get(name, _ABSENT)
        if type(value) in _NEVER_OWNED and (old is _ABSENT or type(old) in _NEVER_OWNED):
            object.__setattr__(self, name, value)
        else:
            _set_tracked(self, name, value)
        if held.get("built") and name not in type(self)._framework.no_settings and name in held:
            old = getattr(type(self), name, _ABSENT) if old is _ABSENT else old
            if old is not _ABSENT:
                changes.note(self, name, old, held[name])

    def __delattr__(self, name):
        old = self.__dict__.get(name)
        object.__delattr__(self, name)
        untrack(self, old)

    def __setstate__(self, state):  # a copy's containers tell the copy
        self.__dict__.update({k: _rewrap(v, self) for k, v in state.items()})


def _leaves(value):
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for item in value for leaf in _leaves(item)]


def _held(owner):
    """Identities of all that the attributes of `owner` hold, the lists of what it owns aside."""
    held = [*owner._framework.held(), *vars(owner).values()]
    return {id(leaf) for leaf in _leaves(held)}


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
        return value if self._owner is None else track(self._owner, value)

    def _note(self):
        owner = self._owner
        if owner is not None and owner.__dict__.get("built"):
            names = [name for name, value in vars(owner).items() if value is self]
            changes.note(owner, names[0] if names else "...", self, None)

    def _gone(self, values):
        self._note()
        if self._owner is not None:
            for value in values:
                untrack(self._owner, value)

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


def _set_tracked(owner, name, value):
    old = owner.__dict__.get(name)
    if old is not value:
        value = track(owner, value)
    object.__setattr__(owner, name, value)
    if old is not None and old is not value:
        untrack(owner, old)


def track(owner, value):
    """Own what `value` is or holds; the value, in containers that tell of changes."""
    place = _place_of(owner, value)
    if place is not None:
        own(owner, place, value)
        return value
    kind = type(value)
    if kind is list:
        return TrackedList([track(owner, v) for v in value], owner)
    if kind is dict:
        return TrackedDict({k: track(owner, v) for k, v in value.items()}, owner)
    if isinstance(value, tuple):
        items = [track(owner, v) for v in value]
        if all(new is old for new, old in zip(items, value)):
            return value
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    return value


def _place_of(owner, value):
    """The list that things like `value` belong in, None for what is not owned."""
    if isinstance(value, CoreVariable):
        return "trainable_variables" if value.trainable else "non_trainable_variables"
    if isinstance(value, Tracked):
        return "layers"
    if isinstance(value, SeedGenerator):
        return "seed_generators"
    if isinstance(value, Module):
        return "modules"
    if hasattr(type(value), "update_state") and hasattr(type(value), "reset_state"):
        return "metrics"
    return None


def own(owner, place, value):
    record, variables = owner._framework, place in _VARIABLES
    known = _VARIABLES if variables else (place,)
    if any(value is v for name in known for v in getattr(record, name)):
        return
    if record.locked and place != "metrics":
        raise InvalidArgumentError(
            f"You cannot add new elements of state (variables or sub-layers) to a layer that "
            f"is already built: {owner.name!r} got {value!r}. Make all state in __init__() or "
            "build()."
        )
    getattr(record, place).append(value)
    structure[0] += 1
    if variables and not owner.trainable:
        value.trainable = False


def untrack(owner, value):
    """Disown what `value` is or holds, unless another attribute holds it too."""
    if value is None or type(value) in _NEVER_OWNED:
        return
    held = None
    for item in _leaves(value):
        place = _place_of(owner, item)
        if place is None:
            continue
        held = _held(owner) if held is None else held
        if id(item) not in held:
            disown(owner, item)


def disown(owner, item):
    for name in _LISTS:
        owned = getattr(owner._framework, name)
        owned[:] = [v for v in owned if v is not item]
    structure[0] += 1
