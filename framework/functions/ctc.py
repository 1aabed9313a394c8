"""Connectionist temporal classification, and the edit distance of sequences, as in TensorFlow."""

from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, ShapeError
from framework.core.operations import operation
from framework.core.promotion import floating
from framework.core.tensor import Tensor
from framework.ops import ctc as ops
from framework.ops import elementwise, movement, reduction
from framework.ops.casting import like, widened
from framework.ops.ctc_decoding import beam_search, greedy_search
from framework.ops.sparse_tensor import SparseTensor


@operation
def ctc_loss(
    labels: TensorLike, logits: TensorLike, label_length: TensorLike, logit_length: TensorLike,
    logits_time_major: bool = True, unique: Any = None, blank_index: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the CTC loss of label sequences that are not aligned with the time steps.

    Graves et al. 2006.

    Args:
        labels: integers (batch, labels); those after `label_length` are ignored.
        logits: of shape (steps, batch, classes), or (batch, steps, classes) if
            `logits_time_major` is False.
        label_length: the number of labels of each sequence, integers (batch,).
        logit_length: the number of steps of each sequence, integers (batch,).
        logits_time_major: whether the first axis of `logits` is the time.
        unique: ignored; the loss is as fast without it.
        blank_index: the class of the blank, by default 0; a negative one counts from the end.

    >>> import framework as tf
    >>> logits = tf.zeros([3, 1, 4])
    >>> tf.nn.ctc_loss([[1, 2]], logits, [2], [3]).numpy().round(4)
    array([2.5494], dtype=float32)
    """
    x, labels = floating(logits, "ctc_loss"), tensor(labels)
    if x.ndim != 3 or labels.ndim != 2:
        raise ShapeError(
            "ctc_loss: expected `logits` of rank 3 and `labels` of rank 2, got shapes "
            f"{x.shape} and {labels.shape}."
        )
    if not labels.dtype.is_integer:
        raise DTypeError(f"ctc_loss: `labels` must be integers, got {labels.dtype}.")
    if logits_time_major:
        x = movement.transpose(x, perm=(1, 0, 2))
    blank = 0 if blank_index is None else int(blank_index)
    blank = blank + x.shape[-1] if blank < 0 else blank
    loss = ops.of_logits(widened(x), labels, tensor(label_length), tensor(logit_length), blank)
    return like(loss, x)


@operation
def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the distinct labels of each row, and the position of each label among them.

    Args:
        labels: integers (batch, labels).

    Returns:
        Two arrays of the labels' shape: the distinct labels, int64, padded with 0; and positions,
        int32.

    >>> import framework as tf
    >>> labels, positions = tf.nn.ctc_unique_labels([[3, 4, 4, 3]])
    >>> labels.numpy().tolist(), positions.numpy().tolist()
    ([[3, 4, 0, 0]], [[0, 1, 1, 0]])
    """
    array = np.asarray(tensor(labels))
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise ShapeError(
            f"ctc_unique_labels: expected integers of rank 2, got {array.dtype} of shape "
            f"{array.shape}."
        )
    different, places = np.zeros(array.shape, np.int64), np.zeros(array.shape, np.int32)
    for row, values in enumerate(array):
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        different[row, : len(first)] = values[first[order]]
        places[row] = np.argsort(order)[inverse.reshape(-1)]
    return Tensor(different), Tensor(places)


# ---- decoding ------------------------------------------------------------------------------------


def _steps(inputs, what):
    """Transpose logits of shape (time, batch, classes) to (batch, time, classes)."""
    x = widened(floating(inputs, what))
    if x.ndim != 3:
        raise ShapeError(f"{what}: expected `inputs` (time, batch, classes), got {x.shape}.")
    return movement.transpose(x, perm=(1, 0, 2))


def _sparse(paths):
    """Return the rows of `paths`, each up to its first -1, as a SparseTensor."""
    kept = np.asarray(paths) >= 0
    longest = int(kept.sum(1).max(initial=0))
    values = np.asarray(paths)[kept].astype(np.int64)
    return SparseTensor(np.argwhere(kept), values, [len(kept), longest])


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True,
    blank_index: Any = None,
) -> tuple[list[SparseTensor], Tensor]:  # fmt: skip
    """Return the class with the largest logit at each step, without blanks.

    Args:
        inputs: logits (time, batch, classes).
        sequence_length: the number of steps of each sequence, integers (batch,).
        merge_repeated: whether a label that is repeated without a blank counts once.
        blank_index: the class of the blank, by default the last.

    Returns:
        ([decoded], scores): a SparseTensor of int64 labels (batch, longest), and minus the sum of
        the largest logits (batch, 1).

    >>> import framework as tf
    >>> logits = tf.one_hot([[0], [0], [2], [1]], 3)
    >>> (decoded,), scores = tf.nn.ctc_greedy_decoder(logits, [4])
    >>> tf.sparse.to_dense(decoded).numpy(), scores.numpy()
    (array([[0, 1]]), array([[-4.]], dtype=float32))
    """
    x, lengths = _steps(inputs, "ctc_greedy_decoder"), tensor(sequence_length)
    blank = x.shape[2] - 1 if blank_index is None else int(blank_index)
    blank = blank + x.shape[2] if blank < 0 else blank
    inside = np.arange(x.shape[1]) < np.asarray(lengths).reshape(-1, 1)
    best = elementwise.masked(reduction.reduce_max(x, axis=(2,), keepdims=False), inside)
    scores = elementwise.negative(reduction.reduce_sum(best, axis=(1,), keepdims=True))
    paths = greedy_search(x, lengths, blank=blank, merges=bool(merge_repeated))
    return [_sparse(paths[0])], scores


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: Any = 100, top_paths: Any = 1,
) -> tuple[list[SparseTensor], Tensor]:  # fmt: skip
    """Return the most likely label sequences, by a search that keeps `beam_width` prefixes.

    Args:
        inputs: logits (time, batch, classes); the last class is the blank.
        sequence_length: the number of steps of each sequence, integers (batch,).
        beam_width: the number of prefixes.
        top_paths: the number of sequences to return, at most `beam_width`.

    Returns:
        (decoded, log_probability): a list of SparseTensors of int64 labels (batch, longest), and
        the logarithms of their probabilities (batch, top_paths).
    """
    x, lengths = _steps(inputs, "ctc_beam_search_decoder"), tensor(sequence_length)
    paths, scores = beam_search(
        x, lengths, blank=x.shape[2] - 1, width=int(beam_width), best=int(top_paths)
    )
    return [_sparse(paths[i]) for i in range(int(top_paths))], scores


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True,
    name: str = "edit_distance",
) -> Tensor:  # fmt: skip
    """Return the number of insertions, deletions and replacements between two sequences.

    Levenshtein 1966.

    Args:
        hypothesis, truth: SparseTensors of one rank; their last axes are the sequences.
        normalize: divide by the length of the true sequence; an empty one gives inf.

    Returns:
        float32, in the shape of `truth` without the last axis.

    >>> import framework as tf
    >>> a = tf.sparse.from_dense([[1, 2, 3]])
    >>> tf.edit_distance(a, tf.sparse.from_dense([[1, 3, 0]])).numpy()
    array([0.5], dtype=float32)
    """
    for given in (hypothesis, truth):
        if not isinstance(given, SparseTensor):
            raise DTypeError(
                f"edit_distance: expected two SparseTensors, got {type(given).__name__}. Convert "
                "a dense tensor: tf.sparse.from_dense(x)."
            )
    shapes = [tuple(np.asarray(s.dense_shape).tolist()) for s in (hypothesis, truth)]
    if len(shapes[0]) != len(shapes[1]):
        raise ShapeError(
            f"edit_distance: expected equal ranks, got shapes {shapes[0]}, {shapes[1]}."
        )
    found = np.zeros([max(m, n) for m, n in zip(shapes[0][:-1], shapes[1][:-1])], np.float32)
    mine, true = _sequences(hypothesis), _sequences(truth)
    for place in np.ndindex(found.shape):
        a, b = mine.get(place, []), true.get(place, [])
        distance = _distance(a, b)
        if normalize:
            distance = distance / len(b) if b else (np.inf if a else 0.0)
        found[place] = distance
    return Tensor(found)


def _sequences(sparse):
    """Return {index without its last entry: the values of that row as a list}."""
    rows: dict[tuple[int, ...], list[Any]] = {}
    for index, value in zip(np.asarray(sparse.indices).tolist(), np.asarray(sparse.values)):
        rows.setdefault(tuple(index[:-1]), []).append(value)
    return rows


def _distance(a, b):
    """Return the edit distance of two lists: compute its table of prefix distances row by row."""
    row = np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        grown = np.minimum(row[1:] + 1, row[:-1] + np.array([x != y for y in b], int))
        # The cheapest chain of insertions is a running minimum over the cells to the left.
        steps = np.arange(len(b) + 1)
        row = np.minimum.accumulate(np.append(i, grown) - steps) + steps
    return float(row[-1])
