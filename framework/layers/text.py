"""TextVectorization: map sentences to the indices of their words."""

import string
from typing import Annotated, Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configurable import Resolved, one_of
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.layers.categorical import batches_of, whole_of
from framework.layers.lookup import LOOKUP_MODES, StringLookup, spec_of, without_paths
from framework.ops.tables import look_up

__all__ = ["TextVectorization"]

_STANDARD = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
_PUNCTUATION = string.punctuation.encode()


def _one_of_or_function(*names):
    def resolve(value):
        if value is not None and not callable(value) and value not in names:
            raise InvalidArgumentError(f"expected one of {names}, a function or None")
        return value

    return Resolved("a name, a function or None", resolve, serialize=lambda value: value)


def _widths(value):
    several = isinstance(value, (tuple, list)) and all(isinstance(n, int) for n in value)
    if value is not None and not isinstance(value, int) and not several:
        raise InvalidArgumentError("expected None, an integer, or a tuple of integers")
    return tuple(value) if several else value


class _Tokenizer:
    """The NumPy implementation of an op that splits sentences into words.

    Short sentences are padded with empty strings.
    """

    dtype = np.dtype(object)

    def __init__(self, layer, length):
        self._standardize, self._split = layer.standardize, layer.split
        self._encoding = layer.encoding
        self._length = length
        self._widths = layer.ngrams
        if isinstance(layer.ngrams, int):
            self._widths = tuple(range(1, layer.ngrams + 1))

    def __call__(self, sentences):
        words = self._rows(self._standard(sentences))
        grams = [self._grams(row) for row in words]
        length = self._length
        if length is None:
            length = max(map(len, grams), default=0)
        padded = np.full((len(grams), length), b"", object)
        for row, tokens in zip(padded, grams):
            row[: len(tokens)] = tokens[:length]
        if self._split is None and self._length is None and np.ndim(sentences) == 1:
            return padded[:, 0]
        return padded[0] if not np.ndim(sentences) else padded

    def shape(self, shape):
        if self._split is None and len(shape) > 1:
            return (*shape[:-1], self._length or shape[-1])
        if self._split is None and self._length is None:
            return shape
        return (*shape[:1], self._length)

    def _standard(self, sentences):
        standardize = self._standardize
        if callable(standardize):
            texts = np.char.decode(sentences.astype(np.bytes_), self._encoding)
            texts = np.asarray(standardize(texts))
            return tensor(texts.astype(str)).array
        function = {
            None: lambda s: s,
            "lower": lambda s: s.lower(),
            "strip_punctuation": lambda s: s.translate(None, _PUNCTUATION),
            "lower_and_strip_punctuation": lambda s: s.lower().translate(None, _PUNCTUATION),
        }[standardize]
        texts = [function(s) for s in sentences.reshape(-1).tolist()]
        result = np.empty(len(texts), object)
        result[:] = texts
        return result.reshape(sentences.shape)

    def _rows(self, sentences):
        """Return the words of each sentence, as lists of bytes."""
        if self._split is None:
            return np.atleast_2d(sentences if sentences.ndim > 1 else sentences[..., None]).tolist()
        if sentences.ndim > 1:
            if sentences.shape[-1] != 1:
                raise ShapeError(
                    "When using `TextVectorization` to tokenize strings, the input rank must be 1 "
                    f"or the last shape dimension must be 1. Received: shape {sentences.shape}."
                )
            sentences = sentences[..., 0]
        flat = sentences.reshape(-1).tolist()
        if self._split == "whitespace":
            return [s.split() for s in flat]
        if self._split == "character":
            return [[c.encode(self._encoding) for c in s.decode(self._encoding)] for s in flat]
        rows = self._split(np.array([s.decode(self._encoding) for s in flat]))
        return [
            [w if isinstance(w, bytes) else str(w).encode(self._encoding) for w in row]
            for row in rows
        ]

    def _grams(self, words):
        if self._widths is None:
            return words
        return [
            b" ".join(words[i : i + n])
            for n in self._widths
            for i in range(len(words) - n + 1)
        ]  # fmt: skip


