"""tf.train.Example and its parts, with an encoder and a decoder for protocol buffers.

Messages: Example {Features features = 1}, Features {map<string, Feature> feature = 1}, Feature
{oneof: BytesList bytes_list = 1, FloatList float_list = 2, Int64List int64_list = 3}, lists
{repeated value = 1}, FeatureList {repeated Feature feature = 1}, FeatureLists {map<string,
FeatureList> feature_list = 1}, SequenceExample {Features context = 1, FeatureLists feature_lists =
2}. Unknown fields in files of other programs are skipped.
"""

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from framework.core.errors import DamagedFileError, DTypeError

# ---- the encoding --------------------------------------------------------------------------------

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # the wire types that protocol buffers define


def encoded_varint(value):
    """Return an int from 0 to 2**64 - 1 as bytes of seven bits each, lowest bits first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encoded_field(number, data):
    """Return an encoded field whose value is bytes."""
    return encoded_varint(number << 3 | _LENGTH) + encoded_varint(len(data)) + data


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DamagedFileError(
                "The message is truncated or not a protocol buffer: a varint is incomplete."
            )
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7


def fields(data):
    """Yield (number, wire type, value) of the fields of a message."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
        elif kind in (_LENGTH, _FIXED32, _FIXED64):
            size = {_FIXED32: 4, _FIXED64: 8}.get(kind)
            if size is None:
                size, at = _read_varint(data, at)
            value, at = data[at : at + size], at + size
            if at > len(data):
                raise DamagedFileError("The message is truncated: a field extends past its end.")
        else:
            raise DamagedFileError(f"The message is not a protocol buffer: bad wire type {kind}.")
        yield number, kind, value


# ---- messages ------------------------------------------------------------------------------------


class _Message:
    """The base class of messages: conversion to bytes and text, and equality by value."""

    def SerializeToString(self, **kwargs: Any):  # noqa: N802 (the name of protocol buffers)
        """Return the message as bytes; equal messages have equal bytes."""
        return self._encoded()

    @classmethod
    def FromString(cls, data: Any):  # noqa: N802
        """Parse bytes; return the message.

        Raises:
            DamagedFileError: the bytes are not a message of this class.
        """
        message = cls()
        message.MergeFromString(data)
        return message

    def ParseFromString(self, data: Any):  # noqa: N802
        """Replace the message's content with the parsed bytes; return the number of bytes."""
        self.__init__()
        return self.MergeFromString(data)

    def MergeFromString(self, data: Any):  # noqa: N802
        """Merge the parsed bytes into the message; return the number of bytes."""
        data = data.numpy() if hasattr(data, "numpy") else data
        data = bytes(data)
        for field in fields(data):
            self._decode(*field)
        return len(data)

    def CopyFrom(self, other: Any):  # noqa: N802
        """Set the message to a copy of another."""
        self.ParseFromString(other.SerializeToString())

    def ByteSize(self):  # noqa: N802
        """Return the number of bytes of the serialized message."""
        return len(self._encoded())

    def __eq__(self, other):
        return type(other) is type(self) and self._encoded() == other._encoded()

    __hash__ = None

    def __repr__(self):
        return "\n".join(self._lines())


def _indented(name, message):
    return [f"{name} {{", *(f"  {line}" for line in message._lines()), "}"]


class _ListOfValues(_Message):
    """The base class of BytesList, FloatList and Int64List."""

    def __init__(self, value: Any = ()):
        self._values = []
        self.value.extend(_items(value))

    @property
    def value(self):
        """The list of values."""
        return self._values

    def _lines(self):
        return [f"value: {_shown(value)}" for value in self._values]


def _items(value):
    value = value.numpy() if hasattr(value, "numpy") else value
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [v.item() if hasattr(v, "item") and v.shape == () else v for v in value]


def _shown(value):
    return (
        f'"{value!r}"'.replace("\"b'", '"').replace("'\"", '"')
        if isinstance(value, bytes)
        else value
    )


class BytesList(_ListOfValues):
    """A list of byte strings.

    Args:
        value: an iterable of bytes.
    """

    def _encoded(self):
        for value in self._values:
            if not isinstance(value, (bytes, bytearray)):
                raise DTypeError(
                    f"BytesList: value: expected bytes, got {type(value).__name__}. Encode a str: "
                    "text.encode()."
                )
        return b"".join([encoded_field(1, bytes(value)) for value in self._values])

    def _decode(self, number, kind, value):
        if number == 1 and kind == _LENGTH:
            self._values.append(value)


