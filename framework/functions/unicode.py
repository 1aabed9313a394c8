"""Functions of tf.strings that split strings into rows of different lengths or convert encodings.

The result is a tensor for one string, a `RaggedTensor` for several.

>>> import framework as tf
>>> tf.strings.split("a b c").numpy().tolist()
[b'a', b'b', b'c']
"""

import codecs
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.operations import operation
from framework.core.tensor import Tensor
from framework.functions.ragged import nested
from framework.functions.strings import OBJECT, Each, texts
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.tables import look_up_all, look_up_rows

_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


class _Lists(NamedTuple):
    """The NumPy implementation of an op that maps each string to one or more lists.

    It returns the elements of each list over all strings, and the row splits.

    Args:
        function: called with a string and the settings, returns a tuple of lists.
        settings: a tuple of further arguments of `function`.
        dtypes: the dtypes of the lists.
    """

    function: Callable
    settings: tuple
    dtypes: tuple

    def __call__(self, x):
        rows = [self.function(text, *self.settings) for text in x.reshape(-1).tolist()]
        lengths = [len(row[0]) for row in rows]
        for i, dtype in enumerate(self.dtypes):
            values = np.empty(sum(lengths), dtype)
            values[:] = [value for row in rows for value in row[i]]
            yield values
        yield np.cumsum([0, *lengths], dtype=np.int64)

    def specs(self, x):
        count = int(np.prod(x.shape)) + 1 if None not in x.shape else None
        return [*(((None,), dtype) for dtype in self.dtypes), ((count,), _INT64)]


def _split_rows(x, function, settings, dtypes, what):
    """Apply `function` to each string; return its lists as tensors or RaggedTensors."""
    x = texts(x, what)
    *values, row_splits = look_up_rows(x, table=_Lists(function, settings, dtypes))
    return [nested(v, row_splits, tuple(x.shape)) for v in values]


# ---- words and bytes -----------------------------------------------------------------------------


def _words(text, sep, maxsplit):
    parts = text.split(sep, maxsplit)
    if sep is None and len(parts) == maxsplit:
        parts.append(b"")  # TensorFlow also returns the rest of the string if it is empty
    return (parts,)


def split(input: TensorLike, sep: Any = None, maxsplit: Any = -1, name: str | None = None) -> Any:
    """Return the parts of each string between separators.

    Args:
        input: strings.
        sep: the separator; by default, any sequence of whitespace.
        maxsplit: the largest number of splits of a string; -1 for no limit.
    """
    sep = sep.encode() if isinstance(sep, str) else sep
    return _split_rows(input, _words, (sep or None, int(maxsplit)), (OBJECT,), "split")[0]


def _each_byte(text):
    return ([text[i : i + 1] for i in range(len(text))],)


def bytes_split(input: TensorLike, name: str | None = None) -> Any:
    """Return the bytes of each string."""
    return _split_rows(input, _each_byte, (), (OBJECT,), "bytes_split")[0]


# ---- n-grams -------------------------------------------------------------------------------------


class _Grams(NamedTuple):
    """The NumPy implementation of an op that returns the n-grams of each row of words."""

    widths: tuple
    separator: bytes
    pads: tuple  # the padding words (before a row, after a row), or () for no padding
    # the largest number of padding words on each side; -1 means the width of the n-gram - 1
    most: int
    short: bool

    def __call__(self, words, row_splits):
        ends, words = row_splits.tolist(), words.tolist()
        rows = [self.of(words[a:b]) for a, b in itertools.pairwise(ends)]
        values = np.empty(sum(map(len, rows)), object)
        values[:] = [gram for row in rows for gram in row]
        return values, np.cumsum([0, *map(len, rows)], dtype=np.int64)

    def of(self, row):
        """Return the n-grams of one row."""
        made = []
        for width in self.widths:
            added = width - 1 if self.most < 0 else min(self.most, width - 1)
            whole = self.padded(row, added if self.pads else 0)
            spans = (whole[i : i + width] for i in range(len(whole) - width + 1))
            made += [self.separator.join(span) for span in spans]
        if self.short and row and not made:
            made.append(self.separator.join(self.padded(row, max(self.most, 0))))
        return made

    def padded(self, row, count):
        if not self.pads:
            return row
        return [self.pads[0]] * count + row + [self.pads[1]] * count

    def specs(self, _words, row_splits):
        return [((None,), OBJECT), (tuple(row_splits.shape), _INT64)]


