"""The base of multi-head attention layers: projections, masks and attention."""

import functools
import string
from typing import Annotated, Any

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.internal_state import builtin
from framework.core.promotion import promote
from framework.core.symbolic import KerasTensor
from framework.layers.activation import Softmax
from framework.layers.base import Layer
from framework.layers.core import Dropout, positive
from framework.layers.einsum_dense import EinsumDense
from framework.ops.attention import attention, band_mask, causal_mask
from framework.ops.einsum import einsum
from framework.ops.elementwise import logical_and, multiply
from framework.ops.movement import expand_axes


def _positive_or_none(value):
    return value if value is None else positive(value)


PositiveOrNone = Annotated[int | None, Resolved("a positive integer or None", _positive_or_none)]


class MultiHeadBase(Layer, makes_masks=False):
    """The base class of multi-head attention layers: masks, scores, choice of the algorithm."""

    supports_masking = True
    num_heads = key_dim = None  # MultiHeadAttention declares `num_heads` and `key_dim` as fields

    def __post_init__(self):
        if self.flash_attention and self.dropout > 0:
            raise InvalidArgumentError(
                f"{type(self).__name__}: dropout={self.dropout} is not supported with "
                "flash_attention; set dropout=0 or flash_attention=False."
            )

    def _inner_activity(self):
        return self.activity_regularizer

    def call(
        self, query: TensorLike, value: TensorLike, key: TensorLike = None, query_mask: Any = None,
        value_mask: Any = None, key_mask: Any = None, attention_mask: Any = None,
        return_attention_scores: bool = False, training: Any = None, use_causal_mask: bool = False,
    ) -> Any:  # fmt: skip
        key = value if key is None else key
        query_mask = builtin(self)._take_masks(self, query, value, key, query_mask)
        masks = {"query_mask": query_mask, "value_mask": value_mask, "key_mask": key_mask}
        overridden = type(self)._compute_attention is not builtin(self)._compute_attention
        only_causal = use_causal_mask and self.sliding_window is None and not overridden
        if not only_causal or any(m is not None for m in (*masks.values(), attention_mask)):
            only_causal = False
            attention_mask = self._compute_attention_mask(
                query, value, **masks, attention_mask=attention_mask,
                use_causal_mask=use_causal_mask,
            )  # fmt: skip
        gate = self._gate_dense(query) if self.use_gate else None
        query, key, value = self._query_dense(query), self._key_dense(key), self._value_dense(value)
        key, value = (builtin(self)._repeated(self, x) for x in (key, value))
        outputs, scores = self._compute_attention(
            query, key, value, attention_mask, training, return_attention_scores,
            **({"use_causal_mask": True} if only_causal else {}),
        )  # fmt: skip
        outputs = self._output_dense(outputs if gate is None else multiply(outputs, gate))
        return (outputs, scores) if return_attention_scores else outputs

    def _take_masks(self, query, value, key, query_mask):
        return query_mask

    def _repeated(self, x):
        return x

    def _compute_attention_mask(
        self, query, value, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
        use_causal_mask=False,
    ):  # fmt: skip
        """Return all masks combined, broadcastable to (batch, queries, keys), or None."""
        masks = [None if attention_mask is None else _boolean(attention_mask)]
        if query_mask is not None:
            masks.append(expand_axes(_boolean(query_mask), (query_mask.ndim,)))
        masks += [
            expand_axes(_boolean(m), (m.ndim - 1,)) for m in (value_mask, key_mask) if m is not None
        ]
        sizes = query.shape[1], value.shape[1]
        if use_causal_mask:
            masks.append(causal_mask(*sizes))
        if self.sliding_window is not None:
            masks.append(band_mask(*sizes, self.sliding_window))
        masks = [m for m in masks if m is not None]
        return functools.reduce(logical_and, masks) if masks else None

    def _compute_attention(
        self, query, key, value, attention_mask=None, training=None, return_attention_scores=False,
        use_causal_mask=False,
    ):  # fmt: skip
        """Return the outputs of the heads, and the scores or None."""
        if self.flash_attention and return_attention_scores:
            raise InvalidArgumentError(
                f"{type(self).__name__} layer {self.name!r}: return_attention_scores=True is not "
                "supported with flash_attention, which computes no scores."
            )
        mask = attention_mask
        # For a fully masked row the op `attention` returns the mean of the values, and
        # `_attend_by_scores` returns 0. As in Keras, a layer with dropout uses the latter if
        # there is a mask.
        use_op = self.dropout == 0 or (mask is None and not training)
        if use_op and not return_attention_scores and len(query.shape) == 4:
            if mask is not None:
                mask = _with_heads(mask, 4, 1)
            if not query.dtype is key.dtype is value.dtype:
                query, key, value = promote(query, key, value)
            outputs = attention(
                query, key, value, None, mask, scale=self._framework.scale, causal=use_causal_mask
            )
            return outputs, None
        if use_causal_mask:
            attention_mask = causal_mask(query.shape[1], key.shape[1])
        return _attend_by_scores(self, query, key, value, attention_mask, training)

    def compute_output_spec(
        self, query: TensorLike, value: TensorLike, key: TensorLike = None, query_mask: Any = None,
        value_mask: Any = None, key_mask: Any = None, attention_mask: Any = None,
        return_attention_scores: bool = False, training: Any = None, use_causal_mask: bool = False,
    ):  # fmt: skip
        shapes = [None if x is None else tuple(x.shape) for x in (query, value, key)]
        outputs = KerasTensor(self.compute_output_shape(*shapes), self.compute_dtype)
        if not return_attention_scores:
            return outputs
        return outputs, KerasTensor(
            builtin(self)._scores_shape(self, *shapes[:2]), self.compute_dtype
        )


