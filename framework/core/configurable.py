"""Classes whose constructor parameters are typed fields, which define signature, checks and config.

    class Dense(Layer):
        units: int
        activation: Activation = None

    Dense(3, activation="relu").get_config()

A field's annotation is its type. `Annotated[type, Resolved(...)]` adds string lookup, conversion
and validation. The values of a `Literal`, and `int`, `float`, `bool` and `str`, also with `| None`,
are checked; anything else is stored as given.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from framework.core.change_counters import changes
from framework.core.configs import serialize_value
from framework.core.errors import InvalidArgumentError, SignatureError, suggest
from framework.core.internal_state import ClassRecord, Owning, Shown, in_package

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # Python 3.10 lacks `dataclass_transform`; only type checkers need it

    def dataclass_transform(**_):
        """Return a decorator without effect; only type checkers read it."""
        return lambda cls: cls


Method = TypeVar("Method", bound=Callable)

_MISSING = inspect.Parameter.empty


class Resolved:
    """An annotation for a field: `resolve` converts the user's value to the value of the field."""

    def __init__(self, name, resolve, serialize=None):
        self.name, self.resolve = name, resolve
        self.serialize = serialize or serialize_value

    def __repr__(self):
        return self.name


def _one_of(choices):
    def resolve(value):
        if value not in choices:
            raise InvalidArgumentError(
                f"expected one of {', '.join(map(repr, choices))}{suggest(value, choices)[:-1]}"
            )
        return value

    return resolve


def one_of(*choices):
    """An annotation for a field that takes one of a few values."""
    return Resolved(f"one of {choices}", _one_of(choices))


def rule_of(annotation):
    """Return the `Resolved` object in a field's annotation, else the annotation itself."""
    if type(annotation) is _LITERAL:
        return one_of(*annotation.__args__)
    return getattr(annotation, "__metadata__", (annotation,))[0]