def ngrams(
    data: Any, ngram_width: Any, separator: Any = " ", pad_values: Any = None,
    padding_width: Any = None, preserve_short_sequences: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the n-grams of the words along the last axis, each joined to one string.

    Args:
        data: strings of rank 1 or 2, or a RaggedTensor.
        ngram_width: the number of words of an n-gram; a tuple for n-grams of several sizes.
        separator: the string between the words.
        pad_values: a string to pad with, or two, to use before and after each row.
        padding_width: the largest number of padding words on each side; the default is
            `ngram_width` - 1.
        preserve_short_sequences: True to return a row that is shorter than an n-gram as one string.

    >>> import framework as tf
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    widths = ngram_width if isinstance(ngram_width, (list, tuple)) else (ngram_width,)
    if min(widths) < 1 or (padding_width is not None and (pad_values is None or padding_width < 1)):
        raise InvalidArgumentError(
            "ngrams: `ngram_width` must be positive; `padding_width` must be positive, and needs "
            f"`pad_values`; got {ngram_width!r} and {padding_width!r}."
        )
    pads = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
    pads = tuple(_bytes(p) for p in pads) if pads else ()
    most = (0 if pad_values is None else -1) if padding_width is None else int(padding_width)
    table = _Grams(
        tuple(map(int, widths)), _bytes(separator), pads, most, bool(preserve_short_sequences)
    )
    if isinstance(data, RaggedTensor):
        if isinstance(data.values, RaggedTensor):
            options = ngram_width, separator, pad_values, padding_width, preserve_short_sequences
            return RaggedTensor(ngrams(data.values, *options), data.row_splits)
        found = look_up_rows(texts(data.values, "ngrams"), data.row_splits, table=table)
        return RaggedTensor(*found)
    x = texts(data, "ngrams")
    if x.ndim not in (1, 2):
        raise ShapeError(
            f"ngrams: expected rank 1 or 2 or a RaggedTensor, got shape {tuple(x.shape)}."
        )
    rows, size = (1, x.shape[0]) if x.ndim == 1 else x.shape
    flat = x if x.ndim == 1 else look_up_all(x, table=_Flat())
    values, ends = look_up_rows(flat, np.arange(rows + 1, dtype=np.int64) * size, table=table)
    return values if x.ndim == 1 else RaggedTensor(values, ends).to_tensor()


class _Flat(NamedTuple):
    """The NumPy implementation of an op that flattens its operand to one axis."""

    dtype: Any = OBJECT

    def __call__(self, x):
        return x.reshape(-1)

    def shape(self, shape):
        return (None if None in shape else int(np.prod(shape)),)


def _bytes(value):
    return value.encode() if isinstance(value, str) else value


# ---- encodings -----------------------------------------------------------------------------------


def _codec(encoding, what):
    try:
        return codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InvalidArgumentError(f"{what}: unknown encoding {encoding!r}.") from None


def _settings(encoding, errors, replacement_char, control, what):
    if errors not in ("replace", "strict", "ignore"):
        raise InvalidArgumentError(
            f"{what}: `errors` must be 'replace', 'strict' or 'ignore', got {errors!r}."
        )
    return _codec(encoding, what), errors, chr(replacement_char), bool(control)


def _characters(text, encoding, errors, replacement, control=False):
    """Decode bytes; return a list of characters, and a list of their byte offsets."""
    made, places, at = [], [], 0
    while at < len(text):
        try:
            part, bad, end = text[at:].decode(encoding), None, len(text) - at
        except UnicodeDecodeError as error:
            if errors == "strict":
                raise InvalidArgumentError(f"Invalid formatting on string: {text!r}") from None
            part, bad, end = text[at : at + error.start].decode(encoding), error.start, error.end
        begin = at
        for character in part:
            size = len(character.encode(encoding))
            hidden = control and ord(character) < 32
            if not hidden or errors != "ignore":
                made.append(replacement if hidden else character)
                places.append(begin)
            begin += size
        if bad is not None and errors == "replace":
            made.append(replacement)
            places.append(at + bad)
        at += end
    return made, places


def _decoded(text, *settings):
    characters, places = _characters(text, *settings)
    return [ord(character) for character in characters], places


def _split_characters(text, encoding, errors, replacement, control):
    characters, places = _characters(text, encoding, errors, replacement, control)
    return [character.encode(encoding) for character in characters], places


def _unicode(input, function, dtype, settings, what):
    return _split_rows(input, function, settings, (dtype, _INT64), what)


def unicode_decode(
    input: TensorLike, input_encoding: Any, errors: Any = "replace", replacement_char: Any = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the code points of each string, int32.

    Args:
        input: strings.
        input_encoding: "UTF-8", "UTF-16-BE", "UTF-32-BE" or another name of an encoding.
        errors: what to do with invalid bytes: "replace", "ignore" or "strict".
        replacement_char: the code point that replaces invalid bytes.
        replace_control_characters: replace the code points 0 to 31, too.

    >>> import framework as tf
    >>> tf.strings.unicode_decode("né", "UTF-8").numpy()
    array([110, 233], dtype=int32)
    """
    return unicode_decode_with_offsets(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )[0]


def unicode_decode_with_offsets(
    input: TensorLike, input_encoding: Any, errors: Any = "replace", replacement_char: Any = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> tuple:  # fmt: skip
    """Return the results of `unicode_decode`, and the byte offset of each code point (int64)."""
    what = "unicode_decode"
    settings = _settings(input_encoding, errors, replacement_char, replace_control_characters, what)
    return tuple(_unicode(input, _decoded, _INT32, settings, what))


def unicode_split(
    input: TensorLike, input_encoding: Any, errors: Any = "replace", replacement_char: Any = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the characters of each string, in its encoding; arguments as in `unicode_decode`."""
    return unicode_split_with_offsets(input, input_encoding, errors, replacement_char)[0]


def unicode_split_with_offsets(
    input: TensorLike, input_encoding: Any, errors: Any = "replace", replacement_char: Any = 65533,
    name: str | None = None,
) -> tuple:  # fmt: skip
    """Return the results of `unicode_split`, and the byte offset of each character (int64)."""
    settings = _settings(input_encoding, errors, replacement_char, False, "unicode_split")
    return tuple(_unicode(input, _split_characters, OBJECT, settings, "unicode_split"))


def _transcoded(text, output, encoding, errors, replacement, control):
    characters, _ = _characters(text, encoding, errors, replacement, control)
    return "".join(characters).encode(output)


_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")


def _output(encoding, what):
    if encoding not in _OUTPUTS:
        raise InvalidArgumentError(
            f"{what}: `output_encoding` must be one of {', '.join(_OUTPUTS)}, got {encoding!r}."
        )
    return encoding.lower()


@operation
def unicode_transcode(
    input: TensorLike, input_encoding: Any, output_encoding: Any, errors: Any = "replace",
    replacement_char: Any = 65533, replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the strings in another encoding, "UTF-8", "UTF-16-BE" or "UTF-32-BE".

    The other arguments are those of `unicode_decode`.
    """
    what = "unicode_transcode"
    settings = _settings(input_encoding, errors, replacement_char, replace_control_characters, what)
    table = Each(_transcoded, (_output(output_encoding, what), *settings))
    return look_up_all(texts(input, what), table=table)


class _Encode(NamedTuple):
    """The NumPy implementation of an op that encodes rows of code points as strings."""

    encoding: str
    errors: str
    replacement: int
    dtype: Any = OBJECT

    def __call__(self, points, row_splits):
        ends, points = row_splits.tolist(), points.reshape(-1).tolist()
        made = np.empty(len(ends) - 1, object)
        made[:] = [self.of(points[a:b]) for a, b in itertools.pairwise(ends)]
        return made

    def of(self, row):
        wrong = [p for p in row if not 0 <= p < 0x110000 or 0xD800 <= p < 0xE000]
        if wrong and self.errors == "strict":
            raise InvalidArgumentError(f"Code point is out of range for Unicode: {wrong[0]}.")
        other = [] if self.errors == "ignore" else [self.replacement]
        kept = (p for point in row for p in (other if point in wrong else [point]))
        return "".join(map(chr, kept)).encode(self.encoding)

    def shape(self, _points, row_splits):
        return (None if row_splits[0] is None else row_splits[0] - 1,)


def unicode_encode(
    input: Any, output_encoding: Any, errors: Any = "replace", replacement_char: Any = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Encode rows of code points as strings.

    Args:
        input: int32 of shape (..., length), or a RaggedTensor.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors: what to do with numbers that are not code points: "replace", "ignore" or "strict".
        replacement_char: the code point that replaces them.

    >>> import framework as tf
    >>> tf.strings.unicode_encode([110, 233], "UTF-8").numpy().decode()
    'né'
    """
    what = "unicode_encode"
    _, errors, other, _ = _settings("utf-8", errors, replacement_char, False, what)
    table = _Encode(_output(output_encoding, what), errors, ord(other))
    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor):
            inner = unicode_encode(input.values, output_encoding, errors, replacement_char)
            return RaggedTensor(inner, input.row_splits)
        return look_up_all(input.values, input.row_splits, table=table)
    x = tensor(input)
    if not x.dtype.is_integer or not x.ndim:
        raise DTypeError(
            f"{what}: expected ints of rank 1 or more, got {x.dtype} of rank {x.ndim}."
        )
    lead = tuple(x.shape[:-1])
    rows = int(np.prod(lead))
    y = look_up_all(x, np.arange(rows + 1, dtype=np.int64) * x.shape[-1], table=table)
    return tensor(np.asarray(y).reshape(lead))
