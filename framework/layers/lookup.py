"""IntegerLookup and StringLookup: map words of a vocabulary to indices."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from framework.core import dtypes
from framework.core.cast import cast
from framework.core.configs import deserialize
from framework.core.configurable import one_of
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, UnsafeFileError
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.layers.categorical import batches_of, encode, refuse_sparse, whole_of
from framework.layers.hashing import SaltField, buckets
from framework.ops.tables import look_up

LOOKUP_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf", "binary", "tf-idf")
_OLD_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}


class _IndexTable:
    """A table op from words to indices, by a dict, or `unknown(words)` for other words."""

    dtype = np.dtype(np.int64)

    def __init__(self, indices, unknown):
        self._indices, self._unknown = indices, unknown

    def __call__(self, words):
        distinct, inverse = np.unique(words, return_inverse=True)
        known = [self._indices.get(w) for w in distinct.tolist()]
        missing = np.array([n is None for n in known], bool)
        indices = np.array([-1 if n is None else n for n in known], np.int64)
        if missing.any():
            indices[missing] = self._unknown(distinct[missing])
        return indices[inverse.reshape(-1)].reshape(words.shape)

    def shape(self, shape):
        return shape


class _WordTable:
    """A table op from indices to words of a list, `unknown` for indices outside of it."""

    def __init__(self, words, unknown, dtype):
        self._words = np.array([*words, unknown], dtype)
        self.dtype = np.dtype(dtype)

    def __call__(self, indices):
        last = len(self._words) - 1
        return self._words[np.where((indices >= 0) & (indices < last), indices, last)]

    def shape(self, shape):
        return shape


class Lookup(Layer):
    """Base of `IntegerLookup` and `StringLookup`."""

    _convert_input_args = False
    _allow_non_tensor_positional_args = True
    _word_dtype = None

    def __post_init__(self):
        refuse_sparse(self)
        self.output_mode = _OLD_MODES.get(self.output_mode, self.output_mode)
        self._refuse_settings()
        self._words = None  # the vocabulary without mask and OOV tokens
        self._table = None  # built at the first call
        self._idf = None
        self._static = self.vocabulary is not None
        self.reset_state()
        if self._static:
            self.set_vocabulary(self.vocabulary, self.idf_weights)
            if isinstance(self.vocabulary, str):
                self.vocabulary = None  # words from a file are not in the config

    def _refuse_settings(self):
        reason = None
        if self.max_tokens is not None and self.max_tokens <= 1:
            reason = f"expected max_tokens > 1, got {self.max_tokens}"
        elif self.pad_to_max_tokens and self.max_tokens is None:
            reason = "pad_to_max_tokens=True needs max_tokens=..."
        elif self.num_oov_indices < 0:
            reason = f"expected num_oov_indices >= 0, got {self.num_oov_indices}"
        elif self.invert and self.output_mode != "int":
            reason = f"with invert=True, expected output_mode='int', got {self.output_mode!r}"
        elif self.idf_weights is not None and self.output_mode != "tf_idf":
            reason = "idf_weights need output_mode='tf_idf'"
        elif self.output_mode == "tf_idf" and self.vocabulary is not None and not self._has_idf():
            reason = "in output_mode='tf_idf', a vocabulary needs its idf_weights"
        elif self.salt is not None and not self._hashes():
            reason = f"salt needs oov_method='farmhash', got {self.oov_method!r}"
        if reason:
            raise InvalidArgumentError(f"{type(self).__name__}: {reason}.")

    def _has_idf(self):
        return self.idf_weights is not None

    # ---- the vocabulary ----

    def _first_unknown(self):
        return int(self.mask_token is not None and self.output_mode == "int")

    def _first_word(self):
        return self._first_unknown() + self.num_oov_indices

    def vocabulary_size(self):
        """Return the number of words, including mask and OOV tokens."""
        return self._first_word() + len(self._words or ())

    def get_vocabulary(self, include_special_tokens=True):
        """Return the words in the order of their indices, with or without mask and OOV tokens."""
        special = [self.mask_token] * self._first_unknown()
        special += [self.oov_token] * self.num_oov_indices
        return [*(special if include_special_tokens else ()), *(self._words or ())]

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Set the vocabulary.

        Args:
            vocabulary: words, with or without mask and OOV tokens in front; or the path of a file
                with one word per line.
            idf_weights: one number per word, for output mode "tf_idf".
        """
        if isinstance(vocabulary, str):
            vocabulary = Path(vocabulary).read_text(encoding="utf-8").splitlines()
        tokens = np.asarray(getattr(vocabulary, "array", vocabulary), object)
        tokens = [self._word(w) for w in tokens]
        special = self.get_vocabulary()[: self._first_word()]
        has_special = bool(special) and tokens[: len(special)] == special
        words = tokens[len(special) :] if has_special else tokens
        self._refuse_words(words, special)
        self._words, self._table = words, None
        if self.output_mode == "tf_idf" and idf_weights is not None:
            idf = np.asarray(idf_weights, dtypes.floatx())
            if idf.shape != (len(tokens),):
                raise InvalidArgumentError(
                    "`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                    f"{len(idf)}; len(vocabulary) is {len(tokens)}"
                )
            self._set_idf(idf, 0 if has_special else self._first_word())

    def _refuse_words(self, words, special):
        reason = None
        repeated = [w for w, n in Counter(words).items() if n > 1]
        if not words:
            reason = "Cannot set an empty vocabulary."
        elif repeated:
            reason = (
                "The passed vocabulary has at least one repeated term. Please uniquify your "
                f"dataset. The repeated terms are: {repeated}"
            )
        elif self.mask_token is not None and self.mask_token in words:
            reason = (
                "Found reserved mask token at unexpected location in `vocabulary`: either remove "
                f"all mask and OOV tokens, or have them at the start in this order: {special}."
            )
        elif self.invert and self.oov_token in words:
            reason = (
                "Found reserved OOV token at unexpected location in `vocabulary`: either remove "
                f"all mask and OOV tokens, or have them at the start in this order: {special}."
            )
        elif self.max_tokens is not None and self._first_word() + len(words) > self.max_tokens:
            reason = (
                "Attempted to set a vocabulary larger than the maximum vocab size. Received "
                f"vocabulary size is {self._first_word() + len(words)}; `max_tokens` is "
                f"{self.max_tokens}."
            )
        if reason:
            raise InvalidArgumentError(f"{reason} (layer {self.name!r})")

    def _set_idf(self, idf, missing):
        """Set the IDF weights: the mean for `missing` special tokens, zeros for padding."""
        front = np.full(missing, idf.mean() if idf.size else 0, idf.dtype)
        padding = self.max_tokens - missing - idf.size if self.pad_to_max_tokens else 0
        self._idf = np.concatenate([front, idf, np.zeros(padding, idf.dtype)])

    # ---- adapting ----

    def adapt(self, data, steps=None):
        """Build the vocabulary from data: frequent words first, equal counts in reverse order.

        Args:
            data: an array, tensor or list of words, or an iterable of batches of words. In output
                mode "tf_idf" a row is a document.
            steps: the number of batches to use; all if None.
        """
        self.reset_state()
        data, whole = whole_of(data), (list, tuple, np.ndarray, Tensor)
        for batch in batches_of(data, steps, whole):
            words = self._words_of(batch)
            is_column = isinstance(data, whole) and words.ndim == 1
            self.update_state(words[:, None] if is_column else words)
        self.finalize_state()

    def update_state(self, data):
        """Count the words of a batch; `finalize_state` builds the vocabulary."""
        if self._static:
            raise InvalidArgumentError(
                f"Cannot adapt layer {self.name!r} after setting a static vocabulary via "
                "`vocabulary` argument or `set_vocabulary()` method."
            )
        rows = np.atleast_2d(self._words_of(data))
        self._counts.update(rows.reshape(-1).tolist())
        for row in rows.reshape(len(rows), -1):
            self._documents.update(set(row.tolist()))
        self._rows += len(rows)

    def finalize_state(self):
        """Build the vocabulary from the counted words."""
        if self._static or not self._counts:
            return
        ignored = {self._raw(self.mask_token), self._raw(self.oov_token)}
        counted = [(n, w) for w, n in self._counts.items() if w not in ignored]
        words = [w for _, w in sorted(counted, reverse=True)]
        if self.max_tokens:
            words = words[: self.max_tokens - self._first_word()]
        self._words, self._table = [self._word(w) for w in words], None
        if self.output_mode == "tf_idf":
            counts = np.array([self._documents[w] for w in words], dtypes.floatx())
            self._set_idf(np.log1p(self._rows / (1 + counts)), self._first_word())
        self.reset_state()

    def reset_state(self):
        """Discard all counts."""
        self._counts, self._documents, self._rows = Counter(), Counter(), 0

    # ---- the call ----

    def call(self, inputs):
        if self.output_mode != "int" and not self.pad_to_max_tokens and self._words is None:
            raise InvalidArgumentError(
                f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, you "
                "must set the layer's vocabulary before calling it. Either pass a `vocabulary` "
                "argument to the layer, or call `adapt` with some sample data."
            )
        if self._table is None:
            self._table = self._new_table()
        indices = look_up(self._tensor(inputs), table=self._table)
        if self.output_mode == "int":
            return indices
        depth = self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()
        if self.output_mode != "tf_idf":
            return encode(indices, self.output_mode, depth, np.dtype(np.int64))
        return encode(indices, "count", depth, self._idf.dtype) * Tensor(self._idf)

    def _tensor(self, inputs):
        if self.invert:
            return cast(tensor(inputs), dtype=np.dtype(np.int64))
        return tensor(inputs)

    def _new_table(self):
        if self.invert:
            words = [self._raw(w) for w in self.get_vocabulary()]
            dtype = object if self._word_dtype == "string" else np.int64
            return _WordTable(words, self._raw(self.oov_token), dtype)
        first = self._first_word()
        indices = {self._raw(w): first + i for i, w in enumerate(self._words or ())}
        if self.mask_token is not None:  # 0, or -1, which encodings ignore
            indices[self._raw(self.mask_token)] = 0 if self.output_mode == "int" else -1
        return _IndexTable(indices, self._unknown)

    def _unknown(self, words):
        """Return the indices of words that are not in the vocabulary."""
        if not self.num_oov_indices:
            raise InvalidArgumentError(
                "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values "
                f"{words.tolist()}, consider setting `num_oov_indices=1`. (layer {self.name!r})"
            )
        if self.num_oov_indices == 1:
            return self._first_unknown()
        if self._hashes():
            indices = buckets(words.tolist(), self.num_oov_indices, self.salt)
            return self._first_unknown() + np.array(indices, np.int64)
        return self._first_unknown() + words % self.num_oov_indices

    def _hashes(self):
        """Return whether unknown words get indices by a hash instead of a remainder."""
        return self.oov_method == "farmhash" or self._word_dtype == "string"

    # ---- files ----

    def get_config(self):
        config = super().get_config()
        if config["vocabulary"] is not None:
            config["vocabulary"] = [self._word(w) for w in np.asarray(self.vocabulary, object)]
        if config["idf_weights"] is not None:
            config["idf_weights"] = np.asarray(self.idf_weights).tolist()
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**without_paths(config))

    def save_assets(self, dir_path):
        """Write the vocabulary to a file if it is not in the config."""
        if self.vocabulary is None:
            lines = "\n".join(str(w) for w in self.get_vocabulary())
            Path(dir_path, "vocabulary.txt").write_text(lines, encoding="utf-8")

    def load_assets(self, dir_path):
        """Read the vocabulary that `save_assets` wrote."""
        if self.vocabulary is None:
            lines = Path(dir_path, "vocabulary.txt").read_text(encoding="utf-8").splitlines()
            self.set_vocabulary([self._word(w) for w in lines], self._idf)


