"""Read pickles of plain data without running code: a table lists what they may construct.

Python's `pickle` calls whatever a file names. This reader interprets the same opcodes, but creates
only None, booleans, numbers, strings, bytes, lists, tuples, dicts, sets and what a table of
constructors lists. Any other call raises an error.

>>> import pickle
>>> loads(pickle.dumps({"a": [1, 2.5, b"c"]}))
{'a': [1, 2.5, b'c']}
>>> loads(pickle.dumps(print))
Traceback (most recent call last):
    ...
framework.core.errors.UnsafeFileError: a pickle: expected plain data, got the name 'builtins.print'.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from framework.core.errors import DamagedFileError, UnsafeFileError


class Constructor(NamedTuple):
    """A function that a pickle may call to construct an object.

    Args:
        make: called with the arguments in the pickle; raises ValueError or TypeError if it does not
            accept them.
        set_state: called with the object and its state if the pickle sets a state; if None, setting
            a state raises an error.
    """

    make: Callable
    set_state: Callable | None = None


def loads(
    data: bytes, constructors: Mapping[tuple[str, str], Any] | None = None,
    persistent: Callable | None = None, encoding: str = "ASCII", what: str = "a pickle",
) -> Any:  # fmt: skip
    """Return the object in a pickle.

    Args:
        data: the pickle, of protocol 0 to 5. Bytes after its end are ignored.
        constructors: {(module, name): value}: the globals that the pickle may name. A `Constructor`
            may be called; any other value is plain data.
        persistent: a function that returns the object for an id, for objects stored outside the
            pickle.
        encoding: the encoding of strings that Python 2 pickled; "bytes" leaves them bytes.
        what: the name of the file in messages.

    Raises:
        UnsafeFileError: the pickle names or does something that is not allowed.
        DamagedFileError: it is truncated or malformed.
    """
    known = _PLAIN | dict(constructors or {})
    reader = _Reader(bytes(data), known, persistent, encoding, what)
    try:
        return reader.run()
    except (UnsafeFileError, DamagedFileError):
        raise
    except (
        ValueError, TypeError, LookupError, AttributeError, struct.error, OverflowError,
        RecursionError, DeprecationWarning,
    ) as error:  # fmt: skip
        raise DamagedFileError(f"{what}: not a complete pickle of plain data ({error}).") from None


_SCALARS = (str, bytes, int, float, bool, type(None))


def _key(value):
    """Return a dict key or set element that is a scalar or a tuple of scalars, else raise an error.

    Nested tuples are refused, because hashing them could take forever.
    """
    parts = value if type(value) is tuple else (value,)
    if all(type(part) in _SCALARS for part in parts):
        return value
    raise ValueError(
        "expected a str, bytes, int, float, bool, None or a tuple of these as a dict key or set "
        f"element, got {type(value).__name__}"
    )


# ---- functions that old protocols call for plain data --------------------------------------------


def _encoded(text, encoding):
    """Return bytes from the text in which pickle protocols 0 to 2 store them."""
    if type(text) is not str or encoding != "latin1":
        raise ValueError("expected bytes stored as latin1 text")
    return text.encode("latin1")


def _set(values):
    return set(map(_key, _listed(values)))


def _frozenset(values):
    return frozenset(map(_key, _listed(values)))


def _listed(values):
    if type(values) not in (list, tuple):
        raise ValueError("expected the elements of a set as a list")
    return values


def _byte_array(data=b"", encoding="latin1"):
    return bytearray(data if type(data) is bytes else _encoded(data, encoding.replace("-", "")))


def _complex(real, imaginary):
    if type(real) is not float or type(imaginary) is not float:
        raise ValueError("expected two floats for a complex number")
    return complex(real, imaginary)


_PLAIN = {("_codecs", "encode"): Constructor(_encoded)} | {
    (module, name): Constructor(make)
    for module in ("builtins", "__builtin__")
    for name, make in {
        "set": _set, "frozenset": _frozenset, "bytearray": _byte_array, "complex": _complex,
        "bytes": lambda: b"",
    }.items()
}  # fmt: skip


# ---- the pickle reader ---------------------------------------------------------------------------


class _Mark:
    """Marks where a sequence of values starts on the stack."""


_MARK = _Mark()


class _Reader:
    """The stack machine that reads a pickle, with one method per opcode (see `_METHODS`)."""

    def __init__(self, data, constructors, persistent, encoding, what):
        self.data, self.at = data, 0
        self.stack, self.memo, self.states = [], {}, {}
        self.constructors, self.persistent = constructors, persistent
        self.encoding, self.what = encoding, what

    def run(self):
        data, append, methods = self.data, self.stack.append, _METHODS
        at = 0
        while True:
            code = data[at]
            # Fast path: a large pickle consists mostly of small ints (12 million in IMDB's).
            if code == 0x4B:  # the opcode BININT1, an int in one byte
                append(data[at + 1])
                at += 2
            elif code == 0x4D:  # the opcode BININT2, an int in two bytes
                append(data[at + 1] | data[at + 2] << 8)
                at += 3
            elif code == 0x2E:  # the opcode STOP, the end of the pickle
                return self.pop()
            else:
                method = methods.get(code)
                if method is None:
                    raise UnsafeFileError(
                        f"{self.what}: expected plain data, got the opcode {code:#x}."
                    )
                self.at = at + 1
                method(self)
                at = self.at

    # ---- bytes of the pickle ----

    def take(self, size):
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise DamagedFileError(f"{self.what}: expected {size} more bytes, got fewer.")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def line(self):
        end = self.data.index(b"\n", self.at)
        taken = self.data[self.at : end]
        self.at = end + 1
        return taken

    def old_string(self, data):
        self.stack.append(data if self.encoding == "bytes" else data.decode(self.encoding))

    # ---- the stack of values ----

    def pop(self):
        value = self.stack.pop()
        if value is _MARK:
            raise ValueError("expected a value on the stack")
        return value

    def run_of_values(self):
        """Remove the last mark and the values above it, and return the values."""
        stack, at = self.stack, len(self.stack) - 1
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("expected a mark on the stack")
        values = stack[at + 1 :]
        del stack[at:]
        return values

    def top(self, *types):
        value = self.stack[-1]
        if type(value) not in types:
            raise ValueError(f"expected {types[0].__name__}, got {type(value).__name__}")
        return value

    def remember(self, index):
        value = self.stack[-1]
        if value is _MARK:
            raise ValueError("expected a value on the stack")
        self.memo[index] = value

    def several(self, count, kind=tuple):
        values = [self.pop() for _ in range(count)][::-1]
        self.stack.append(kind(values))

    def set_items(self, values):
        target = self.top(dict)
        if len(values) % 2:
            raise ValueError("expected a value for each dict key")
        for key, value in zip(values[::2], values[1::2]):
            target[_key(key)] = value

    # ---- global names and calls of constructors ----

    def name(self, module, name):
        if (module, name) not in self.constructors:
            raise UnsafeFileError(
                f"{self.what}: expected plain data, got the name '{module}.{name}'."
            )
        self.stack.append(self.constructors[module, name])

    def stack_name(self):
        name, module = self.pop(), self.pop()
        if type(name) is not str or type(module) is not str:
            raise ValueError("expected the name of a global as a string")
        self.name(module, name)

    def call(self):
        arguments, function = self.pop(), self.pop()
        if not isinstance(function, Constructor) or type(arguments) is not tuple:
            raise UnsafeFileError(
                f"{self.what}: expected plain data, got a call of {type(function).__name__}."
            )
        made = function.make(*arguments)
        # The table holds a reference to the object, so that no later object gets its id.
        self.states[id(made)] = made, function.set_state
        self.stack.append(made)

    def set_state(self):
        state, target = self.pop(), self.stack[-1]
        function = self.states.get(id(target), (None, None))[1]
        if function is None:
            raise UnsafeFileError(
                f"{self.what}: expected plain data, got a state of {type(target).__name__}."
            )
        function(target, state)

    def persistent_value(self):
        if self.persistent is None:
            raise UnsafeFileError(f"{self.what}: expected plain data, got a persistent id.")
        self.stack.append(self.persistent(self.pop()))


def _integer(reader):
    """Push the int that a line of text contains; 00 and 01 are booleans."""
    text = reader.line()
    reader.stack.append(text == b"01" if text in (b"00", b"01") else int(text))


def _long(reader):
    reader.stack.append(int(reader.line().removesuffix(b"L")))


def _quoted(reader):
    text = reader.line().strip()
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in b"'\"":
        raise ValueError("expected a string in quotes")
    reader.old_string(text[1:-1].decode("unicode_escape").encode("latin-1"))


def _text(size):
    return lambda r: r.stack.append(r.take(r.number(size)).decode("utf-8", "surrogatepass"))


def _bytes(size):
    return lambda r: r.stack.append(r.take(r.number(size)))


def _push(make):
    return lambda r: r.stack.append(make())


def _append(reader):
    value = reader.pop()
    reader.top(list).append(value)


def _appends(reader):
    values = reader.run_of_values()
    reader.top(list).extend(values)


def _set_item(reader):
    value, key = reader.pop(), reader.pop()
    reader.set_items([key, value])


def _dict(reader):
    values = reader.run_of_values()
    reader.stack.append({})
    reader.set_items(values)


def _add_items(reader):
    values = reader.run_of_values()
    reader.top(set).update(map(_key, values))


def _frozen(reader):
    reader.stack.append(frozenset(map(_key, reader.run_of_values())))


def _protocol(reader):
    number = reader.number(1)
    if number > 5:
        raise UnsafeFileError(f"{reader.what}: expected pickle protocol 0 to 5, got {number}.")


_METHODS = {
    ord(code) if isinstance(code, str) else code: method
    for code, method in {
        0x80: _protocol,
        0x95: lambda r: r.take(8),  # opcode FRAME: skip the length of the frame
        "(": lambda r: r.stack.append(_MARK),
        "0": lambda r: r.stack.pop(),
        "1": lambda r: r.run_of_values(),
        # opcodes of constants and numbers
        "N": _push(lambda: None),
        0x88: _push(lambda: True),
        0x89: _push(lambda: False),
        "I": _integer,
        "L": _long,
        "J": lambda r: r.stack.append(r.number(4, signed=True)),
        0x8A: lambda r: r.stack.append(r.number(r.number(1), signed=True)),
        0x8B: lambda r: r.stack.append(r.number(r.number(4), signed=True)),
        "F": lambda r: r.stack.append(float(r.line())),
        "G": lambda r: r.stack.append(struct.unpack(">d", r.take(8))[0]),
        # opcodes of strings and bytes
        "S": _quoted,
        "T": lambda r: r.old_string(r.take(r.number(4))),
        "U": lambda r: r.old_string(r.take(r.number(1))),
        "V": lambda r: r.stack.append(r.line().decode("raw-unicode-escape")),
        "X": _text(4),
        0x8C: _text(1),
        0x8D: _text(8),
        "B": _bytes(4),
        "C": _bytes(1),
        0x8E: _bytes(8),
        0x96: lambda r: r.stack.append(bytearray(r.take(r.number(8)))),
        # opcodes of containers
        "]": _push(list),
        "l": lambda r: r.stack.append(r.run_of_values()),
        "a": _append,
        "e": _appends,
        ")": _push(tuple),
        "t": lambda r: r.stack.append(tuple(r.run_of_values())),
        0x85: lambda r: r.several(1),
        0x86: lambda r: r.several(2),
        0x87: lambda r: r.several(3),
        "}": _push(dict),
        "d": _dict,
        "s": _set_item,
        "u": lambda r: r.set_items(r.run_of_values()),
        0x8F: _push(set),
        0x90: _add_items,
        0x91: _frozen,
        # opcodes of the memo
        "p": lambda r: r.remember(int(r.line())),
        "q": lambda r: r.remember(r.number(1)),
        "r": lambda r: r.remember(r.number(4)),
        0x94: lambda r: r.remember(len(r.memo)),
        "g": lambda r: r.stack.append(r.memo[int(r.line())]),
        "h": lambda r: r.stack.append(r.memo[r.number(1)]),
        "j": lambda r: r.stack.append(r.memo[r.number(4)]),
        # opcodes of global names and of calls
        "c": lambda r: r.name(r.line().decode(), r.line().decode()),
        0x93: _Reader.stack_name,
        "R": _Reader.call,
        0x81: _Reader.call,  # opcode NEWOBJ
        "b": _Reader.set_state,
        "Q": _Reader.persistent_value,
    }.items()
}
