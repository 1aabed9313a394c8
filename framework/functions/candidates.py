"""Candidate sampling: samplers of classes, and losses that use a sample instead of all classes.

A sampler draws some of the wrong classes. With many classes, a loss then computes only the logits
of the true and the sampled classes, corrected by their expected counts. Bengio & Senécal 2003 and
Jean et al. 2014, arXiv:1412.2007 (sampled softmax); Mnih & Teh 2012, arXiv:1206.6426
(noise-contrastive estimation).
"""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from framework.core import dtypes, random
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, NotFoundError, ShapeError
from framework.core.operations import always, operation
from framework.core.promotion import floating
from framework.core.recorders import thread
from framework.core.tensor import Tensor
from framework.functions.contraction import matmul
from framework.functions.embedding import embedding_lookup
from framework.functions.neural import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from framework.functions.sampling import source_of
from framework.ops import elementwise, movement, reduction


class Candidates(NamedTuple):
    """The result of a sampler.

    `sampled_candidates` is int64 of shape (num_sampled,); `true_expected_count`, in the shape of
    the true classes, and `sampled_expected_count` are float32: the expected number of draws of each
    class or, if no class is drawn twice, the probability that it is drawn.
    """

    sampled_candidates: Tensor
    true_expected_count: Tensor
    sampled_expected_count: Tensor


class AccidentalHits(NamedTuple):
    """The result of `compute_accidental_hits`."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


# ---- drawing -------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _log_uniform(range_max):
    return np.diff(np.log(np.arange(1, range_max + 2))) / np.log(range_max + 1)


@functools.lru_cache(maxsize=8)
def _uniform(range_max):
    return np.full(range_max, 1 / range_max)


def _sampled(shares, true_classes, num_true, num_sampled, unique, seed, what):
    """Draw classes with the probabilities `shares`; return the Candidates."""
    classes, count = tensor(true_classes), int(num_sampled)
    if classes.ndim != 2 or classes.shape[-1] != int(num_true):
        raise ShapeError(
            f"{what}: `true_classes` must have shape (batch, num_true={num_true}), got "
            f"{classes.shape}."
        )
    if count < 1 or (unique and count > np.count_nonzero(shares)):
        raise InvalidArgumentError(
            f"{what}: Sampler's range is too small: expected num_sampled from 1"
            f"{f' to {np.count_nonzero(shares)}, the number of classes,' if unique else ','} got "
            f"{count}."
        )
    edges = np.cumsum(shares)
    edges = edges / edges[-1]
    drawn = random.draw(source_of(seed), "classes", (count + 1,), dtypes.int64, edges, bool(unique))
    ids = movement.getitem(drawn, index=(slice(0, count),))
    tries = cast(movement.getitem(drawn, index=(count,)), dtype=np.dtype(np.float64))
    table = Tensor(np.asarray(shares, np.float64))
    inside = movement.within(classes, what=f"{what}: `true_classes`", size=len(shares))
    true = _expected(movement.gather(table, inside, axis=0), tries, unique)
    return Candidates(ids, true, _expected(movement.gather(table, ids, axis=0), tries, unique))


def _expected(shares, tries, unique):
    count = shares * tries
    if unique:  # the probability of at least one hit: 1 - (1 - p)^tries
        missed = elementwise.log1p(elementwise.maximum(shares * -1.0, -1 + 1e-300))
        count = elementwise.expm1(missed * tries) * -1.0
    return cast(count, dtype=np.dtype(np.float32))


@always
def uniform_candidate_sampler(
    true_classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any,
    seed: Any = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw classes below `range_max`, each with the same probability.

    Args:
        true_classes: integers (batch, num_true).
        num_true: the number of true classes of each row.
        num_sampled: the number of classes to draw.
        unique: whether each class is drawn at most once.
        range_max: the number of classes.
        seed: an int that seeds a separate generator; None for the global generator.

    Returns:
        (sampled_candidates, true_expected_count, sampled_expected_count).

    >>> import framework as tf
    >>> drawn = tf.random.uniform_candidate_sampler([[1], [2]], 1, 3, True, 3, seed=1)
    >>> sorted(drawn.sampled_candidates.numpy().tolist())
    [0, 1, 2]
    """
    shares, what = _uniform(int(range_max)), "uniform_candidate_sampler"
    return _sampled(shares, true_classes, num_true, num_sampled, unique, seed, what)


