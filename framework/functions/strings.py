"""Functions of tf.strings that map each string: parts, case, numbers, patterns, hashes.

Strings are bytes; functions with the unit "UTF8_CHAR" count characters. `joining.py` has the
functions that join strings, `unicode.py` those that split them.

>>> import framework as tf
>>> tf.strings.upper(["a", "b1"]).numpy().tolist()
[b'A', b'B1']
"""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.core.operations import operation
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.core.tensor import Tensor
from framework.kernels.hashing import fingerprint, keyed_hash, murmur_hash
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.tables import look_up_all

OBJECT = np.dtype(object)


class Each(NamedTuple):
    """The NumPy implementation of an op that applies `function` to the elements of its operands.

    Operands broadcast.

    Args:
        function: called with the elements, bytes or numbers, and the settings.
        settings: a tuple of further arguments of `function`.
        dtype: the dtype of the results.
    """

    function: Callable
    settings: tuple = ()
    dtype: Any = OBJECT

    def __call__(self, *columns):
        columns = np.broadcast_arrays(*columns)
        rows = zip(*(column.reshape(-1).tolist() for column in columns))
        made = np.empty(columns[0].size, self.dtype)
        made[:] = [self.function(*row, *self.settings) for row in rows]
        return made.reshape(columns[0].shape)

    def shape(self, *shapes):
        return broadcast_shapes("strings", [KerasTensor(shape) for shape in shapes])


def texts(x, what):
    """Return `x` as a tensor of strings."""
    x = tensor(x)
    if x.dtype != dtypes.string:
        raise DTypeError(
            f"{what}: expected strings, got {x.dtype}. Convert numbers by tf.strings.as_string."
        )
    return x


def each(x, function, *settings, what, dtype=OBJECT) -> Any:
    """Apply a function to each string of `x`, a tensor or RaggedTensor."""
    if isinstance(x, RaggedTensor):
        made = each(x.flat_values, function, *settings, what=what, dtype=dtype)
        return x.with_flat_values(made)
    return look_up_all(texts(x, what), table=Each(function, settings, np.dtype(dtype)))


