"""Tokenizer: convert words to numbers in Python code, for older Keras programs."""

import json
import math
from collections import Counter, OrderedDict, defaultdict
from hashlib import md5
from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    input_text: str, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list:
    """Return the words of a text.

    Args:
        input_text: the text.
        filters: characters that separate words, in addition to `split`.
        lower: True to convert to lower case.
        split: the string that separates words.

    >>> text_to_word_sequence("Stop! Look, and listen.")
    ['stop', 'look', 'and', 'listen']
    """
    text = input_text.lower() if lower else input_text
    text = text.translate(str.maketrans(dict.fromkeys(filters, split)))
    return [word for word in text.split(split) if word]


def one_hot(
    input_text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " ",
    analyzer: Any = None,
) -> list:  # fmt: skip
    """Return a number from 1 to n - 1 for each word, by Python's `hash`.

    The numbers differ between runs of Python; `hashing_trick` with "md5" gives the same numbers in
    each run. The arguments are those of `hashing_trick`.

    >>> numbers = one_hot("the cat the", 50)
    >>> len(numbers), numbers[0] == numbers[2]
    (3, True)
    """
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


def hashing_trick(
    text: str, n: int, hash_function: Any = None, filters: str = _FILTERS, lower: bool = True,
    split: str = " ", analyzer: Any = None,
) -> list:  # fmt: skip
    """Return a number from 1 to n - 1 for each word; words can share a number.

    Args:
        text: the text.
        n: one more than the largest number.
        hash_function: a function from words to ints, or "md5"; None for Python's `hash`, whose
            values differ between runs.
        filters, lower, split: as in `text_to_word_sequence`.
        analyzer: a function from the text to its words, used instead of the last three.

    >>> hashing_trick("the cat the", 50, "md5")
    [43, 32, 43]
    """
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        hash_function = _md5
    words = analyzer(text) if analyzer else text_to_word_sequence(text, filters, lower, split)
    return [hash_function(word) % (n - 1) + 1 for word in words]


