"""Pairs of words for training word embeddings: `keras.preprocessing.sequence.skipgrams`."""

import random
from typing import Any

import numpy as np


def make_sampling_table(size: int, sampling_factor: float = 1e-05) -> np.ndarray:
    """Return the probability with which to keep the word of each frequency rank.

    Ranks are those of words with Zipf's distribution: rank 1 is the most frequent word.

    Args:
        size: the number of words.
        sampling_factor: the frequency above which words are left out at random.

    Mikolov et al., Distributed Representations of Words and Phrases, 2013: min(1, sqrt(f / p)) for
    the frequency p, estimated as 1 / (rank (log(rank) + gamma) + 1/2 - 1 / (12 rank)).

    >>> make_sampling_table(3).round(4).tolist()
    [0.0032, 0.0032, 0.0055]
    """
    rank = np.arange(size)
    rank[0] = 1  # index 0 stands for padding; it gets rank 1 to avoid log(0)
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * inverse
    return np.minimum(1.0, f / np.sqrt(f))


def skipgrams(
    sequence: Any, vocabulary_size: int, window_size: int = 4, negative_samples: float = 1.0,
    shuffle: bool = True, categorical: bool = False, sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list, list]:  # fmt: skip
    """Return pairs (word, word in its neighborhood) with label 1, and random pairs with label 0.

    Args:
        sequence: the indices of words; 0 is not a word and gives no pairs.
        vocabulary_size: random words are from 1 to `vocabulary_size` - 1.
        window_size: the largest distance between the words of a pair.
        negative_samples: the number of random pairs per true pair.
        shuffle: whether to shuffle the pairs.
        categorical: labels [0, 1] and [1, 0] instead of 1 and 0.
        sampling_table: the probability with which a word is used, see `make_sampling_table`.
        seed: the seed of the shuffle; drawn if None.

    Python's `random` draws the numbers, as in Keras.

    >>> skipgrams([1, 2], 3, negative_samples=0, shuffle=False)
    ([[1, 2], [2, 1]], [1, 1])
    """
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    pairs, labels = [], []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                pairs.append([word, sequence[j]])
                labels.append(yes)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        pairs += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [no] * count
    if shuffle:
        seed = random.randint(0, 10**6) if seed is None else seed
        for items in (pairs, labels):
            random.Random(seed).shuffle(items)
    return pairs, labels
