"""Variable tracking: setting an attribute registers the variables and layers in its value.

Variables are listed in the order of first assignment, as in Keras: saved weights and optimizer
slots rely on this order. Lists and dicts that a layer holds notify the layer when they change.
"""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.change_counters import changes
from framework.core.errors import InvalidArgumentError
from framework.core.internal_state import Owning, Record, Shown
from framework.core.module import Module
from framework.core.random import SeedGenerator
from framework.core.variable import CoreVariable
from framework.core.weight_values import set_values

_VARIABLES = ("trainable_variables", "non_trainable_variables")
_LISTS = (*_VARIABLES, "layers", "modules", "metrics", "seed_generators")

structure = [0]
"""Counts changes of any layer's variables and inner layers; caches are valid for one count."""


class LayerRecord(Record):
    """The internal state of a layer.

    Attributes:
        trainable_variables, ..., seed_generators: the objects that the layer owns, without those of
            inner layers.
        locked: whether new variables and inner layers are forbidden.
        trainable, dtype_policy: the constructor arguments.
        initialized: whether `Layer.__init__` has run.
        init_arguments: the arguments of a user-defined `__init__`.
        input_shape_arg: the older Keras argument `input_shape`.
        building: whether `build` is running.
        build_shapes: the input shapes for which it was called, by argument name.
        built_for: the specs of the arguments of the outermost call that built the layer, or None.
        path: the names of the outer layers and of this layer.
        direct: the dtype of tensors that `call` takes without a cast, once known.
        entered: the serial number of the last outermost call (one not inside another layer's call).
        losses: the losses that `add_loss` recorded.
        losses_entry: the serial number of the outermost call that added them.
        first_call: (args, kwargs, outputs) of the first symbolic call.
        remat: the `RematScope` in which the layer was created, or None.
        makes_masks: whether outputs may have a mask if inputs have none; None: as the class says.
        variables_cache: (the value of the counter `structure`, all variables at that time).
    """

    locked = initialized = building = False
    trainable = True
    dtype_policy = init_arguments = input_shape_arg = build_shapes = path = None
    built_for = direct = first_call = variables_cache = makes_masks = remat = None
    entered = losses_entry = 0

    def __init__(self):
        self.trainable_variables, self.non_trainable_variables = [], []
        self.layers, self.modules, self.metrics, self.seed_generators = [], [], [], []
        self.losses = []

    def held(self):
        """Return sublayers that the layer stores in this record instead of in attributes."""
        return ()