def decoded(text):
    """Return bytes as str; bytes that are not UTF-8 are preserved."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text):
    return text.encode("utf-8", "surrogateescape")


def _unit(unit, what):
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f"{what}: expected `unit` 'BYTE' or 'UTF8_CHAR', got {unit!r}.")
    return unit


# ---- lengths, parts, case ------------------------------------------------------------------------


def _length(text, unit):
    if unit == "BYTE":
        return len(text)
    # only the first byte of each UTF-8 character is counted
    return sum(byte & 0xC0 != 0x80 for byte in text)


@operation
def length(input: TensorLike, unit: Any = "BYTE", name: str | None = None) -> Tensor:
    """Return the length of each string, int32, in bytes or in characters ("UTF8_CHAR")."""
    return each(input, _length, _unit(unit, "length"), what="length", dtype=np.int32)


def _substr(text, pos, size, unit):
    units = text if unit == "BYTE" else decoded(text)
    n = len(units)
    if not -n <= pos <= n:
        raise InvalidArgumentError(f"substr: pos {pos} out of range for string {text!r}.")
    begin = pos + n if pos < 0 else pos
    part = units[begin : begin + max(size, 0)]
    return part if unit == "BYTE" else encoded(part)


@operation
def substr(
    input: TensorLike, pos: TensorLike, len: TensorLike, unit: Any = "BYTE",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the part of each string from `pos` on.

    Args:
        input: strings.
        pos: ints, the first byte or character; negative ones count from the end.
        len: ints, how many bytes or characters to take.
        unit: "BYTE" or "UTF8_CHAR".

    Raises:
        InvalidArgumentError: a position lies outside its string.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(substr(input.flat_values, pos, len, unit))
    operands = (texts(input, "substr"), tensor(pos), tensor(len))
    return look_up_all(*operands, table=Each(_substr, (_unit(unit, "substr"),)))


_SPACES = b" \t\n\v\f\r"


def _strip(text):
    return text.strip(_SPACES)


@operation
def strip(input: TensorLike, name: str | None = None) -> Tensor:
    """Return the strings without whitespace at both ends."""
    return each(input, _strip, what="strip")


def _case(text, encoding, change):
    if encoding:
        return encoded(getattr(decoded(text), change)())
    return getattr(text, change)()


def _encoding(encoding, what):
    if encoding not in ("", "utf-8"):
        raise InvalidArgumentError(f"{what}: expected `encoding` '' or 'utf-8', got {encoding!r}.")
    return encoding


@operation
def lower(input: TensorLike, encoding: Any = "", name: str | None = None) -> Tensor:
    """Return the strings in lower case: ASCII letters, or all letters with encoding="utf-8"."""
    return each(input, _case, _encoding(encoding, "lower"), "lower", what="lower")


@operation
def upper(input: TensorLike, encoding: Any = "", name: str | None = None) -> Tensor:
    """Return the strings in upper case: ASCII letters, or all letters with encoding="utf-8"."""
    return each(input, _case, _encoding(encoding, "upper"), "upper", what="upper")


# ---- numbers -------------------------------------------------------------------------------------


def _as_string(value, form):
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, complex):
        return b"(%s,%s)" % (_as_string(value.real, form), _as_string(value.imag, form))
    if isinstance(value, float) and not math.isfinite(value):
        # like C's printf, pad inf and nan with spaces instead of zeros
        form = form.replace("%0", "%")
    return (form % value).encode()


@operation
def as_string(
    input: TensorLike, precision: Any = -1, scientific: bool = False, shortest: bool = False,
    width: Any = -1, fill: Any = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return each number as a string, in the format of C's printf.

    Args:
        input: numbers or booleans.
        precision: the number of digits of floats after the point; -1 for 6.
        scientific: write floats with an exponent.
        shortest: write floats with or without an exponent, whichever is shorter.
        width: the least number of characters.
        fill: the fill character: "0", "-" for spaces after the number, " " or "+".

    >>> import framework as tf
    >>> tf.strings.as_string([1.5, 2.0], precision=2).numpy().tolist()
    [b'1.50', b'2.00']
    """
    x = tensor(input)
    if scientific and shortest:
        raise InvalidArgumentError("as_string: `scientific` and `shortest` exclude each other.")
    if fill not in ("", " ", "+", "-", "0", "#"):
        raise InvalidArgumentError(f"as_string: unknown `fill` {fill!r}.")
    is_float = x.dtype.is_inexact
    if x.dtype == dtypes.string:
        justify = bytes.ljust if fill == "-" else bytes.rjust
        return x if width < 2 else look_up_all(x, table=Each(justify, (int(width),)))
    if (precision >= 0 or scientific or shortest) and not is_float:
        raise InvalidArgumentError(
            f"as_string: `precision`, `scientific` and `shortest` are for floats, got {x.dtype}."
        )
    digits = f".{precision}" if precision >= 0 else ""
    kind = ("e" if scientific else "g" if shortest else "f") if is_float else "d"
    form = f"%{fill}{width if width >= 0 else ''}{digits}{kind}"
    return look_up_all(x, table=Each(_as_string, (form,)))


_NUMBER = re.compile(rb"(?i)[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)")
_INTEGER = re.compile(rb"[+-]?\d+")


def _to_number(text, dtype):
    kind = np.dtype(dtype).kind
    stripped = text.strip(_SPACES)
    form = _NUMBER if kind == "f" else _INTEGER
    if form.fullmatch(stripped):
        value = float(stripped) if kind == "f" else int(stripped)
        if kind == "f" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            return value
    raise InvalidArgumentError(f"to_number: could not correctly convert string: {text!r}.")


