"""IntegerLookup and StringLookup: map words of a vocabulary to indices."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configs import deserialize
from framework.core.configurable import one_of
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, UnsafeFileError
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.layers.categorical import batches_of, check_sparse, encode, whole_of
from framework.layers.hashing import SaltField, buckets
from framework.ops.ragged_tensor import RaggedTensor
from framework.ops.tables import look_up

__all__ = ["IntegerLookup", "StringLookup"]

LOOKUP_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf", "binary", "tf-idf")
_OLD_MODES = {"binary": "multi_hot", "tf-idf": "tf_idf"}


class _IndexTable:
    """The NumPy implementation of an op that maps words to indices, unknown ones by `unknown`.

    `default` is the index of all unknown words if they share one, else None.
    """

    dtype = np.dtype(np.int64)

    def __init__(self, indices, unknown, default=None):
        self._indices, self._unknown, self._default = indices, unknown, default

    def entries(self):
        """Return the table as (keys, their values, the value for other keys or None)."""
        return list(self._indices), list(self._indices.values()), self._default

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
    """The NumPy implementation of an op that maps indices to words, or to `unknown` if invalid."""

    def __init__(self, words, unknown, dtype):
        self._words = np.array([*words, unknown], dtype)
        self.dtype = np.dtype(dtype)

    def entries(self):
        """Return the table as (keys, their values, the value for other keys)."""
        *words, unknown = self._words.tolist()
        return list(range(len(words))), words, unknown

    def __call__(self, indices):
        last = len(self._words) - 1
        return self._words[np.where((indices >= 0) & (indices < last), indices, last)]

    def shape(self, shape):
        return shape


class Lookup(Layer, strings=False):
    """The base class of `IntegerLookup` and `StringLookup`."""

    _convert_input_args = False
    _allow_non_tensor_positional_args = True

    def __post_init__(self):
        self.output_mode = _OLD_MODES.get(self.output_mode, self.output_mode)
        check_sparse(self)
        _refuse_settings(self)
        self._framework.words = None  # the words of the vocabulary, without mask and OOV tokens
        self._framework.table = None  # the table that implements the lookup op, built on first call
        self._framework.idf = None
        self._framework.static = self.vocabulary is not None
        self.reset_state()
        if self._framework.static:
            self.set_vocabulary(self.vocabulary, self.idf_weights)
            if isinstance(self.vocabulary, str):
                self.vocabulary = None  # a config must not contain the path of a file

    # ---- the vocabulary ----

    def vocabulary_size(self):
        """Return the number of words, including mask and OOV tokens."""
        return _first_word(self) + len(self._framework.words or ())

    def get_vocabulary(self, include_special_tokens: bool = True):
        """Return the words in the order of their indices, with or without mask and OOV tokens."""
        special = [self.mask_token] * _first_unknown(self)
        special += [self.oov_token] * self.num_oov_indices
        return [*(special if include_special_tokens else ()), *(self._framework.words or ())]

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Set the vocabulary.

        Args:
            vocabulary: words, with or without mask and OOV tokens in front; or the path of a file
                with one word per line.
            idf_weights: one number per word, for output mode "tf_idf".
        """
        if isinstance(vocabulary, str):
            vocabulary = Path(vocabulary).read_text(encoding="utf-8").splitlines()
        tokens = np.asarray(getattr(vocabulary, "array", vocabulary), object)
        tokens = [_word(self, w) for w in tokens]
        special = self.get_vocabulary()[: _first_word(self)]
        has_special = bool(special) and tokens[: len(special)] == special
        words = tokens[len(special) :] if has_special else tokens
        _refuse_words(self, words, special)
        self._framework.words, self._framework.table = words, None
        if self.output_mode == "tf_idf" and idf_weights is not None:
            idf = np.asarray(idf_weights, dtypes.floatx())
            if idf.shape != (len(tokens),):
                raise InvalidArgumentError(
                    "`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                    f"{len(idf)}; len(vocabulary) is {len(tokens)}"
                )
            _set_idf(self, idf, 0 if has_special else _first_word(self))

    def adapt(self, data: TensorLike, steps: Any = None) -> None:
        """Build the vocabulary from data: by descending count, then in descending order of words.

        Args:
            data: an array, tensor or list of words, or an iterable of batches of words. In output
                mode "tf_idf" a row is a document.
            steps: the number of batches to use; all if None.
        """
        self.reset_state()
        data, whole = whole_of(data), (list, tuple, np.ndarray, Tensor)
        for batch in batches_of(data, steps, whole):
            words = _words_of(self, batch)
            is_column = isinstance(data, whole) and words.ndim == 1
            self.update_state(words[:, None] if is_column else words)
        self.finalize_state()

    def update_state(self, data: TensorLike) -> None:
        """Count the words of a batch; `finalize_state` builds the vocabulary."""
        if self._framework.static:
            raise InvalidArgumentError(
                f"Cannot adapt layer {self.name!r} after setting a static vocabulary via "
                "`vocabulary` argument or `set_vocabulary()` method."
            )
        rows = np.atleast_2d(_words_of(self, data))
        self._framework.counts.update(rows.reshape(-1).tolist())
        for row in rows.reshape(len(rows), -1):
            self._framework.documents.update(set(row.tolist()))
        self._framework.rows += len(rows)

    def finalize_state(self):
        """Build the vocabulary from the counted words."""
        if self._framework.static or not self._framework.counts:
            return
        ignored = {_raw(self, self.mask_token), _raw(self, self.oov_token)}
        counted = [(n, w) for w, n in self._framework.counts.items() if w not in ignored]
        words = [w for _, w in sorted(counted, reverse=True)]
        if self.max_tokens:
            words = words[: self.max_tokens - _first_word(self)]
        self._framework.words, self._framework.table = [_word(self, w) for w in words], None
        if self.output_mode == "tf_idf":
            counts = np.array([self._framework.documents[w] for w in words], dtypes.floatx())
            _set_idf(self, np.log1p(self._framework.rows / (1 + counts)), _first_word(self))
        self.reset_state()

    def reset_state(self):
        """Discard all counts."""
        own = self._framework
        own.counts, own.documents, own.rows = Counter(), Counter(), 0

    # ---- the call ----

    def call(self, inputs: TensorLike) -> Any:
        own = self._framework
        if self.output_mode != "int" and not self.pad_to_max_tokens and own.words is None:
            raise InvalidArgumentError(
                f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, you "
                "must set the layer's vocabulary before calling it. Either pass a `vocabulary` "
                "argument to the layer, or call `adapt` with some sample data."
            )
        if own.table is None:
            own.table = _new_table(self)
        if isinstance(inputs, RaggedTensor) and self.output_mode == "int":
            return inputs.with_flat_values(self.call(inputs.flat_values))
        indices = look_up(_tensor(self, inputs), table=own.table)
        if self.output_mode == "int":
            return indices
        depth = self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()
        if self.output_mode != "tf_idf":
            return encode(indices, self.output_mode, depth, np.dtype("int64"), sparse=self.sparse)
        idf = self._framework.idf
        made = encode(indices, "count", depth, idf.dtype, sparse=self.sparse) * Tensor(idf)
        if self.sparse and isinstance(made, KerasTensor):
            made.sparse = True
        return made

    @property
    def input_dtype(self):
        """The dtype of the inputs: of words, or of indices if `invert`."""
        return dtypes.string if _has_strings(self) and not self.invert else dtypes.int64

    def compute_output_spec(self, inputs: Any):
        """Return the output's shape and dtype; the last size is None without a vocabulary."""
        return spec_of(self, super().compute_output_spec, inputs)

    # ---- files ----

    def save_own_variables(self, store: Any) -> None:
        """Write the IDF weights to a store, as Keras does."""
        if self.output_mode == "tf_idf" and self._framework.idf is not None:
            store["idf_weights"] = self._framework.idf

    def load_own_variables(self, store: Any) -> None:
        """Load the IDF weights; `load_assets` loads the words."""
        if "idf_weights" in store:
            self._framework.idf = np.asarray(store["idf_weights"], dtypes.floatx())

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if config["vocabulary"] is not None:
            config["vocabulary"] = [_word(self, w) for w in np.asarray(self.vocabulary, object)]
        if config["idf_weights"] is not None:
            config["idf_weights"] = np.asarray(self.idf_weights).tolist()
        return config

    @classmethod
    def from_config(cls, config: Any):
        return cls(**without_paths(config))

    def save_assets(self, dir_path: Any) -> None:
        """Write the vocabulary to a file if it is not in the config."""
        if self.vocabulary is None:
            lines = "\n".join(str(w) for w in self.get_vocabulary())
            Path(dir_path, "vocabulary.txt").write_text(lines, encoding="utf-8")

    def load_assets(self, dir_path: Any) -> None:
        """Read the vocabulary that `save_assets` wrote."""
        if self.vocabulary is None:
            lines = Path(dir_path, "vocabulary.txt").read_text(encoding="utf-8").splitlines()
            self.set_vocabulary([_word(self, w) for w in lines])


