"""Sequences: lists of unequal length as one array, and windows of a time series as a dataset."""

import operator
from typing import Any

import numpy as np

from framework.core.argument_types import DTypeLike, TensorLike
from framework.core.dtypes import as_dtype
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.data.dataset import Dataset
from framework.data.structure import array_in


def pad_sequences(
    sequences: Any, maxlen: Any = None, dtype: DTypeLike = "int32", padding: str = "pre",
    truncating: str = "pre", value: Any = 0.0,
) -> Any:  # fmt: skip
    """Return sequences as one array, padded and truncated to the same length.

    Args:
        sequences: a list of n sequences; their elements are numbers, strings, or arrays of one
            shape.
        maxlen: the length of all sequences; by default that of the longest sequence.
        dtype: the dtype of the result; `object` or "str" for strings. A float is truncated to an
            int dtype, as in Keras.
        padding: "pre" to pad before a sequence, "post" to pad after it.
        truncating: "pre" to drop the first elements of a longer sequence, "post" the last.
        value: the value of the padding.

    Returns:
        A NumPy array of shape (n, maxlen, ...).

    Raises:
        ValueError: `sequences` is not a list of sequences, their elements differ in shape, or an
            argument is unknown.

    >>> pad_sequences([[1], [2, 3, 4]], maxlen=2)
    array([[0, 1],
           [3, 4]], dtype=int32)
    """
    for name, end in (("padding", padding), ("truncating", truncating)):
        if end not in ("pre", "post"):
            raise InvalidArgumentError(
                f"pad_sequences: {name}: expected 'pre' or 'post', got {end!r}."
            )
    rows = _rows(sequences)
    wanted = _array_dtype(dtype, value)
    longest = max(map(len, rows), default=0)
    length = longest if maxlen is None else operator.index(maxlen)
    if length < 0:
        raise InvalidArgumentError(f"pad_sequences: maxlen must be at least 0, got {maxlen}.")
    inner = next((np.shape(row)[1:] for row in rows if len(row)), ())
    # a dtype of strings needs the length of the longest string, which is not known yet
    holder = object if wanted.kind == "U" else wanted
    padded = np.full((len(rows), length, *inner), value, holder)
    for number, row in enumerate(rows):
        if not len(row) or not length:
            continue
        kept = row[-length:] if truncating == "pre" else row[:length]
        kept = np.asarray(kept, holder)
        if kept.shape[1:] != inner:
            raise ShapeError(
                f"pad_sequences: sequences[{number}]: expected elements of shape {inner}, as in "
                f"the first sequence, got {kept.shape[1:]}."
            )
        if padding == "pre":
            padded[number, length - len(kept) :] = kept
        else:
            padded[number, : len(kept)] = kept
    return padded.astype(wanted, copy=False)


def _rows(sequences):
    if not hasattr(sequences, "__len__"):
        raise InvalidArgumentError(
            f"pad_sequences: sequences must be a list of sequences, got {sequences!r}."
        )
    for number, row in enumerate(sequences):
        if not hasattr(row, "__len__") or isinstance(row, (str, bytes)):
            raise InvalidArgumentError(
                f"pad_sequences: sequences[{number}] must be a list or array, got {row!r}."
            )
    return list(sequences)


def _array_dtype(dtype, value):
    """Return NumPy's dtype for `dtype`; raise an error if `value` does not fit it."""
    if dtype in ("object", object):
        return np.dtype(object)
    if dtype in ("str", str):
        return np.dtype(str)
    named = as_dtype(dtype).np
    if isinstance(value, (str, bytes)) and named.kind != "O":
        raise DTypeError(
            f"pad_sequences: value {value!r} is a string, but the dtype is {named}. Pass "
            "dtype=object."
        )
    return named


def timeseries_dataset_from_array(
    data: TensorLike, targets: TensorLike, sequence_length: Any, sequence_stride: Any = 1,
    sampling_rate: Any = 1, batch_size: Any = 128, shuffle: bool = False, seed: Any = None,
    start_index: Any = None, end_index: Any = None, format: str = "tf",
) -> Dataset:  # fmt: skip
    """Return a dataset of windows of a time series, each with the target of its first time step.

    Args:
        data: an array of shape (time, ...), which is not copied.
        targets: targets[i] belongs to the window that starts at data[i]; None for windows alone.
        sequence_length: the number of time steps in a window.
        sequence_stride: the distance between the starts of two windows.
        sampling_rate: the distance between two time steps of a window.
        batch_size: the number of windows in a batch; None for single windows.
        shuffle: True for a new order of all windows in each epoch.
        seed: the seed of that order.
        start_index: the first index of `data` to use.
        end_index: the end of the used part of `data`, exclusive.
        format: "tf", for a Dataset.

    Returns:
        A Dataset of (windows, targets), or of windows: of shape (batch, sequence_length, ...), in
        the dtype of `data`.

    Raises:
        ValueError: an argument is out of range, as in Keras.

    >>> data = timeseries_dataset_from_array(np.arange(6), np.arange(2, 6), 2, batch_size=3)
    >>> [(x.tolist(), y.tolist()) for x, y in data]
    [([[0, 1], [1, 2], [2, 3]], [2, 3, 4]), ([[3, 4]], [5])]
    """
    name = "timeseries_dataset_from_array"
    series = array_in(data, "data")
    if format != "tf":
        raise InvalidArgumentError(
            f"{name}: format: expected 'tf', for a Dataset of this package, got {format!r}."
        )
    first, end = _range(name, len(series), start_index, end_index)
    for argument, step in (("sampling_rate", sampling_rate), ("sequence_stride", sequence_stride)):
        if not 0 < step < len(series):
            raise InvalidArgumentError(
                f"{name}: {argument}: expected 1 to {len(series) - 1}, below the length of data, "
                f"got {step}."
            )
    if sequence_length < 1:
        raise InvalidArgumentError(
            f"{name}: sequence_length must be at least 1, got {sequence_length}."
        )
    offsets = np.arange(sequence_length) * sampling_rate
    count = end - first - offsets[-1]
    labels = None
    if targets is not None:
        labels = array_in(targets, "targets")[first:end]
        count = min(count, len(labels))
    starts = np.arange(0, max(count, 0), sequence_stride)
    windows = Dataset.from_tensor_slices(starts)
    if shuffle:
        windows = windows.shuffle(max(len(starts), 1), seed=seed)
    if batch_size is not None:
        windows = windows.batch(batch_size)
    series = series[first:end]

    def take(start):
        at = start.array
        window = Tensor(series[at[..., None] + offsets])
        return window if labels is None else (window, Tensor(np.asarray(labels[at])))

    return windows.map(take)


def _range(name, length, start, end):
    """Return the first index and the end, checked; 0 and None mean all, as in Keras."""
    if start and not 0 <= start < length:
        raise InvalidArgumentError(f"{name}: start_index: expected 0 to {length - 1}, got {start}.")
    if end and not max(start or 0, 0) < end < length:
        raise InvalidArgumentError(
            f"{name}: end_index: expected {(start or 0) + 1} to {length - 1}, got {end}."
        )
    return start or 0, end or length