class Field:
    __slots__ = ("annotation", "default", "keyword_only", "name")

    def __init__(self, name, annotation, default, keyword_only):
        self.name, self.annotation, self.default = name, annotation, default
        self.keyword_only = keyword_only

    def convert(self, value, owner):
        rule = rule_of(self.annotation)
        if value is None and self.default is None and not hasattr(rule, "resolve"):
            return None
        try:
            if hasattr(rule, "resolve"):
                return rule.resolve(value)
            if rule in _SCALARS:
                return _SCALARS[rule](value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{owner}: argument {self.name}={value!r}: {error}") from None
        return value

    def parameter(self, by_position):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_position else \
            inspect.Parameter.KEYWORD_ONLY  # fmt: skip
        return inspect.Parameter(self.name, kind, default=self.default)


def _int(value):
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise InvalidArgumentError(f"expected an int, got {type(value).__name__}")
    return int(value)


def _float(value):
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise InvalidArgumentError(f"expected a number, got {type(value).__name__}")
    return float(value)


def _or_none(convert):
    return lambda value: None if value is None else convert(value)


def _str(value):
    if not isinstance(value, str):
        raise InvalidArgumentError(f"expected a string, got {type(value).__name__}")
    return value


_SCALARS = {int: _int, float: _float, str: _str, bool: bool}
_SCALARS.update({kind | None: _or_none(convert) for kind, convert in _SCALARS.items()})
_LITERAL = type(Literal[0])


class _LazySignature:
    """Computes `inspect.signature(cls)` from the fields when it is read, not at import."""

    def __get__(self, instance, owner):
        if own_init(owner):
            return inspect.signature(owner.__init__).replace(
                parameters=list(inspect.signature(owner.__init__).parameters.values())[1:]
            )
        positional = _positional_fields(owner)
        parameters = [f.parameter(f in positional) for f in fields_of(owner).values()]
        parameters.sort(key=lambda p: p.kind)
        return inspect.Signature(parameters)


@dataclass_transform(eq_default=False)
class Configurable(Owning):
    """Base of layers, losses, metrics, optimizers, initializers and similar classes.

    Fields are class annotations; the fields of the bases come after the class's own. User
    subclasses may define `__init__` and `get_config` themselves, as in Keras.

    Type checkers derive the constructor from the fields as they do for a dataclass.

    Class arguments of the package's classes, as in `class Loss(Watched, kw_only=True)`, are kept
    in their `ClassRecord`:

    - `kw_only`: subclasses take the class's fields by keyword only
    - `base_by_position`: a subclass without fields of its own takes the class's fields by position
    - `former_fields`: {removed argument of older Keras versions: the end of the error message}
    - `left_out`: fields of a base that the class does not have
    - `group`: a subclass takes its own fields first, then those of its `group` bases, in the
      order of the bases; all can be passed by position, although type checkers see keyword-only
      fields
    - `last`: names of the class's own fields that come after those of its `group` bases
    """

    __signature__ = _LazySignature()

    def __init_subclass__(cls, **settings):
        ours = in_package(cls)
        super().__init_subclass__(**({} if ours else settings))
        record = cls._framework = ClassRecord(cls, **(settings if ours else {}))
        record.group = settings.get("group", False)
        own = {}
        if getattr(cls.__dict__.get("__init__", Configurable.__init__), "_from_fields", False):
            keyword_only = settings.get("kw_only", False) and not record.group
            for name, annotation in _annotations(cls).items():
                if name.startswith("_"):
                    continue
                default = cls.__dict__.get(name, _MISSING)
                own[name] = Field(name, annotation, default, keyword_only)
                # A default must not hide a property of a base class.
                if _is_property(cls, name):
                    delattr(cls, name)
        end = {name: own.pop(name) for name in settings.get("last", ())}
        first, grouped, last = _inherited(cls)
        # A class that only changes defaults keeps the field order of its bases. A class with a new
        # field, or one that redeclares all positional fields, defines the order.
        if own.keys() <= {*first, *grouped, *last} and not own.keys() >= {*first, *grouped}:
            first, grouped = ({n: own.pop(n, f) for n, f in p.items()} for p in (first, grouped))
        first = {n: f for n, f in first.items() if n not in own}
        fields = record.fields = {}
        for part in (first, own, grouped, end, last):
            fields.update((n, f) for n, f in part.items() if n not in fields)
        for name in settings.get("left_out", ()):
            record.fields.pop(name, None)

    def __init__(self, *args, **kwargs):
        for name, value in bind(type(self), args, kwargs).items():
            setattr(self, name, value)
        self.__post_init__()

    __init__._from_fields = True

    def __post_init__(self):
        """Check that the values of the fields are compatible, after all are set."""

    def get_config(self):
        """Return the constructor's arguments as JSON-like values, for `from_config`."""
        fields = fields_of(type(self)).items()
        return {n: serialize_field(f, value_of(self, n)) for n, f in fields}

    @classmethod
    def from_config(cls, config):
        """Return an object for a config that `get_config` returned."""
        return cls(**config)


Configurable._framework = ClassRecord(
    Configurable, fields={}, base_by_position=False, former_fields={}
)


def _inherited(cls):
    """Return three dicts of inherited fields: positional, positional from classes declared with
    `group`, and keyword-only."""
    first, grouped, last = {}, {}, {}
    for base in cls.__bases__:
        record = base.__dict__.get("_framework")
        own = {} if record is None else record.own
        positional = grouped if own.get("group") else first
        for name, field in own.get("fields", {}).items():
            if not any(name in part for part in (first, grouped, last)):
                (last if field.keyword_only else positional)[name] = field
    return first, grouped, last


def fields_of(cls):
    """Return the fields of a class by name."""
    return cls._framework.fields


def set_default(cls, name, default):
    """Change the default value of an inherited field; the field keeps its place in the order."""
    field = fields_of(cls)[name]
    fields_of(cls)[name] = Field(name, field.annotation, default, field.keyword_only)
    setattr(cls, name, default)


def value_of(owner, name):
    """Return a field's value, even if a user's subclass uses its name for something else."""
    for cls in type(owner).__mro__:
        if type(cls.__dict__.get(name)) is Shown:
            return cls.__dict__[name].__get__(owner)
    return getattr(owner, name, None)


def _positional_fields(cls):
    """Return the fields that can be passed by position."""
    fields = fields_of(cls).values()
    found = [f for f in fields if not f.keyword_only]
    return found or (list(fields) if cls._framework.base_by_position else [])


def own_init(cls):
    """Return whether a user's subclass defines `__init__`."""
    return not getattr(cls.__init__, "_from_fields", False)


def _annotations(cls):
    """Return the annotations in the class body; Python 3.14 evaluates them at this call."""
    return dict(cls.__annotations__)


def _is_property(cls, name):
    in_bases = next((b.__dict__[name] for b in cls.__mro__[1:] if name in b.__dict__), None)
    return isinstance(in_bases, property) and name in cls.__dict__


def bind(cls, args, kwargs):
    """Return the converted constructor arguments by field name; raise TypeError if one is wrong."""
    fields = fields_of(cls)
    positional = _positional_fields(cls)
    owner = cls.__name__
    if len(args) > len(positional):
        raise TypeError(
            f"{owner}() takes {len(positional)} positional arguments "
            f"({', '.join(f.name for f in positional)}), got {len(args)}."
        )
    given = {f.name: a for f, a in zip(positional, args, strict=False)}
    for name, value in kwargs.items():
        if name not in fields:
            former = cls._framework.former_fields
            if name in former:
                raise SignatureError(f"{owner}() has no argument {name!r}: {former[name]}.")
            raise SignatureError(
                f"{owner}() has no argument {name!r}{suggest(name, fields)} "
                f"It takes: {', '.join(fields)}."
            )
        if name in given:
            raise TypeError(f"{owner}() got two values for argument {name!r}.")
        given[name] = value
    bound = {}
    for name, field in fields.items():
        value = given.get(name, field.default)
        if value is _MISSING:
            raise TypeError(f"{owner}() needs the argument {name!r}.")
        bound[name] = field.convert(value, owner)
    return bound


def serialize_field(field, value):
    serialize = getattr(rule_of(field.annotation), "serialize", serialize_value)
    return serialize(value)


def known_arguments_only(method: Method) -> Method:
    """Decorate a method so that its TypeError for an unknown argument suggests a similar one."""
    code = method.__code__
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        for name in kwargs:
            if name not in known:
                raise TypeError(
                    f"{method.__name__}() has no argument {name!r}{suggest(name, known)} "
                    f"It takes: {', '.join(known)}."
                )
        return method(self, *args, **kwargs)

    return cast(Method, call)


class Watched(Configurable):
    """A Configurable that training steps use; changing an attribute invalidates compiled steps."""

    def __setattr__(self, name, value):
        # The first assignment of a field does not count as a change.
        old = self.__dict__.get(name, value)
        super().__setattr__(name, value)
        if name != "name":
            changes.note(self, name, old, value)