class TextVectorization(Layer):
    """Map sentences to the indices of their words.

    A sentence is standardized, split into words, optionally joined to n-grams, and looked up: index
    0 pads short sentences, index 1 is an unknown word.

    Args:
        max_tokens: the maximum size of the vocabulary, including the empty and the unknown word.
        standardize: "lower_and_strip_punctuation", "lower", "strip_punctuation", a function of an
            array of strings, or None.
        split: "whitespace", "character", a function from an array of strings to a list of words
            per string, or None.
        ngrams: an int for n-grams of all sizes up to it, or a tuple of sizes.
        output_mode: "int", or a mode of `StringLookup`.
        output_sequence_length: the number of words per sentence, for output mode "int".
        pad_to_max_tokens: whether encodings have the length `max_tokens`.
        vocabulary: words, or the path of a file; None if `adapt` builds the vocabulary.
        idf_weights: one weight per word, for output mode "tf_idf".
        encoding: the encoding of the strings.

    >>> layer = TextVectorization(vocabulary=["cat", "sat"])
    >>> layer(["The cat sat!", "A cat."]).numpy()
    array([[1, 2, 3],
           [1, 2, 0]])
    """

    max_tokens: int | None = None
    standardize: Annotated[Any, _one_of_or_function(*_STANDARD)] = "lower_and_strip_punctuation"
    split: Annotated[Any, _one_of_or_function("whitespace", "character")] = "whitespace"
    ngrams: Annotated[Any, Resolved("None, an int or a tuple", _widths)] = None
    output_mode: Annotated[str, one_of(*LOOKUP_MODES)] = "int"
    output_sequence_length: int | None = None
    pad_to_max_tokens: bool = False
    vocabulary: object = None
    idf_weights: object = None
    sparse: bool = False
    ragged: bool = False
    encoding: str = "utf-8"

    _convert_input_args = False
    _allow_non_tensor_positional_args = True

    def __post_init__(self):
        if self.ragged:
            raise InvalidArgumentError(
                "TextVectorization: ragged=True is not supported; use ragged=False."
            )
        self._lookup_layer = StringLookup(
            max_tokens=self.max_tokens, vocabulary=self.vocabulary, idf_weights=self.idf_weights,
            pad_to_max_tokens=self.pad_to_max_tokens, mask_token="",
            output_mode=self.output_mode, encoding=self.encoding, sparse=self.sparse,
        )  # fmt: skip
        self.output_mode = self._lookup_layer.output_mode
        self.vocabulary = self._lookup_layer.vocabulary
        if self.output_mode != "int" and self.output_sequence_length is not None:
            raise InvalidArgumentError(
                "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                f"output_sequence_length={self.output_sequence_length}."
            )
        self._framework.tokens = _Tokenizer(self, self.output_sequence_length)
        self._framework.all_tokens = _Tokenizer(self, None)

    @property
    def input_dtype(self):
        """The dtype of texts."""
        return dtypes.string

    def build(self, input_shape: ShapeLike = None) -> None:
        """Do nothing, because the vocabulary may be set after `build`."""

    def call(self, inputs: TensorLike) -> Any:
        return self._lookup_layer.call(look_up(tensor(inputs), table=self._framework.tokens))

    def compute_output_spec(self, inputs: Any):
        """Return the output's shape and dtype; the last size is None without a vocabulary."""
        return spec_of(self._lookup_layer, super().compute_output_spec, inputs)

    def adapt(self, data: TensorLike, batch_size: Any = None, steps: Any = None) -> None:
        """Build the vocabulary from sentences: by descending count, then in descending order.

        Args:
            data: an array, tensor or list of sentences, or an iterable of batches.
            batch_size: ignored.
            steps: the number of batches to use; all if None.
        """
        self.reset_state()
        for batch in batches_of(whole_of(data), steps, (str, list, tuple, np.ndarray, Tensor)):
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: TensorLike) -> None:
        """Count the words of a batch; `finalize_state` builds the vocabulary."""
        self._lookup_layer.update_state(look_up(tensor(data), table=self._framework.all_tokens))

    def finalize_state(self):
        """Build the vocabulary from the counted words."""
        self._lookup_layer.finalize_state()

    def reset_state(self):
        """Discard all counts."""
        self._lookup_layer.reset_state()

    def get_vocabulary(self, include_special_tokens: bool = True):
        """Return the words in the order of their indices, optionally without the special tokens."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        """Return the number of words, including the empty and the unknown word."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Set the vocabulary, and one weight per word for output mode "tf_idf"."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        inner = self._lookup_layer.get_config()
        return {**config, **{k: inner[k] for k in ("vocabulary", "idf_weights")}}

    @classmethod
    def from_config(cls, config: Any):
        return cls(**without_paths(config))

    def save_own_variables(self, store: Any) -> None:
        """Write the IDF weights to a store, as Keras does."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store: Any) -> None:
        """Set the IDF weights that `save_own_variables` stored."""
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, dir_path: Any) -> None:
        """Write the vocabulary to a file if it is not in the config."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path: Any) -> None:
        """Read the vocabulary that `save_assets` wrote."""
        self._lookup_layer.load_assets(dir_path)