class VariableOwner(Owning):
    """An object that tracks the variables and layers in its attributes, and lists them."""

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

    # copied lists and dicts must notify the copied layer, not the original
    def __setstate__(self, state):
        self.__dict__.update({k: _rewrap(v, self) for k, v in state.items()})

    # ---- variables and layers, including those of inner layers ----

    # Private attributes of Keras's layers, which existing programs read.
    _layers, _metrics, _seed_generators = map(Shown, ("layers", "metrics", "seed_generators"))
    _trainable_variables = Shown("trainable_variables")
    _non_trainable_variables = Shown("non_trainable_variables")

    @property
    def variables(self):
        """The weights and seed generator states of the layer and its inner layers."""
        return list(_every_variable(self))

    @property
    def trainable_variables(self):
        """The variables that training changes; [] if the layer is not trainable."""
        return (
            [v for v in _every_variable(self) if v.trainable] if self._framework.trainable else []
        )

    @property
    def non_trainable_variables(self):
        """The variables that training does not change."""
        if not self._framework.trainable:
            return self.variables
        return [v for v in _every_variable(self) if not v.trainable]

    @property
    def weights(self):
        """`variables` without the states of seed generators."""
        record = self._framework
        weights = [*record.trainable_variables, *record.non_trainable_variables]
        for layer in record.layers:
            weights += layer.weights
        for module in record.modules:
            weights += module.variables
        return distinct(weights)

    @property
    def trainable_weights(self):
        """The weights that training changes."""
        return [v for v in self.weights if v.trainable] if self._framework.trainable else []

    @property
    def non_trainable_weights(self):
        """The weights that training does not change."""
        weights = self.weights
        return [v for v in weights if not v.trainable] if self._framework.trainable else weights

    @property
    def metrics(self):
        """The metrics of the layer and its inner layers."""
        return [m for layer in self._flatten_layers() for m in layer._framework.metrics]

    @property
    def metrics_variables(self):
        """The variables of `metrics`."""
        return [v for metric in self.metrics for v in metric.variables]

    @property
    def trainable(self):
        """Whether training changes the variables; setting it also sets all inner layers."""
        return self._framework.trainable

    @trainable.setter
    def trainable(self, value: TensorLike):
        value = bool(value)
        self._framework.trainable = value
        changes.trainable += 1
        for variable in self._framework.trainable_variables:
            variable.trainable = value
        for layer in self._framework.layers:
            layer.trainable = value

    def _flatten_layers(self, include_self=True, recursive=True):
        """Return the layer and all inner layers without repetition, outer layers first."""
        layers, seen, waiting = [], set(), [self]
        while waiting:
            layer = waiting.pop()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if include_self or layer is not self:
                layers.append(layer)
            if recursive or layer is self:
                waiting.extend(reversed(layer._framework.layers))
        return layers

    def get_weights(self) -> list[Any]:
        """Return the values of `weights` as NumPy arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights: TensorLike) -> None:
        """Set the values of `weights` from a list of arrays of the same shapes."""
        set_values(self.weights, weights, "layer", self.name)

    def count_params(self) -> int:
        """Return the number of elements in all weights."""
        if not self.built:
            raise InvalidArgumentError(
                f"You tried to call `count_params` on layer {self.name!r}, but the layer isn't "
                "built. You can build it manually via: `layer.build(input_shape)`."
            )
        return sum(v.size for v in self.weights)


def distinct(variables):
    """Return the variables in order, without repetition."""
    return list({id(v): v for v in variables}.values())


def _every_variable(owner):
    """Return the list of `variables`, cached until any layer gains or loses one."""
    record = owner._framework
    cached = record.variables_cache
    if cached is None or cached[0] != structure[0]:
        variables = [*record.trainable_variables, *record.non_trainable_variables]
        variables += [generator.state for generator in record.seed_generators]
        for part in (*record.layers, *record.modules):
            variables += part.variables
        cached = record.variables_cache = (structure[0], distinct(variables))
    return cached[1]


# ---- how attributes are tracked ------------------------------------------------------------------


def _leaves(value):
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return [value]
    return [leaf for item in value for leaf in _leaves(item)]


def _held(owner):
    """Return the ids of all values that the attributes of `owner` hold, except tracking lists."""
    held = [*owner._framework.held(), *vars(owner).values()]
    return {id(leaf) for leaf in _leaves(held)}


def _rewrap(value, owner):
    if isinstance(value, _TrackedContainer):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        made = [(k, _rewrap(v, owner)) for k, v in items]
        if isinstance(value, dict):
            return TrackedDict(made, owner)
        return TrackedList([v for _, v in made], owner)
    return value


class _TrackedContainer:
    """The base class of the list and dict that notify the layer that holds them."""

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
        # a copy is a plain list or dict, which notifies no layer
        return type(self).__mro__[2](self)

    copy = __copy__


class TrackedList(_TrackedContainer, list):
    """A list that notifies the layer that holds it when items are added or removed."""

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


class TrackedDict(_TrackedContainer, dict):
    """A dict that notifies the layer that holds it when items are added or removed."""

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

# Values of these types, the most frequent attributes, hold no variables or layers.
_NEVER_OWNED = frozenset((type(None), bool, int, float, str))


def _set_tracked(owner, name, value):
    old = owner.__dict__.get(name)
    if old is not value:
        value = track(owner, value)
    object.__setattr__(owner, name, value)
    if old is not None and old is not value:
        untrack(owner, old)


def track(owner, value):
    """Track `value` and its items; return it with lists and dicts replaced by tracked ones."""
    category = _category_of(owner, value)
    if category is not None:
        add_owned(owner, category, value)
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


def _category_of(owner, value):
    """Return the name of the tracking list for `value`, or None if it is not tracked."""
    if isinstance(value, CoreVariable):
        return "trainable_variables" if value.trainable else "non_trainable_variables"
    if isinstance(value, VariableOwner):
        return "layers"
    if isinstance(value, SeedGenerator):
        return "seed_generators"
    if isinstance(value, Module):
        return "modules"
    if hasattr(type(value), "update_state") and hasattr(type(value), "reset_state"):
        return "metrics"
    return None


def add_owned(owner, category, value):
    record, variables = owner._framework, category in _VARIABLES
    known = _VARIABLES if variables else (category,)
    if any(value is v for name in known for v in getattr(record, name)):
        return
    if record.locked and category != "metrics":
        raise InvalidArgumentError(
            f"You cannot add new elements of state (variables or sub-layers) to a layer that "
            f"is already built: {owner.name!r} got {value!r}. Create them all in __init__() or "
            "build()."
        )
    getattr(record, category).append(value)
    structure[0] += 1
    if variables and not owner.trainable:
        value.trainable = False


def untrack(owner, value):
    """Stop tracking `value` and its items, unless another attribute holds them."""
    if value is None or type(value) in _NEVER_OWNED:
        return
    held = None
    for item in _leaves(value):
        category = _category_of(owner, item)
        if category is None:
            continue
        held = _held(owner) if held is None else held
        if id(item) not in held:
            remove_owned(owner, item)


def remove_owned(owner, item):
    for name in _LISTS:
        owned = getattr(owner._framework, name)
        owned[:] = [v for v in owned if v is not item]
    structure[0] += 1
