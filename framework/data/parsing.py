"""tf.io.parse_example and related functions: convert serialized examples to tensors."""

from typing import Any, NamedTuple

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.errors import DamagedFileError, DTypeError, InvalidArgumentError
from framework.core.tensor import Tensor
from framework.data.examples import Example, SequenceExample
from framework.data.structure import array_in
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.sparse_tensor import SparseTensor

_LISTS = {"int64": "int64_list", "float32": "float_list", "string": "bytes_list"}


class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in every example.

    Args:
        shape: the shape of its tensor.
        dtype: int64, float32 or string.
        default_value: the value in examples without the feature; an error if None.
    """

    shape: Any
    dtype: DTypeLike
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of values, padded to the largest number in a batch.

    Args:
        shape: the shape of one value.
        dtype: int64, float32 or string.
        allow_missing: must be True, except for lists of a SequenceExample.
        default_value: the value of the padding; 0 or "" if None.
    """

    shape: Any
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values, parsed to rows of a SparseTensor.

    Args:
        dtype: int64, float32 or string.
    """

    dtype: DTypeLike


class RaggedFeature(NamedTuple):
    """A feature with any number of values, parsed to rows of a ragged tensor; for a single example,
    to a tensor of rank 1.

    Args:
        dtype: int64, float32 or string.
        value_key: the name of the feature in the examples; None for the key of the result.
        partitions: must be ().
        row_splits_dtype: ignored: row splits are int64.
        validate: ignored.
    """

    dtype: DTypeLike
    value_key: str | None = None
    partitions: tuple = ()
    row_splits_dtype: DTypeLike = dtypes.int32
    validate: bool = False


def parse_example(
    serialized: TensorLike, features: Any, example_names: Any = None, name: str | None = None
) -> Any:
    """Return a batch of serialized `tf.train.Example` as {name: tensor of shape (batch, ...)}.

    Args:
        serialized: a string tensor of shape (batch,), or of shape () for one example.
        features: {name: FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or RaggedFeature}.
        example_names: names of the examples, for errors.

    Raises:
        InvalidArgumentError: an example lacks a feature, or the feature has a wrong dtype or number
            of values.
        DamagedFileError: a string is not an Example.

    >>> from framework import io, train
    >>> numbers = train.Feature(int64_list=train.Int64List(value=[1, 2]))
    >>> example = train.Example(features=train.Features(feature={"n": numbers}))
    >>> text = example.SerializeToString()
    >>> io.parse_single_example(text, {"n": io.FixedLenFeature([2], "int64")})["n"].tolist()
    [1, 2]
    """
    texts = _texts(serialized, "parse_example")
    labels = _labels(example_names, texts.size)
    messages = [_message(Example, each, label) for each, label in zip(texts.reshape(-1), labels)]
    entries = [message.features.feature for message in messages]
    if not features:
        raise InvalidArgumentError("parse_example: features: expected at least one, got none.")
    return {
        key: _batched(key, feature, entries, labels, single=not texts.ndim)
        for key, feature in features.items()
    }


def parse_single_example(
    serialized: TensorLike, features: Any, example_names: Any = None, name: str | None = None
) -> Any:
    """Return one serialized `tf.train.Example` as {name: tensor}; see `parse_example`."""
    texts = _texts(serialized, "parse_single_example")
    if texts.ndim:
        raise InvalidArgumentError(
            f"parse_single_example: serialized: expected shape (), got {texts.shape}. Use "
            "parse_example."
        )
    return parse_example(serialized, features, example_names)


def parse_single_sequence_example(
    serialized: TensorLike, context_features: Any = None, sequence_features: Any = None,
    example_name: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return one serialized `tf.train.SequenceExample` as two dicts of tensors: context, sequences.

    Args:
        serialized: a string tensor of shape ().
        context_features: {name: FixedLenFeature or VarLenFeature}.
        sequence_features: {name: FixedLenSequenceFeature or VarLenFeature}.
        example_name: the name of the example, for errors.
    """
    texts = _texts(serialized, "parse_single_sequence_example")
    label = _labels(None if example_name is None else [example_name], 1)[0]
    message = _message(SequenceExample, texts.reshape(-1)[0], label)
    context = {
        key: _batched(key, feature, [message.context.feature], [label], single=True)
        for key, feature in (context_features or {}).items()
    }
    sequences = {
        key: _sequence(key, feature, message.feature_lists.feature_list, label)
        for key, feature in (sequence_features or {}).items()
    }
    return context, sequences


