"""Reuters: 11,228 newswires of 1987 as lists of word indices, and their topics (46 classes)."""

import numpy as np

from framework.core.errors import InvalidArgumentError
from framework.datasets import word_sequences as words


def load_data(
    path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113,
    start_char=1, oov_char=2, index_from=3,
):  # fmt: skip
    """Return `(x_train, y_train), (x_test, y_test)`: news, and their topics from 0 to 45.

    Args:
        path: Keras's file `reuters.npz`, searched for and downloaded as that of `imdb.load_data`.
        test_split: the fraction of news in the test set.
        num_words, skip_top, maxlen, seed, start_char, oov_char, index_from: as for
            `imdb.load_data`.

    Raises:
        LoadError: the file does not have the expected contents. Nothing is unpickled.
        OSError: the file cannot be downloaded.
    """
    if not 0 <= test_split <= 1:
        raise InvalidArgumentError(f"load_data: test_split must be in [0, 1], got {test_split!r}.")
    file = words.found_or_downloaded(
        path, "reuters.npz", "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"
    )
    texts, labels = words.arrays(file, ["x", "y"])
    texts, labels = words.shuffled(texts, labels, np.random.RandomState(seed))
    texts, labels = words.shorter(words.marked(texts, start_char, index_from), labels, maxlen)
    texts = words.as_objects(words.limited(texts, num_words, skip_top, oov_char))
    first = int(len(texts) * (1 - test_split))
    return (texts[:first], labels[:first]), (texts[first:], labels[first:])


def get_word_index(path="reuters_word_index.json"):
    """Return a dict from words to their ranks; `load_data` adds `index_from` to these.

    Args:
        path: Keras's file, searched for and downloaded as that of `load_data`.
    """
    return words.word_index(path, "reuters_word_index.json", "4d44cc38712099c9e383dc6e5f11a921")


_TOPICS = """
    cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship
    cotton carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin
    strategic-metal livestock retail ipi iron-steel rubber heat jobs lei bop zinc orange pet-chem
    dlr gas silver wpi hog lead
"""


def get_label_names():
    """Return the names of the 46 topics, in the order of the labels.

    >>> get_label_names()[3:5]
    ('earn', 'acq')
    """
    return tuple(_TOPICS.split())