@operation
def to_number(
    input: TensorLike, out_type: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """Parse strings as numbers.

    Args:
        input: strings.
        out_type: float32, float64, int32 or int64.

    Raises:
        InvalidArgumentError: a string is not a number of this dtype.
    """
    dtype = dtypes.as_dtype(out_type)
    if dtype not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise DTypeError(
            f"to_number: `out_type` must be a numeric dtype of 32 or 64 bits, got {dtype}."
        )
    return each(input, _to_number, dtype.name, what="to_number", dtype=dtype.np)


# ---- patterns ------------------------------------------------------------------------------------


def _pattern(pattern, what):
    pattern = pattern.decode() if isinstance(pattern, bytes) else pattern
    try:
        return re.compile(pattern, re.ASCII)
    except (re.error, TypeError) as error:
        raise InvalidArgumentError(f"{what}: invalid `pattern` {pattern!r}: {error}.") from None


def _full_match(text, pattern):
    return pattern.fullmatch(decoded(text)) is not None


@operation
def regex_full_match(input: TensorLike, pattern: Any, name: str | None = None) -> Tensor:
    """Return whether each whole string matches a regular expression."""
    pattern = _pattern(pattern, "regex_full_match")
    return each(input, _full_match, pattern, what="regex_full_match", dtype=bool)


def _replace(text, pattern, parts, everywhere):
    text, found, end, last = decoded(text), [], 0, -1
    for match in pattern.finditer(text):
        # like RE2, skip an empty match at the end of the previous match
        if match.end() == match.start() == last:
            continue
        found.append(text[end : match.start()])
        found += [part if isinstance(part, str) else match[part] or "" for part in parts]
        end = last = match.end()
        if not everywhere:
            break
    return encoded("".join([*found, text[end:]]))


def _rewrite(rewrite, pattern):
    """Split a replacement pattern into strings and indices of groups."""
    rewrite = rewrite.decode() if isinstance(rewrite, bytes) else rewrite
    parts = re.split(r"\\([0-9\\])", rewrite)
    made = [p if i % 2 == 0 or p == "\\" else int(p) for i, p in enumerate(parts)]
    if any("\\" in p for p in parts[::2]) or any(
        isinstance(p, int) and p > pattern.groups for p in made
    ):
        raise InvalidArgumentError(
            f"regex_replace: backslashes in `rewrite` must be \\0 to \\{pattern.groups}, which "
            f"stand for groups, or \\\\, a backslash; got {rewrite!r}."
        )
    return tuple(made)


@operation
def regex_replace(
    input: TensorLike, pattern: Any, rewrite: Any, replace_global: bool = True,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    r"""Replace the matches of a regular expression in each string by `rewrite`.

    Args:
        input: strings.
        pattern: a regular expression.
        rewrite: a string; \1 to \9 stand for the groups, \0 for the whole match.
        replace_global: False to replace the first match only.

    >>> import framework as tf
    >>> tf.strings.regex_replace("a1b22", "[0-9]+", r"<\0>").numpy()
    b'a<1>b<22>'
    """
    pattern = _pattern(pattern, "regex_replace")
    settings = pattern, _rewrite(rewrite, pattern), bool(replace_global)
    return each(input, _replace, *settings, what="regex_replace")


# ---- hashes --------------------------------------------------------------------------------------


def _bucket(text, count, function, *key):
    return function(text, *key) % count


def _buckets(x, count, what, function, *key):
    if not isinstance(count, (int, np.integer)) or count < 1:
        raise InvalidArgumentError(f"{what}: expected a positive `num_buckets`, got {count!r}.")
    return each(x, _bucket, int(count), function, *key, what=what, dtype=np.int64)


@operation
def to_hash_bucket(input: TensorLike, num_buckets: Any, name: str | None = None) -> Tensor:
    """Return the hash bucket of each string, int64; use `to_hash_bucket_fast` for new programs."""
    return _buckets(input, num_buckets, "to_hash_bucket", murmur_hash)


@operation
def to_hash_bucket_fast(input: TensorLike, num_buckets: Any, name: str | None = None) -> Tensor:
    """Return the hash bucket of each string, int64, by FarmHash's fingerprint."""
    return _buckets(input, num_buckets, "to_hash_bucket_fast", fingerprint)


@operation
def to_hash_bucket_strong(
    input: TensorLike, num_buckets: Any, key: Any, name: str | None = None
) -> Tensor:
    """Return the hash bucket of each string, int64, by SipHash with a key of two ints."""
    key = tuple(int(k) for k in np.asarray(key).reshape(-1))
    if len(key) != 2:
        raise InvalidArgumentError(f"to_hash_bucket_strong: expected two ints as `key`, got {key}.")
    return _buckets(input, num_buckets, "to_hash_bucket_strong", keyed_hash, key)