def without_paths(config):
    """Return the constructor's arguments in a config; a config may not make a layer read files.

    Raises:
        UnsafeFileError: the vocabulary is a path instead of a list of words.
    """
    for name in ("vocabulary", "idf_weights"):
        if isinstance(config.get(name), str):
            raise UnsafeFileError(
                f"The config of layer {config.get('name')!r} has the path {config[name]!r} as "
                f"{name}; configs must list the words themselves."
            )
    return {
        k: deserialize(v) if isinstance(v, dict) else v
        for k, v in config.items()
        if k not in ("vocabulary_size", "trainable")
    }


class IntegerLookup(Lookup):
    """Map integers to their indices in a vocabulary.

    Args:
        max_tokens: the maximum size of the vocabulary, including mask and OOV tokens.
        num_oov_indices: the number of indices for unknown integers; 0: they raise an error.
        mask_token: an integer that gets index 0 and is not encoded.
        oov_token: with `invert`, the result for unknown indices.
        vocabulary: integers, or a path; None if `adapt` builds the vocabulary.
        idf_weights: one weight per word, for output mode "tf_idf".
        invert: whether to map indices to integers instead.
        output_mode: "int", or a mode of `CategoryEncoding`; "tf_idf": counts times IDF weights.
        pad_to_max_tokens: whether encodings have the length `max_tokens`.
        oov_method: the index of an unknown integer: its remainder ("floormod") or a hash
            ("farmhash").
        salt: an int or two ints, the key of another hash.

    >>> import numpy as np
    >>> IntegerLookup(vocabulary=[12, 36])(np.array([36, 7])).numpy()
    array([2, 0])
    """

    max_tokens: int | None = None
    num_oov_indices: int = 1
    mask_token: int | None = None
    oov_token: int = -1
    vocabulary: object = None
    vocabulary_dtype: Literal["int64"] = "int64"
    idf_weights: object = None
    invert: bool = False
    output_mode: Annotated[str, one_of(*LOOKUP_MODES)] = "int"
    sparse: bool = False
    pad_to_max_tokens: bool = False
    oov_method: Literal["floormod", "farmhash"] = "floormod"
    salt: SaltField = None

    _word_dtype = "int64"

    def _word(self, value):
        return value if value is None else int(value)

    _raw = _word

    def _words_of(self, data):
        return np.asarray(getattr(data, "array", data), np.int64)


