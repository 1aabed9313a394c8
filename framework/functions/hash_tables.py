"""Lookup tables of tf.lookup, which map keys to values; filled from tensors or text files.

>>> import framework as tf
>>> keys_and_values = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
>>> table = tf.lookup.StaticHashTable(keys_and_values, default_value=-1)
>>> table.lookup(["b", "c"]).numpy()
array([ 2, -1], dtype=int32)
"""

from pathlib import Path
from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, LoadError, ShapeError
from framework.core.tensor import Tensor
from framework.kernels.hashing import fingerprint
from framework.ops.tables import look_up


class KeyValueTensorInitializer:
    """The keys and values of a table.

    Args:
        keys, values: vectors of equal length.
        key_dtype, value_dtype: their dtypes; by default those of the tensors.
        name: ignored.
    """

    def __init__(
        self, keys: TensorLike, values: TensorLike, key_dtype: DTypeLike = None,
        value_dtype: DTypeLike = None, name: str | None = None,
    ):  # fmt: skip
        self._keys, self._values = tensor(keys, key_dtype), tensor(values, value_dtype)
        if self._keys.ndim != 1 or tuple(self._keys.shape) != tuple(self._values.shape):
            raise ShapeError(
                "KeyValueTensorInitializer: expected two vectors of equal length, got shapes "
                f"{tuple(self._keys.shape)} and {tuple(self._values.shape)}."
            )

    @property
    def key_dtype(self):
        """The dtype of the keys."""
        return self._keys.dtype

    @property
    def value_dtype(self):
        """The dtype of the values."""
        return self._values.dtype

    def initialize(self, table: Any) -> None:
        """Do nothing: a table reads its initializer when it is created."""


class TextFileIndex:
    """Special values for a column index of `TextFileInitializer`."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(KeyValueTensorInitializer):
    """The keys and values of a table, read from the lines of a text file.

    Args:
        filename: a path.
        key_dtype, value_dtype: their dtypes.
        key_index, value_index: a column number, `TextFileIndex.WHOLE_LINE` or `LINE_NUMBER`.
        vocab_size: the required number of lines; None for any number.
        delimiter: the string between columns.
        name: ignored.
        value_index_offset: a number to add to the line numbers if these are the values.

    Raises:
        LoadError: the file is missing, lacks a column, or has a wrong number of lines.
    """

    def __init__(
        self, filename: Any, key_dtype: DTypeLike, key_index: Any, value_dtype: DTypeLike,
        value_index: Any, vocab_size: Any = None, delimiter: Any = "\t", name: str | None = None,
        value_index_offset: Any = 0,
    ):  # fmt: skip
        try:
            lines = Path(filename).read_bytes().splitlines()
        except OSError as error:
            raise LoadError(f"TextFileInitializer: {filename} cannot be read: {error}") from None
        if vocab_size is not None and vocab_size != len(lines):
            raise LoadError(
                f"TextFileInitializer: {filename}: expected {vocab_size} lines, got {len(lines)}."
            )
        keys = _columns(lines, key_index, delimiter, key_dtype, 0, filename)
        values = _columns(lines, value_index, delimiter, value_dtype, value_index_offset, filename)
        super().__init__(keys, values)


def _columns(lines, index, delimiter, dtype, offset, filename):
    dtype = dtypes.as_dtype(dtype)
    if index == TextFileIndex.LINE_NUMBER:
        return np.arange(offset, offset + len(lines)).astype(dtype.np)
    if index == TextFileIndex.WHOLE_LINE:
        found = lines
    else:
        rows = [line.split(delimiter.encode()) for line in lines]
        if any(index >= len(row) for row in rows):
            raise LoadError(
                f"TextFileInitializer: {filename}: expected a column {index} (from 0) in each line."
            )
        found = [row[index] for row in rows]
    made = np.empty(len(found), object)
    made[:] = found
    try:
        return made if dtype == dtypes.string else made.astype(bytes).astype(dtype.np)
    except ValueError as error:
        raise LoadError(
            f"TextFileInitializer: {filename}: column {index} cannot be read as {dtype}: {error}"
        ) from None


# ---- static tables -------------------------------------------------------------------------------


class _Found:
    """The NumPy implementation of the lookup op of a static table.

    The dict `values` maps known keys to values; the function `missing` maps all other keys.

    `default` is the value of all other keys, if they have a common value.
    """

    def __init__(self, values, missing, dtype, default=None):
        self.values, self.missing, self.dtype = values, missing, np.dtype(dtype)
        self._default = default

    def entries(self):
        """Return (keys, values, default); `default` is None unless all other keys share a value."""
        return list(self.values), list(self.values.values()), self._default

    def __call__(self, keys):
        made = np.empty(keys.size, self.dtype)
        known, missing = self.values, self.missing
        made[:] = [
            known[key] if key in known else missing(key) for key in keys.reshape(-1).tolist()
        ]
        return made.reshape(keys.shape)

    def shape(self, shape):
        return shape


def _pairs(initializer):
    """Return {key: value}; raise an error if a key has two different values."""
    keys, values = (np.asarray(x).tolist() for x in (initializer._keys, initializer._values))
    found = {}
    for key, value in zip(keys, values):
        if found.setdefault(key, value) != value:
            raise InvalidArgumentError(f"HashTable has different value for same key. Key {key!r}.")
    return found


def _keys_of(table, keys):
    keys = tensor(keys)
    if keys.dtype != table.key_dtype:
        raise DTypeError(
            f"lookup: expected keys of dtype {table.key_dtype}, got {keys.dtype}. Cast them."
        )
    return keys


class _Table:
    """The base class of tables: their dtypes and `lookup`."""

    name = None

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The dtype of the values."""
        return self._value_dtype

    def __getitem__(self, keys):
        return self.lookup(keys)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """Return the values of `keys`, in the shape of `keys`."""
        raise NotImplementedError


