"""IMDB: 50,000 film reviews as lists of word indices, and their sentiment (A. Maas et al.)."""

import numpy as np

from framework.datasets import word_sequences as words


def load_data(
    path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
    index_from=3, **kwargs,
):  # fmt: skip
    """Return `(x_train, y_train), (x_test, y_test)`: 25,000 reviews each, labels 1 (positive) or 0.

    A review is a list of ints, the ranks of its words by frequency plus `index_from`.

    Args:
        path: Keras's file `imdb.npz`: an absolute path, or a path in the folder of the environment
            variable FRAMEWORK_DATA, in ~/.framework/datasets or in Keras's cache ~/.keras/datasets
            ($KERAS_HOME/datasets if set). A missing file is
            downloaded to Keras's cache.
        num_words: words from this number on become `oov_char`; None for all.
        skip_top: words below this number become `oov_char`.
        maxlen: leave out reviews of this length or longer.
        seed: the seed of the shuffling; equal seeds give the same order as in Keras.
        start_char: the number put before each review; None for none.
        oov_char: the number that replaces words that are not kept; None to drop these words.
        index_from: the number added to the rank of each word.

    Raises:
        LoadError: the file does not have the expected contents. Nothing is unpickled.
        OSError: the file cannot be downloaded.
    """
    if kwargs:
        raise TypeError(f"load_data() has no arguments {sorted(kwargs)}.")
    file = words.found_or_downloaded(
        path, "imdb.npz", "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
    )
    found = words.arrays(file, ["x_train", "y_train", "x_test", "y_test"])
    rng = np.random.RandomState(seed)
    parts = []
    for pair in (found[:2], found[2:]):
        texts, labels = words.shuffled(*pair, rng)
        marked = words.marked(texts, start_char, index_from)
        parts.append(words.shorter(marked, labels, maxlen))
    first = len(parts[0][0])
    kept = words.limited(parts[0][0] + parts[1][0], num_words, skip_top, oov_char)
    x_train, x_test = words.as_objects(kept[:first]), words.as_objects(kept[first:])
    return (x_train, parts[0][1]), (x_test, parts[1][1])


def get_word_index(path="imdb_word_index.json"):
    """Return a dict from words to their ranks; `load_data` adds `index_from` to these.

    Args:
        path: Keras's file, searched for and downloaded as that of `load_data`.
    """
    return words.word_index(path, "imdb_word_index.json", "bfafd718b763782e994055a2d397834f")