class StringLookup(Lookup):
    """Map strings to their indices in a vocabulary.

    Args:
        max_tokens: the maximum size of the vocabulary, including mask and OOV tokens.
        num_oov_indices: the number of indices for unknown strings, chosen by a hash; 0: they raise
            an error.
        mask_token: a string that gets index 0 and is not encoded.
        oov_token: with `invert`, the result for unknown indices.
        vocabulary: strings, or a path; None if `adapt` builds the vocabulary.
        encoding: the encoding of the strings.

    The other arguments are those of `IntegerLookup`.

    >>> StringLookup(vocabulary=["a", "b"])(["b", "x"]).numpy()
    array([2, 0])
    """

    max_tokens: int | None = None
    num_oov_indices: int = 1
    mask_token: str | None = None
    oov_token: str = "[UNK]"  # noqa: S105
    vocabulary: object = None
    idf_weights: object = None
    invert: bool = False
    output_mode: Annotated[str, one_of(*LOOKUP_MODES)] = "int"
    pad_to_max_tokens: bool = False
    sparse: bool = False
    encoding: str = "utf-8"
    oov_method: Literal["floormod", "farmhash"] = "floormod"
    salt: SaltField = None

    _word_dtype = "string"

    def _word(self, value):
        return value.decode(self.encoding) if isinstance(value, bytes) else str(value)

    def _raw(self, value):
        return value.encode(self.encoding) if isinstance(value, str) else value

    def _words_of(self, data):
        if not isinstance(data, Tensor):
            data = tensor(data)
        return data.array

    def _tensor(self, inputs):
        words = super()._tensor(inputs)
        if not self.invert and words.dtype != "string":
            raise DTypeError(
                f"StringLookup layer {self.name!r}: expected strings, got {words.dtype}."
            )
        return words