def projection(layer, equation, output_shape, bias_axes, name, activation=None):
    """Return an EinsumDense with the initializers, regularizers and constraints of `layer`."""
    made = EinsumDense(
        equation, output_shape, activation=activation, name=name,
        bias_axes=bias_axes if layer.use_bias else None,
        kernel_initializer=_cloned(layer.kernel_initializer),
        bias_initializer=_cloned(layer.bias_initializer),
        kernel_regularizer=layer.kernel_regularizer, bias_regularizer=layer.bias_regularizer,
        kernel_constraint=layer.kernel_constraint, bias_constraint=layer.bias_constraint,
        activity_regularizer=builtin(layer)._inner_activity(layer), dtype=layer.dtype_policy,
    )  # fmt: skip
    # prevents the warning that the mask is lost: the attention layer applies masks itself
    made.supports_masking = True
    return made


def make_weighting(layer, axes):
    """Create the softmax and dropout layers, which turn scores into weights along `axes`."""
    layer._softmax = Softmax(axis=axes, dtype=layer.dtype_policy)
    layer._dropout_layer = Dropout(layer.dropout, dtype=layer.dtype_policy, seed=layer.seed)


def _attend_by_scores(layer, query, key, value, mask, training):
    to_scores, to_outputs, axes = _equations(layer, len(query.shape))
    scores = einsum(to_scores, key, query * layer._framework.scale)
    if mask is not None:
        mask = _with_heads(mask, len(scores.shape), axes)
    scores = layer._softmax(scores, mask=mask)
    kept = layer._dropout_layer(scores, training=training) if layer.dropout > 0 else scores
    return einsum(to_outputs, kept, value), scores


def _equations(layer, rank):
    """Return the einsum equations for scores and outputs, and the number of attended axes.

    Queries and keys are (batch, ..., heads, width). Scores are (batch, axes not attended over,
    heads, attended axes of queries, attended axes of keys).
    """
    axes = builtin(layer)._axes(layer)
    letters = letters_of(rank + len(axes))
    of_query, more = letters[:rank], iter(letters[rank:])
    of_key = "".join(next(more) if i in axes else c for i, c in enumerate(of_query))
    scores = "".join(c for i, c in enumerate(of_query[:-1]) if i not in axes)
    scores += "".join(of_query[i] for i in axes) + "".join(of_key[i] for i in axes)
    to_scores = f"{of_key},{of_query}->{scores}"
    return to_scores, f"{scores},{of_key}->{of_query}", len(axes)


def letters_of(n):
    """Return `n` letters, which name axes in einsum equations."""
    return string.ascii_letters[:n]


def _cloned(initializer):
    """Return a copy of an initializer, so that several weights are equal only if it has a seed."""
    return initializer.clone() if hasattr(initializer, "clone") else initializer


def _boolean(mask):
    return mask if mask.dtype == dtypes.bool_ else cast(mask, dtype=dtypes.bool_.np)


def _with_heads(mask, rank, axes):
    """Insert axes for the heads into `mask`, before its `axes` query axes and `axes` key axes."""
    missing = rank - len(mask.shape)
    first = len(mask.shape) - 2 * axes
    return expand_axes(mask, tuple(range(first, first + missing))) if missing else mask


def refuse_lengths(value_shape, key_shape):
    """Raise ShapeError if the numbers of values and keys differ."""
    if value_shape[1:-1] != key_shape[1:-1]:
        raise ShapeError(
            "All dimensions of `value` and `key`, except the last one, must be equal. Received: "
            f"value_shape={value_shape} and key_shape={key_shape}"
        )