@always
def log_uniform_candidate_sampler(
    true_classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any,
    seed: Any = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw class k with the probability log((k + 2) / (k + 1)) / log(range_max + 1).

    It suits classes that are sorted by falling frequency. The arguments are those of
    `uniform_candidate_sampler`.
    """
    shares, what = _log_uniform(int(range_max)), "log_uniform_candidate_sampler"
    return _sampled(shares, true_classes, num_true, num_sampled, unique, seed, what)


@always
def fixed_unigram_candidate_sampler(
    true_classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any,
    vocab_file: Any = "", distortion: Any = 1.0, num_reserved_ids: Any = 0, num_shards: Any = 1,
    shard: Any = 0, unigrams: Any = (), seed: Any = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw classes with the probabilities of `unigrams` or of a file.

    Args:
        true_classes, num_true, num_sampled, unique, range_max, seed: as in
            `uniform_candidate_sampler`.
        vocab_file: a CSV file whose last column is the weight of each class.
        distortion: the exponent that is applied to the weights.
        num_reserved_ids: the number of classes before the first class with a weight; they are not
            drawn.
        num_shards, shard: draw only classes k with k % num_shards = shard.
        unigrams: the weights, if there is no file.
    """
    what = "fixed_unigram_candidate_sampler"
    if bool(vocab_file) == bool(len(unigrams)):
        raise InvalidArgumentError(
            f"{what}: expected either `vocab_file` or `unigrams`, got {vocab_file!r} and "
            f"{len(unigrams)} weights."
        )
    weights = _weights_of(vocab_file, what) if vocab_file else np.asarray(unigrams, np.float64)
    weights = np.concatenate([np.zeros(int(num_reserved_ids)), weights ** float(distortion)])
    if len(weights) != int(range_max):
        raise InvalidArgumentError(
            f"{what}: range is {range_max} must be equal to weights size {len(weights)} (with "
            f"num_reserved_ids={num_reserved_ids})."
        )
    weights[np.arange(len(weights)) % int(num_shards) != int(shard)] = 0
    if not weights.sum() > 0:
        raise InvalidArgumentError(f"{what}: expected weights above 0, got none in this shard.")
    shares = weights / weights.sum()
    return _sampled(shares, true_classes, num_true, num_sampled, unique, seed, what)


def _weights_of(path, what):
    try:
        lines = Path(path).read_text("utf-8").splitlines()
        return np.array([float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()])
    except FileNotFoundError:
        raise NotFoundError(f"{what}: there is no `vocab_file` {path!r}.") from None


# {range_max: for each class, 1 + how often it was a true class in earlier calls of
# `learned_unigram_candidate_sampler`}
_seen: dict[int, np.ndarray] = {}


@always
def learned_unigram_candidate_sampler(
    true_classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any,
    seed: Any = None, name: str | None = None,
) -> Candidates:  # fmt: skip
    """Draw each class in proportion to 1 + how often it was a true class in earlier calls.

    The arguments are those of `uniform_candidate_sampler`.
    """
    what, classes = "learned_unigram_candidate_sampler", int(range_max)
    seen = _seen.setdefault(classes, np.ones(classes))
    shares = seen / seen.sum()
    drawn = _sampled(shares, true_classes, num_true, num_sampled, unique, seed, what)
    if thread.symbolic is None:
        np.add.at(seen, np.asarray(tensor(true_classes)).ravel(), 1)
    return drawn


def all_candidate_sampler(
    true_classes: Any, num_true: Any, num_sampled: Any, unique: Any, seed: Any = None,
    name: str | None = None,
) -> Candidates:  # fmt: skip
    """Return all classes from 0 to num_sampled - 1, each with an expected count of 1."""
    classes, count = tensor(true_classes), int(num_sampled)
    true = cast(classes, dtype=np.dtype(np.float32)) * 0 + 1
    return Candidates(Tensor(np.arange(count)), true, Tensor(np.ones(count, np.float32)))


@operation
def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: Any, seed: Any = None,
    name: str | None = None,
) -> AccidentalHits:  # fmt: skip
    """Find the sampled classes that are among the true classes of a row.

    Args:
        true_classes: integers (batch, num_true).
        sampled_candidates: integers (num_sampled,).
        num_true: the number of true classes of each row.
        seed: ignored.

    Returns:
        (indices, ids, weights), with one entry for each hit: its row, its position in the sample,
        and the lowest float32 number, which excludes the class when added to its logit.
    """
    true, sampled = np.asarray(tensor(true_classes)), np.asarray(tensor(sampled_candidates))
    rows, _, places = np.nonzero(true[:, :, None] == sampled)
    lowest = np.full(len(rows), np.finfo(np.float32).min)
    return AccidentalHits(Tensor(rows.astype(np.int32)), Tensor(places), Tensor(lowest))


# ---- losses --------------------------------------------------------------------------------------