class FloatList(_ListOfValues):
    """A list of float32 numbers.

    Args:
        value: an iterable of numbers.
    """

    def _encoded(self):
        data = np.asarray(self._values, "<f4").tobytes()
        return encoded_field(1, data) if data else b""

    def _decode(self, number, kind, value):
        if number == 1 and kind in (_LENGTH, _FIXED32):
            if len(value) % 4:
                raise DamagedFileError("FloatList: the message is truncated within a number.")
            self._values.extend(np.frombuffer(value, "<f4").tolist())


class Int64List(_ListOfValues):
    """A list of int64 numbers.

    Args:
        value: an iterable of ints.
    """

    def _encoded(self):
        numbers = [_as_int64(value) for value in self._values]
        data = b"".join([encoded_varint(number % 2**64) for number in numbers])
        return encoded_field(1, data) if data else b""

    def _decode(self, number, kind, value):
        if number == 1 and kind == _VARINT:
            self._values.append(value - (value >> 63 << 64))
        elif number == 1 and kind == _LENGTH:
            at = 0
            while at < len(value):
                one, at = _read_varint(value, at)
                self._values.append(one - (one >> 63 << 64))


def _as_int64(value):
    try:
        number = operator.index(value)
    except TypeError:
        raise DTypeError(
            f"Int64List: value: expected ints, got {type(value).__name__}. Floats need a FloatList."
        ) from None
    if not -(2**63) <= number < 2**63:
        raise DTypeError(f"Int64List: value: expected an int of 64 bits, got {number}.")
    return number


class Feature(_Message):
    """A feature of an example: one list of values.

    Args:
        bytes_list, float_list, int64_list: a list of this class; at most one of them is given.
    """

    _kinds = (("bytes_list", BytesList), ("float_list", FloatList), ("int64_list", Int64List))

    def __init__(self, bytes_list: Any = None, float_list: Any = None, int64_list: Any = None):
        given = zip(self._kinds, (bytes_list, float_list, int64_list))
        self._list = self._offered = None
        for (name, kind), value in given:
            if value is not None:
                if not isinstance(value, kind):
                    raise DTypeError(
                        f"Feature: {name}: expected {kind.__name__}, got {type(value).__name__}."
                    )
                self._list = value

    def _current(self):
        """Return the list that is set, or None.

        Reading an attribute such as `bytes_list` creates a list, which is set once it has values.
        """
        if self._offered is not None and self._offered.value:
            self._list, self._offered = self._offered, None
        return self._list

    def _get(self, kind):
        if isinstance(self._current(), kind):
            return self._list
        if not isinstance(self._offered, kind):
            self._offered = kind()
        return self._offered

    bytes_list = property(lambda self: self._get(BytesList), doc="The BytesList.")
    float_list = property(lambda self: self._get(FloatList), doc="The FloatList.")
    int64_list = property(lambda self: self._get(Int64List), doc="The Int64List.")

    def WhichOneof(self, oneof_group: Any = "kind"):  # noqa: N802
        """Return which list is set: "bytes_list", "float_list", "int64_list" or None."""
        return next((name for name, kind in self._kinds if type(self._current()) is kind), None)

    def HasField(self, field_name: Any):  # noqa: N802
        """Return whether the list of this name is set."""
        return self.WhichOneof() == field_name

    def _encoded(self):
        names = [name for name, _ in self._kinds]
        name = self.WhichOneof()
        return b"" if name is None else encoded_field(names.index(name) + 1, self._list._encoded())

    def _decode(self, number, kind, value):
        if kind == _LENGTH and 1 <= number <= 3:
            self._list = self._kinds[number - 1][1].FromString(value)

    def _lines(self):
        name = self.WhichOneof()
        return [] if name is None else _indented(name, self._list)


class _MapMessage(_Message):
    """The base class of messages that map names to messages."""

    _of: Any = None
    _name = ""

    def __init__(self, entries=None):
        self._entries = _Entries(self._of)
        if entries is not None:
            self._entries.update(entries)

    def _encoded(self):
        pairs = sorted(self._entries.items())
        return b"".join(
            [
                encoded_field(1, encoded_field(1, name.encode()) + encoded_field(2, m._encoded()))
                for name, m in pairs
            ]
        )

    def _decode(self, number, kind, value):
        if number == 1 and kind == _LENGTH:
            parts = {n: v for n, k, v in fields(value) if k == _LENGTH}
            name = parts.get(1, b"").decode("utf-8", "surrogateescape")
            self._entries[name] = self._of.FromString(parts.get(2, b""))

    def _lines(self):
        lines = []
        for name, message in sorted(self._entries.items()):
            inner = [f'  key: "{name}"', *(f"  {x}" for x in _indented("value", message))]
            lines += [f"{self._name} {{", *inner, "}"]
        return lines