def spec_of(lookup, infer, inputs):
    """Return the spec `infer(inputs)`, whose last size is None if there is no vocabulary."""
    own = lookup._framework
    if lookup.output_mode == "int" or lookup.pad_to_max_tokens or own.words is not None:
        return infer(inputs)
    own.words, idf = [], own.idf  # a placeholder: only the last size depends on it
    if lookup.output_mode == "tf_idf":
        _set_idf(lookup, np.zeros(0, dtypes.floatx()), _first_word(lookup))
    try:
        found = infer(inputs)
    finally:
        own.words = own.table = None
        own.idf = idf
    return KerasTensor((*found.shape[:-1], None), found.dtype)


def without_paths(config):
    """Return the constructor's arguments from a config, which must not contain a path.

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


# ---- words, tables and settings ----


def _has_strings(layer):
    return type(layer)._framework.strings


def _word(layer, value):
    """Convert a word to its type in the vocabulary: str or int."""
    if _has_strings(layer):
        return value.decode(layer.encoding) if isinstance(value, bytes) else str(value)
    return value if value is None else int(value)


def _raw(layer, value):
    """Convert a word to its type in arrays: bytes or int."""
    if _has_strings(layer):
        return value.encode(layer.encoding) if isinstance(value, str) else value
    return _word(layer, value)


def _words_of(layer, data):
    """Return data passed to `adapt` as an array of words: bytes or int64."""
    if _has_strings(layer):
        return (data if isinstance(data, Tensor) else tensor(data)).array
    return np.asarray(getattr(data, "array", data), np.int64)


def _tensor(layer, inputs):
    """Return the inputs as a tensor of words, or of indices."""
    if layer.invert:
        return cast(tensor(inputs), dtype=np.dtype(np.int64))
    words = tensor(inputs)
    if _has_strings(layer) and words.dtype != "string":
        raise DTypeError(f"StringLookup layer {layer.name!r}: expected strings, got {words.dtype}.")
    return words


def _refuse_settings(layer):
    reason = None
    if layer.max_tokens is not None and layer.max_tokens <= 1:
        reason = f"expected max_tokens > 1, got {layer.max_tokens}"
    elif layer.pad_to_max_tokens and layer.max_tokens is None:
        reason = "pad_to_max_tokens=True needs max_tokens=..."
    elif layer.num_oov_indices < 0:
        reason = f"expected num_oov_indices >= 0, got {layer.num_oov_indices}"
    elif layer.invert and layer.output_mode != "int":
        reason = f"with invert=True, expected output_mode='int', got {layer.output_mode!r}"
    elif layer.idf_weights is not None and layer.output_mode != "tf_idf":
        reason = "idf_weights need output_mode='tf_idf'"
    elif (
        layer.output_mode == "tf_idf"
        and layer.vocabulary is not None
        and not layer.idf_weights is not None
    ):
        reason = "in output_mode='tf_idf', a vocabulary needs its idf_weights"
    elif layer.salt is not None and not _hashes(layer):
        reason = f"salt needs oov_method='farmhash', got {layer.oov_method!r}"
    if reason:
        raise InvalidArgumentError(f"{type(layer).__name__}: {reason}.")


def _first_unknown(layer):
    return int(layer.mask_token is not None and layer.output_mode == "int")


def _first_word(layer):
    return _first_unknown(layer) + layer.num_oov_indices


def _refuse_words(layer, words, special):
    reason = None
    repeated = [w for w, n in Counter(words).items() if n > 1]
    if not words:
        reason = "Cannot set an empty vocabulary."
    elif repeated:
        reason = (
            "The passed vocabulary has at least one repeated term. Please uniquify your "
            f"dataset. The repeated terms are: {repeated}"
        )
    elif layer.mask_token is not None and layer.mask_token in words:
        reason = (
            "Found reserved mask token at unexpected location in `vocabulary`: either remove "
            f"all mask and OOV tokens, or have them at the start in this order: {special}."
        )
    elif layer.invert and layer.oov_token in words:
        reason = (
            "Found reserved OOV token at unexpected location in `vocabulary`: either remove "
            f"all mask and OOV tokens, or have them at the start in this order: {special}."
        )
    elif layer.max_tokens is not None and _first_word(layer) + len(words) > layer.max_tokens:
        reason = (
            "Attempted to set a vocabulary larger than the maximum vocab size. Received "
            f"vocabulary size is {_first_word(layer) + len(words)}; `max_tokens` is "
            f"{layer.max_tokens}."
        )
    if reason:
        raise InvalidArgumentError(f"{reason} (layer {layer.name!r})")


def _set_idf(layer, idf, missing):
    """Set the IDF weights: the mean for `missing` special tokens, then `idf`, then zeros to pad."""
    front = np.full(missing, idf.mean() if idf.size else 0, idf.dtype)
    padding = layer.max_tokens - missing - idf.size if layer.pad_to_max_tokens else 0
    layer._framework.idf = np.concatenate([front, idf, np.zeros(padding, idf.dtype)])


def _new_table(layer):
    if layer.invert:
        words = [_raw(layer, w) for w in layer.get_vocabulary()]
        dtype = object if _has_strings(layer) else np.int64
        return _WordTable(words, _raw(layer, layer.oov_token), dtype)
    first = _first_word(layer)
    indices = {_raw(layer, w): first + i for i, w in enumerate(layer._framework.words or ())}
    if layer.mask_token is not None:  # multi-hot and count encodings ignore the index -1
        indices[_raw(layer, layer.mask_token)] = 0 if layer.output_mode == "int" else -1
    default = _first_unknown(layer) if layer.num_oov_indices == 1 else None
    return _IndexTable(indices, partial(_unknown, layer), default)


def _unknown(layer, words):
    """Return the indices of words that are not in the vocabulary."""
    if not layer.num_oov_indices:
        raise InvalidArgumentError(
            "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values "
            f"{words.tolist()}, consider setting `num_oov_indices=1`. (layer {layer.name!r})"
        )
    if layer.num_oov_indices == 1:
        return _first_unknown(layer)
    if _hashes(layer):
        indices = buckets(words.tolist(), layer.num_oov_indices, layer.salt)
        return _first_unknown(layer) + np.array(indices, np.int64)
    return _first_unknown(layer) + words % layer.num_oov_indices


def _hashes(layer):
    """Return whether the index of an unknown word is a hash instead of a remainder."""
    return layer.oov_method == "farmhash" or _has_strings(layer)


class IntegerLookup(Lookup):
    """Map integers to their indices in a vocabulary.

    Args:
        max_tokens: the maximum size of the vocabulary, including mask and OOV tokens.
        num_oov_indices: the number of indices for unknown integers; 0: they raise an error.
        mask_token: an integer that gets index 0 and that encodings ignore.
        oov_token: with `invert`, the result for unknown indices.
        vocabulary: integers, or the path of a file; None if `adapt` builds the vocabulary.
        idf_weights: one weight per word, for output mode "tf_idf".
        invert: whether to map indices to integers instead.
        output_mode: "int", or a mode of `CategoryEncoding`; "tf_idf": counts times IDF weights.
        pad_to_max_tokens: whether encodings have the length `max_tokens`.
        oov_method: the index of an unknown integer: its remainder ("floormod") or a hash
            ("farmhash").
        salt: an int or two ints, the key of SipHash, which replaces FarmHash.

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


class StringLookup(Lookup, strings=True):
    """Map strings to their indices in a vocabulary.

    Args:
        max_tokens: the maximum size of the vocabulary, including mask and OOV tokens.
        num_oov_indices: the number of indices for unknown strings, chosen by a hash; 0: they raise
            an error.
        mask_token: a string that gets index 0 and that encodings ignore.
        oov_token: with `invert`, the result for unknown indices.
        vocabulary: strings, or the path of a file; None if `adapt` builds the vocabulary.
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