class StaticHashTable(_Table):
    """An immutable table.

    Args:
        initializer: a `KeyValueTensorInitializer` or `TextFileInitializer`.
        default_value: the value for keys that are not in the table.
        name, experimental_is_anonymous: ignored.
    """

    def __init__(
        self, initializer: Any, default_value: Any, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ):  # fmt: skip
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default = tensor(default_value, self.value_dtype, casts=True)
        default = np.asarray(self._default).tolist()
        values = _pairs(initializer)
        self._table = _Found(values, lambda key: default, self.value_dtype.np, default)

    @property
    def default_value(self):
        """The value for keys that are not in the table."""
        return self._default

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """Return the values of `keys`, in the shape of `keys`.

        Args:
            keys: a tensor of `key_dtype`.
            name: ignored.
        """
        return look_up(_keys_of(self, keys), table=self._table)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, int64."""
        return tensor(np.int64(len(self._table.values)))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and values."""
        return _exported(self._table.values, self)


def _exported(values, table, shape=()):
    keys = np.empty(len(values), table.key_dtype.np)
    keys[:] = list(values)
    made = np.empty((len(values), *shape), table.value_dtype.np)
    for row, value in enumerate(values.values()):
        made[row] = value
    return tensor(keys), tensor(made)


class StaticVocabularyTable(_Table):
    """Maps the words of an initializer to its indices, and all other words to hash buckets.

    Args:
        initializer: keys and their int64 indices; None for buckets alone.
        num_oov_buckets: the number of hash buckets; their indices follow those of the initializer.
        lookup_key_dtype: the dtype of the keys; by default that of the initializer, or string.
        name, experimental_is_anonymous: ignored.
    """

    def __init__(
        self, initializer: Any, num_oov_buckets: Any, lookup_key_dtype: DTypeLike = None,
        name: str | None = None, experimental_is_anonymous: bool = False,
    ):  # fmt: skip
        if num_oov_buckets < 1:
            raise InvalidArgumentError(
                f"oov_buckets must be > 0. Got: {num_oov_buckets}. (StaticVocabularyTable)"
            )
        known = dtypes.string if initializer is None else initializer.key_dtype
        super().__init__(lookup_key_dtype or known, dtypes.int64)
        if initializer is not None and initializer.value_dtype != dtypes.int64:
            raise DTypeError(
                f"Invalid `value_dtype`, expected int64 but got {initializer.value_dtype}."
            )
        values = {} if initializer is None else _pairs(initializer)
        first, self._count = len(values), len(values) + int(num_oov_buckets)

        def bucket(key):
            text = key if isinstance(key, bytes) else str(key).encode()
            return first + fingerprint(text) % num_oov_buckets

        self._table = _Found(values, bucket, np.int64)

    def lookup(self, keys: TensorLike, name: str | None = None) -> Tensor:
        """Return the indices of `keys` as int64, in the shape of `keys`."""
        return look_up(_keys_of(self, keys), table=self._table)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys plus the number of buckets, int64."""
        return tensor(np.int64(self._count))


# ---- mutable tables ------------------------------------------------------------------------------


class MutableHashTable(_Table):
    """A mutable table; a `tf.function` that uses it runs eagerly.

    Args:
        key_dtype, value_dtype: the dtypes.
        default_value: the value for keys that are not in the table, a scalar or vector; all values
            have the same shape.
        name, checkpoint, experimental_is_anonymous: ignored.

    Example:
        >>> import framework as tf
        >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=0)
        >>> table.insert(["a"], tf.constant([5], tf.int64))
        >>> table.lookup(["a", "b"]).numpy()
        array([5, 0])
    """

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: Any,
        name: str = "MutableHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ):  # fmt: skip
        super().__init__(key_dtype, value_dtype)
        self._default = np.asarray(tensor(default_value, self.value_dtype, casts=True))
        self._values = {}

    def lookup(
        self, keys: TensorLike, dynamic_default_values: Any = None, name: str | None = None
    ) -> Tensor:
        """Return the values of keys.

        Args:
            keys: a tensor of `key_dtype`.
            dynamic_default_values: a value for each key, used if the key is not in the table.
            name: ignored.
        """
        keys = np.asarray(_keys_of(self, keys))
        made = np.empty((keys.size, *self._default.shape), self.value_dtype.np)
        other = np.broadcast_to(self._default, made.shape)
        if dynamic_default_values is not None:
            given = np.asarray(tensor(dynamic_default_values, self.value_dtype, casts=True))
            other = np.broadcast_to(given.reshape(-1, *self._default.shape), made.shape)
        for row, key in enumerate(keys.reshape(-1).tolist()):
            made[row] = self._values.get(key, other[row])
        return tensor(made.reshape(*keys.shape, *self._default.shape))

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> None:
        """Insert keys with their values; the values of keys in the table are replaced."""
        found = np.asarray(tensor(keys, self.key_dtype, casts=True))
        given = np.asarray(tensor(values, self.value_dtype, casts=True))
        if given.shape != (*found.shape, *self._default.shape):
            raise ShapeError(
                f"insert: expected values of shape {(*found.shape, *self._default.shape)}, got "
                f"{given.shape}."
            )
        rows = given.reshape(found.size, *self._default.shape)
        self._values.update(zip(found.reshape(-1).tolist(), rows))

    def remove(self, keys: TensorLike, name: str | None = None) -> None:
        """Remove keys; missing keys are ignored."""
        for key in np.asarray(tensor(keys, self.key_dtype, casts=True)).reshape(-1).tolist():
            self._values.pop(key, None)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of keys, int64."""
        return tensor(np.int64(len(self._values)))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Return all keys and values."""
        return _exported(self._values, self, self._default.shape)


class DenseHashTable(MutableHashTable):
    """A mutable table; as in TensorFlow, two keys are reserved as markers.

    Args:
        key_dtype, value_dtype, default_value: as in `MutableHashTable`.
        empty_key, deleted_key: two different keys, which cannot be inserted.
        initial_num_buckets, name, checkpoint, experimental_is_anonymous: ignored.
    """

    def __init__(
        self, key_dtype: DTypeLike, value_dtype: DTypeLike, default_value: Any, empty_key: Any,
        deleted_key: Any, initial_num_buckets: Any = None, name: str = "MutableDenseHashTable",
        checkpoint: bool = True, experimental_is_anonymous: bool = False,
    ):  # fmt: skip
        super().__init__(key_dtype, value_dtype, default_value)
        marks = (tensor(k, self.key_dtype, casts=True) for k in (empty_key, deleted_key))
        self._marks = [np.asarray(mark).tolist() for mark in marks]
        if self._marks[0] == self._marks[1]:
            raise InvalidArgumentError("Empty and deleted keys must have different values.")

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> None:
        """Insert keys with their values; the values of keys in the table are replaced."""
        found = np.asarray(tensor(keys, self.key_dtype, casts=True)).reshape(-1).tolist()
        if used := [mark for mark in self._marks if mark in found]:
            raise InvalidArgumentError(
                f"insert: Using the empty_key or deleted_key {used[0]!r} as a key is not allowed."
            )
        super().insert(keys, values)

    insert_or_assign = insert

    def erase(self, keys: TensorLike, name: str | None = None) -> None:
        """Remove keys; missing keys are ignored."""
        self.remove(keys)