class _Entries(dict):
    """The entries of a map; reading a missing entry creates it, as in protocol buffers."""

    def __init__(self, of):
        super().__init__()
        self.of = of

    def __missing__(self, name):
        self[name] = self.of()
        return self[name]

    def update(self, entries):
        if not isinstance(entries, Mapping):
            raise DTypeError(f"Expected a dict of features, got {type(entries).__name__}.")
        for name, message in entries.items():
            self[name] = message

    def __setitem__(self, name, message):
        if not isinstance(name, str) or not isinstance(message, self.of):
            raise DTypeError(
                f"Expected a str and a {self.of.__name__} as key and value, got {name!r} and "
                f"{type(message).__name__}."
            )
        super().__setitem__(name, message)


class Features(_MapMessage):
    """A mapping from names to `Feature` objects.

    Args:
        feature: a dict {name: Feature}.
    """

    _of, _name = Feature, "feature"

    def __init__(self, feature: Any = None):
        super().__init__(feature)

    @property
    def feature(self):
        """The dict {name: Feature}."""
        return self._entries


class FeatureList(_Message):
    """A list of `Feature` objects, one for each step of a sequence.

    Args:
        feature: an iterable of `Feature` objects.
    """

    def __init__(self, feature: Any = ()):
        self._features = list(feature)

    @property
    def feature(self):
        """The list of `Feature` objects."""
        return self._features

    def _encoded(self):
        return b"".join([encoded_field(1, feature._encoded()) for feature in self._features])

    def _decode(self, number, kind, value):
        if number == 1 and kind == _LENGTH:
            self._features.append(Feature.FromString(value))

    def _lines(self):
        return [line for feature in self._features for line in _indented("feature", feature)]


class FeatureLists(_MapMessage):
    """A mapping from names to `FeatureList` objects.

    Args:
        feature_list: a dict {name: FeatureList}.
    """

    _of, _name = FeatureList, "feature_list"

    def __init__(self, feature_list: Any = None):
        super().__init__(feature_list)

    @property
    def feature_list(self):
        """The dict {name: FeatureList}."""
        return self._entries


class _Parts(_Message):
    """The base class of messages whose fields are messages."""

    _fields_of: tuple = ()

    def _set(self, *values):
        self._parts = []
        for (name, kind), value in zip(self._fields_of, values):
            if value is not None and not isinstance(value, kind):
                raise DTypeError(
                    f"{type(self).__name__}: {name}: expected {kind.__name__}, got "
                    f"{type(value).__name__}."
                )
            self._parts.append(kind() if value is None else value)

    def _encoded(self):
        encoded = [part._encoded() for part in self._parts]
        return b"".join([encoded_field(i + 1, data) for i, data in enumerate(encoded) if data])

    def _decode(self, number, kind, value):
        if kind == _LENGTH and 1 <= number <= len(self._parts):
            self._parts[number - 1].MergeFromString(value)

    def _lines(self):
        pairs = zip(self._fields_of, self._parts)
        return [line for (name, _), part in pairs for line in _indented(name, part)]


class Example(_Parts):
    """One example: features by name, each a list of bytes, floats or ints.

    Args:
        features: a `Features` object.

    Example:
        >>> feature = {"n": Feature(int64_list=Int64List(value=[1, 2]))}
        >>> data = Example(features=Features(feature=feature)).SerializeToString()
        >>> Example.FromString(data).features.feature["n"].int64_list.value
        [1, 2]
    """

    _fields_of = (("features", Features),)

    def __init__(self, features: Any = None):
        self._set(features)

    @property
    def features(self):
        """The `Features` object."""
        return self._parts[0]


class SequenceExample(_Parts):
    """One example with sequences: features of the whole example, and lists of features per step.

    Args:
        context: a `Features` object, for the whole example.
        feature_lists: a `FeatureLists` object, for the sequences.
    """

    _fields_of = (("context", Features), ("feature_lists", FeatureLists))

    def __init__(self, context: Any = None, feature_lists: Any = None):
        self._set(context, feature_lists)

    @property
    def context(self):
        """The `Features` of the whole example."""
        return self._parts[0]

    @property
    def feature_lists(self):
        """The `FeatureLists` of the sequences."""
        return self._parts[1]