def parse_sequence_example(
    serialized: TensorLike, context_features: Any = None, sequence_features: Any = None,
    example_names: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return a batch of serialized `tf.train.SequenceExample` as three dicts of tensors.

    Args:
        serialized: a string tensor of shape (batch,).
        context_features: {name: FixedLenFeature or VarLenFeature}.
        sequence_features: {name: FixedLenSequenceFeature or VarLenFeature}.
        example_names: names of the examples, for errors.

    Returns:
        The context, the sequences, padded at their ends to the longest, and the lengths of the
        sequences with a FixedLenSequenceFeature, int64 of shape (batch,).
    """
    texts = _texts(serialized, "parse_sequence_example").reshape(-1)
    labels = _labels(example_names, len(texts))
    messages = [_message(SequenceExample, *pair) for pair in zip(texts, labels)]
    entries = [message.context.feature for message in messages]
    context = {
        key: _batched(key, feature, entries, labels, single=False)
        for key, feature in (context_features or {}).items()
    }
    sequences, lengths = {}, {}
    for key, feature in (sequence_features or {}).items():
        lists = [message.feature_lists.feature_list for message in messages]
        rows = [_sequence(key, feature, *pair).array for pair in zip(lists, labels)]
        sequences[key] = _together(rows)
        if not isinstance(feature, VarLenFeature):
            lengths[key] = Tensor(np.array([len(row) for row in rows], np.int64))
    return context, sequences, lengths


def _together(rows):
    """Stack arrays of equal rank to one tensor, padded at the end of each axis."""
    longest = [max(sizes) for sizes in zip(*(row.shape for row in rows))]
    out = np.full((len(rows), *longest), b"" if rows[0].dtype.kind == "O" else 0, rows[0].dtype)
    for number, row in enumerate(rows):
        out[(number, *map(slice, row.shape))] = row
    return Tensor(out)


# ---- messages ------------------------------------------------------------------------------------


def _texts(serialized, function):
    array = array_in(serialized, f"{function}: serialized")
    if isinstance(serialized, bytes):
        array = np.empty((), object)
        array[()] = serialized
    if array.dtype.kind != "O":
        raise DTypeError(f"{function}: serialized: expected strings, got {array.dtype}.")
    return array


def _labels(names, count):
    if names is None:
        return [f"example {number}" for number in range(count)]
    return [repr(each) for each in array_in(names, "example_names").reshape(-1).tolist()]


def _message(kind, text, label):
    try:
        return kind.FromString(text)
    except DamagedFileError as error:
        raise DamagedFileError(f"{label}: not a tf.train.{kind.__name__}: {error}") from None


def _values(feature, key, dtype, label):
    """Return the values of a Feature as an array, which is empty if there are none."""
    name = _LISTS.get(dtype.name)
    if name is None:
        raise DTypeError(f"{key}: dtype: expected int64, float32 or string, got {dtype}.")
    found = None if feature is None else feature.WhichOneof()
    if found is not None and found != name:
        raise InvalidArgumentError(f"{label}: {key}: expected a {name} for {dtype}, got a {found}.")
    values = [] if found is None else getattr(feature, name).value
    array = np.empty(len(values), dtype.np)
    array[:] = values
    return array


_FEATURES = (FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, RaggedFeature)

# ---- tensors -------------------------------------------------------------------------------------


def _batched(key, feature, entries, labels, single):
    """Return one feature of all examples as a tensor, or of the only one if `single`."""
    dtype = dtypes.as_dtype(getattr(feature, "dtype", None) or "string")
    if not isinstance(feature, _FEATURES):
        raise DTypeError(
            f"{key}: expected FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or "
            f"RaggedFeature, got {type(feature).__name__}."
        )
    key = getattr(feature, "value_key", None) or key
    rows = [_values(entry.get(key), key, dtype, label) for entry, label in zip(entries, labels)]
    if isinstance(feature, VarLenFeature):
        return _sparse(rows, dtype, single)
    if isinstance(feature, RaggedFeature):
        return _ragged(key, feature, rows, dtype, single)
    if isinstance(feature, FixedLenFeature):
        shape = _shape(feature.shape)
        rows = [_fixed(row, key, feature, shape, dtype, label) for row, label in zip(rows, labels)]
        array = np.stack(rows) if rows else np.empty((0, *shape), dtype.np)
    else:
        array = _padded(key, feature, rows, dtype, labels)
    return Tensor(np.ascontiguousarray(array[0]) if single and array.ndim > 1 else
                  np.asarray(array[0], array.dtype) if single else array)  # fmt: skip


def _sparse(rows, dtype, single=False):
    """Return rows of any length as a sparse tensor, which has one axis if there is a single row."""
    counts = [len(row) for row in rows]
    columns = np.concatenate([[], *map(np.arange, counts)])
    parts = [np.repeat(np.arange(len(rows)), counts), columns]
    shape = (len(rows), max(counts, default=0))
    values = np.concatenate([np.empty(0, dtype.np), *rows])
    indices = np.stack(parts[single:], axis=1).astype(np.int64)
    return SparseTensor(Tensor(indices), Tensor(values), shape[single:])


def _ragged(key, feature, rows, dtype, single):
    if len(feature.partitions):
        raise InvalidArgumentError(
            f"{key}: RaggedFeature: partitions: expected (), got {feature.partitions!r}. Parse the "
            "row lengths as a separate feature, for tf.RaggedTensor.from_row_lengths."
        )
    values = np.concatenate([np.empty(0, dtype.np), *rows])
    return Tensor(values) if single else RaggedTensor.from_row_lengths(
        Tensor(values), [len(row) for row in rows])  # fmt: skip


def _shape(shape):
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    return tuple(int(n) for n in shape)


def _fixed(row, key, feature, shape, dtype, label):
    size = int(np.prod(shape, dtype=np.int64))
    if not len(row):
        if feature.default_value is None and size:
            raise InvalidArgumentError(
                f"{label}: {key} is required but missing. Pass a default_value to FixedLenFeature."
            )
        default = array_in([] if feature.default_value is None else feature.default_value, key)
        return (
            np.broadcast_to(default.astype(dtype.np), shape) if size else np.empty(shape, dtype.np)
        )
    if len(row) != size:
        raise InvalidArgumentError(
            f"{label}: {key}: expected {size} values for shape {shape}, got {len(row)}."
        )
    return row.reshape(shape)


def _padded(key, feature, rows, dtype, labels):
    """Return rows of any length as one array, padded at their ends."""
    shape, default = (), None
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise InvalidArgumentError(
                f"{key}: FixedLenSequenceFeature needs allow_missing=True in parse_example."
            )
        shape, default = _shape(feature.shape), feature.default_value
    size = int(np.prod(shape, dtype=np.int64))
    for row, label in zip(rows, labels):
        if len(row) % size:
            raise InvalidArgumentError(
                f"{label}: {key}: expected a multiple of {size} values, got {len(row)}."
            )
    if default is None:
        default = b"" if dtype.np.kind == "O" else 0
    longest = max((len(row) // size for row in rows), default=0)
    out = np.full((len(rows), longest, *shape), default, dtype.np)
    for number, row in enumerate(rows):
        out[number, : len(row) // size] = row.reshape(-1, *shape)
    return out


def _sequence(key, feature, lists, label):
    """Return the tensor of one FeatureList, one row per step."""
    dtype = dtypes.as_dtype(feature.dtype)
    steps = lists[key].feature if key in lists else None
    if steps is None and not getattr(feature, "allow_missing", True):
        raise InvalidArgumentError(
            f"{label}: the list {key} is required but missing. Pass allow_missing=True."
        )
    rows = [_values(step, key, dtype, f"{label}, step {i}") for i, step in enumerate(steps or [])]
    if isinstance(feature, VarLenFeature):
        return _sparse(rows, dtype)
    shape = _shape(feature.shape)
    rows = [_fixed(row, key, feature, shape, dtype, label) for row in rows]
    return Tensor(np.stack(rows) if rows else np.empty((0, *shape), dtype.np))