def _logits(weights, biases, labels, inputs, sample, num_true, hits, subtract, what):
    """Return the logits of the true and the sampled classes, and their target probabilities."""
    inputs, labels = floating(inputs, what), tensor(labels)
    if labels.ndim != 2 or labels.shape[-1] != num_true:
        raise ShapeError(
            f"{what}: `labels` must have shape (batch, num_true={num_true}), got {labels.shape}."
        )
    ids, true_count, sampled_count = (tensor(v) for v in sample)
    labels = cast(labels, dtype=np.dtype(np.int64))
    ids = cast(ids, dtype=np.dtype(np.int64))
    every = movement.concat(movement.reshape(labels, shape=(-1,)), ids, axis=0)
    rows, shifts = embedding_lookup(weights, every), embedding_lookup(biases, every)
    split = labels.shape[0] * num_true
    batch, size = inputs.shape

    def part(x, index):
        return movement.getitem(x, index=(index,))

    true_rows = movement.reshape(part(rows, slice(0, split)), shape=(batch, num_true, size))
    products = movement.expand_axes(inputs, (1,)) * true_rows
    true = reduction.reduce_sum(products, axis=(2,), keepdims=False)
    true = true + movement.reshape(part(shifts, slice(0, split)), shape=(batch, num_true))
    sampled = matmul(inputs, part(rows, slice(split, None)), transpose_b=True)
    sampled = sampled + part(shifts, slice(split, None))
    if hits:
        same = movement.expand_axes(labels, (2,)).array == ids.array
        sampled = elementwise.select(same.any(1), sampled + np.finfo(np.float32).min, sampled)
    if subtract:
        true = true - elementwise.log(cast(true_count, dtype=inputs.dtype.np))
        sampled = sampled - elementwise.log(cast(sampled_count, dtype=inputs.dtype.np))
    targets = np.zeros((batch, num_true + ids.shape[0]), inputs.dtype.np)
    targets[:, :num_true] = 1 / num_true
    return movement.concat(true, sampled, axis=1), Tensor(targets)


def _sample_of(sampled_values, labels, num_true, num_sampled, num_classes, seed):
    if sampled_values is not None:
        return sampled_values
    return log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)


@always
def sampled_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike,
    num_sampled: Any, num_classes: Any, num_true: Any = 1, sampled_values: Any = None,
    remove_accidental_hits: bool = True, seed: Any = None, name: str = "sampled_softmax_loss",
) -> Tensor:  # fmt: skip
    """Return the softmax cross-entropy over the true and a sample of the other classes.

    It is a loss for training; evaluate with `softmax_cross_entropy_with_logits` over all classes.

    Args:
        weights: (num_classes, size), or a list of parts as `embedding_lookup` takes it.
        biases: (num_classes,).
        labels: integers (batch, num_true).
        inputs: (batch, size).
        num_sampled: the number of classes to draw for the whole batch.
        num_classes: the number of classes.
        num_true: the number of true classes of each row, each with the probability 1 / num_true.
        sampled_values: the result of a sampler; None calls `log_uniform_candidate_sampler`.
        remove_accidental_hits: leave out sampled classes that are true classes of the row.
        seed: the seed of the sampler.

    Returns:
        One loss for each row; the gradient of `weights` is IndexedSlices.

    >>> import framework as tf
    >>> weights, inputs = tf.Variable(tf.zeros([100, 4])), tf.ones([1, 4])
    >>> loss = tf.nn.sampled_softmax_loss(weights, tf.zeros([100]), [[7]], inputs, 9, 100, seed=1)
    >>> loss.shape
    TensorShape([1])
    """
    num_true = int(num_true)
    sample = _sample_of(sampled_values, labels, num_true, num_sampled, num_classes, seed)
    logits, targets = _logits(
        weights, biases, labels, inputs, sample, num_true, remove_accidental_hits, True,
        "sampled_softmax_loss",
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(targets, logits)


@always
def nce_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike,
    num_sampled: Any, num_classes: Any, num_true: Any = 1, sampled_values: Any = None,
    remove_accidental_hits: bool = False, name: str = "nce_loss",
) -> Tensor:  # fmt: skip
    """Return the loss of noise-contrastive estimation, which separates true from sampled classes.

    The arguments are those of `sampled_softmax_loss`.
    """
    num_true = int(num_true)
    sample = _sample_of(sampled_values, labels, num_true, num_sampled, num_classes, None)
    logits, targets = _logits(
        weights, biases, labels, inputs, sample, num_true, remove_accidental_hits, True, "nce_loss",
    )  # fmt: skip
    each = sigmoid_cross_entropy_with_logits(targets, logits)
    return reduction.reduce_sum(each, axis=(1,), keepdims=False)
