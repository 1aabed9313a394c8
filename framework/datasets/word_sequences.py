"""Prepare the texts of IMDB and Reuters, lists of word indices, by shuffling and filtering."""

import json
from pathlib import Path

import numpy as np

from framework.core.downloads import get_file
from framework.core.errors import InvalidArgumentError, LoadError, MissingFileError
from framework.core.pickled_arrays import load_npz
from framework.datasets import archive

SOURCE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"


def found_or_downloaded(path, name, file_hash):
    """Return a local file (see `archive.find`), or download it to Keras's cache."""
    try:
        return archive.find(path, name)
    except MissingFileError:
        if Path(path).is_absolute():
            raise
        return Path(get_file(str(path), SOURCE + name, file_hash=file_hash))


def word_index(path, name, file_hash):
    """Return {word: index} of a JSON file."""
    file = found_or_downloaded(path, name, file_hash)
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise LoadError(f"{file} is no JSON file of words: {error}") from None


def arrays(file, names):
    """Return the arrays `names` of a file, where texts and their labels alternate."""
    found = load_npz(file, names)
    for texts, labels in zip(found[::2], found[1::2]):
        is_texts = texts.ndim == 1 and all(
            type(x) is list and all(type(w) is int for w in x) for x in texts
        )
        if not is_texts or labels.shape != texts.shape or labels.dtype.kind not in "iu":
            raise LoadError(f"{file}: expected texts that are lists of ints, with int labels.")
    return found


def shuffled(texts, labels, rng):
    """Shuffle texts and labels in the same order, Keras's order for the seed of `rng`."""
    order = np.arange(len(texts))
    rng.shuffle(order)
    return texts[order], labels[order]


def marked(texts, start_char, index_from):
    """Add `index_from` to each index, and put `start_char` (unless None) before each text."""
    if start_char is not None:
        return [[start_char, *[w + index_from for w in x]] for x in texts]
    if index_from:
        return [[w + index_from for w in x] for x in texts]
    return [list(x) for x in texts]


def shorter(texts, labels, maxlen):
    """Return the texts that are shorter than `maxlen`, and their labels."""
    if not maxlen:
        return texts, labels
    kept = [i for i, x in enumerate(texts) if len(x) < maxlen]
    if not kept:
        raise InvalidArgumentError(
            f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
            "Increase maxlen."
        )
    return [texts[i] for i in kept], np.asarray(labels)[kept]


def limited(texts, num_words, skip_top, oov_char):
    """Replace numbers from `num_words` on and those below `skip_top` by `oov_char`; None: drop.

    As in Keras, the largest number is also replaced if `num_words` is None.
    """
    end = num_words or max((max(x) for x in texts if x), default=0)
    if oov_char is None:
        return [[w for w in x if skip_top <= w < end] for x in texts]
    return [[w if skip_top <= w < end else oov_char for w in x] for x in texts]


def as_objects(texts):
    """Return a 1-d object array of lists."""
    array = np.empty(len(texts), object)
    array[:] = texts
    return array