def _md5(word):
    return int(md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Maps the words of texts to numbers: 1 is the most frequent word, 2 the next, and so on.

    For new programs, the layer `TextVectorization` does this inside a model.

    Args:
        num_words: only numbers below this one are used; None for all numbers.
        filters, lower, split: as in `text_to_word_sequence`.
        char_level: True to number characters instead of words.
        oov_token: a word whose number, 1, stands for words that are unknown or beyond `num_words`;
            by default these are left out.
        analyzer: a function from a text to its words.
        document_count: the number of texts so far.

    Example:
        >>> tokenizer = Tokenizer(oov_token="?")
        >>> tokenizer.fit_on_texts(["the cat saw the dog", "the end"])
        >>> tokenizer.texts_to_sequences(["The dog ran"])
        [[2, 5, 1]]
        >>> tokenizer.sequences_to_texts([[2, 3, 1]])
        ['the cat ?']
    """

    def __init__(
        self, num_words: Any = None, filters: str = _FILTERS, lower: bool = True,
        split: str = " ", char_level: bool = False, oov_token: Any = None, analyzer: Any = None,
        document_count: int = 0,
    ):  # fmt: skip
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.document_count = document_count
        self.word_counts: Any = OrderedDict()
        self.word_docs: Any = defaultdict(int)
        self.index_docs: Any = defaultdict(int)
        self.word_index: dict = {}
        self.index_word: dict = {}

    def fit_on_texts(self, texts: Any) -> None:
        """Count the words of texts, and number words by their frequency.

        Args:
            texts: strings, or lists of words.
        """
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in dict.fromkeys(words):
                self.word_docs[word] += 1
        ordered = sorted(self.word_counts, key=self.word_counts.__getitem__, reverse=True)
        if self.oov_token is not None:
            ordered.insert(0, self.oov_token)
        self.word_index = {}
        for number, word in enumerate(ordered, 1):
            self.word_index[word] = number
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Any) -> None:
        """Count in how many lists each number occurs, for `sequences_to_matrix`."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] += 1

    def _words(self, text):
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [word.lower() for word in text] if isinstance(text, list) else text.lower()
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def texts_to_sequences(self, texts: Any) -> list:
        """Return a list of numbers for each text."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Any) -> Any:
        """Yield a list of numbers for each text."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = (self.word_index.get(word) for word in self._words(text))
            numbers = (unknown if n is None or self._is_beyond(n) else n for n in numbers)
            yield [n for n in numbers if n is not None]

    def sequences_to_texts(self, sequences: Any) -> list:
        """Return a text for each list of numbers."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Any) -> Any:
        """Yield a text for each list of numbers."""
        for sequence in sequences:
            words = (
                self.oov_token if self._is_beyond(n) else self.index_word.get(n, self.oov_token)
                for n in sequence
            )
            yield " ".join(word for word in words if word is not None)

    def _is_beyond(self, number):
        return bool(self.num_words) and number >= self.num_words and number in self.index_word

    def texts_to_matrix(self, texts: Any, mode: str = "binary") -> Any:
        """Return a row for each text, as `sequences_to_matrix` does."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """Return a float64 array with a row for each list of numbers, a column for each number.

        Args:
            sequences: lists of numbers.
            mode: "binary" for 1 where the list contains the number, "count" for how often it
                does, "freq" for the count divided by the list's length, or "tfidf".
        """
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise InvalidArgumentError(
                f"Tokenizer: mode: expected 'binary', 'count', 'freq' or 'tfidf', got {mode!r}."
            )
        if not self.num_words and not self.word_index:
            raise InvalidArgumentError(
                "Tokenizer: sequences_to_matrix needs num_words, or a call of fit_on_texts first."
            )
        if mode == "tfidf" and not self.document_count:
            raise InvalidArgumentError(
                "Tokenizer: mode 'tfidf' needs a call of fit_on_texts or fit_on_sequences."
            )
        made = np.zeros((len(sequences), self.num_words or len(self.word_index) + 1))
        for row, sequence in zip(made, sequences):
            for number, count in Counter(sequence).items():
                if number < len(row):
                    row[number] = self._entry(mode, number, count, len(sequence))
        return made

    def _entry(self, mode, number, count, length):
        if mode == "binary":
            return 1
        if mode == "tfidf":
            texts = 1 + self.index_docs.get(number, 0)
            return (1 + math.log(count)) * math.log(1 + self.document_count / texts)
        return count / length if mode == "freq" else count

    def get_config(self) -> dict:
        """Return the arguments, counts and numbers of words as plain values."""
        plain = (
            "num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count",
        )  # fmt: skip
        tables = "word_counts", "word_docs", "index_docs", "index_word", "word_index"
        config = {name: getattr(self, name) for name in plain}
        return config | {name: json.dumps(getattr(self, name)) for name in tables}

    def to_json(self, **kwargs: Any) -> str:
        """Return the tokenizer as JSON for `tokenizer_from_json`; `**kwargs` go to `json.dumps`."""
        return json.dumps({"class_name": "Tokenizer", "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Return the tokenizer that `Tokenizer.to_json` wrote.

    >>> tokenizer = Tokenizer()
    >>> tokenizer.fit_on_texts(["one two one"])
    >>> tokenizer_from_json(tokenizer.to_json()).texts_to_sequences(["two"])
    [[2]]
    """
    config = dict(json.loads(json_string)["config"])
    names = "word_counts", "word_docs", "index_docs", "index_word", "word_index"
    tables = {name: json.loads(config.pop(name)) for name in names}
    made = Tokenizer(**config)
    made.word_counts, made.word_index = OrderedDict(tables["word_counts"]), tables["word_index"]
    made.word_docs.update(tables["word_docs"])
    made.index_docs.update({int(k): v for k, v in tables["index_docs"].items()})
    made.index_word = {int(k): v for k, v in tables["index_word"].items()}
    return made
