"""Attention layers without projections: Attention and AdditiveAttention."""

from typing import Any, Literal

from framework.core import random
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.errors import InvalidArgumentError
from framework.core.promotion import promote
from framework.core.random import SeedGenerator
from framework.initializers import Seed
from framework.layers.base import Layer
from framework.ops.attention import causal_mask
from framework.ops.contraction import matmul
from framework.ops.elementwise import add, logical_and, select, tanh
from framework.ops.movement import expand_axes
from framework.ops.random import dropout
from framework.ops.reduction import reduce_sum
from framework.ops.rows import softmax

__all__ = ["AdditiveAttention", "Attention"]


class Attention(Layer, makes_masks=False):
    """The values weighted by the softmax of scores between queries and keys (Luong et al. 2015).

    Call it on `[query, value]` or `[query, value, key]`; the key defaults to the value. Values
    whose mask is False get no weight; for queries whose mask is False the output is 0.

    Args:
        use_scale: whether to multiply the scores by a trained factor.
        score_mode: "dot" for `query @ key`, "concat" for `sum(tanh(query + key))`.
        dropout: the fraction of attention weights that is dropped in training.
        seed: an int, or None.

    Call arguments: `return_attention_scores` returns `(outputs, scores)`; with `use_causal_mask` a
    query does not attend to values at later positions.

    Shapes: queries `(batch, queries, width)`, values `(batch, keys, size)` and keys
    `(batch, keys, width)` give `(batch, queries, size)`.

    >>> import numpy as np
    >>> Attention()([np.ones((1, 2, 3)), np.ones((1, 4, 3))]).shape
    TensorShape([1, 2, 3])
    """

    use_scale: bool = False
    score_mode: Literal["dot", "concat"] = "dot"
    dropout: float = 0.0
    seed: Seed = None

    supports_masking = True
    scale = None
    concat_score_weight = None

    def __post_init__(self):
        if self.dropout > 0:
            is_generator = isinstance(self.seed, SeedGenerator)
            self.seed_generator = self.seed if is_generator else SeedGenerator(self.seed)

    def build(self, input_shape: ShapeLike) -> None:
        _checked(self, input_shape, "inputs")
        if self.use_scale:
            self.scale = self.add_weight((), "ones", name="scale")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight")

    def call(
        self, inputs: TensorLike, mask: TensorLike = None, training: bool = False,
        return_attention_scores: bool = False, use_causal_mask: bool = False,
    ) -> Any:  # fmt: skip
        _checked(self, inputs, "inputs")
        query, value, *key = promote(*(_floating(self, x) for x in inputs))
        key = key[0] if key else value
        query_mask, value_mask = (None, None) if mask is None else _checked(self, mask, "mask")[:2]
        scores = self._calculate_scores(query, key)
        seen = _visible(scores, value_mask, use_causal_mask)
        outputs, weights = self._apply_scores(scores, value, seen, training)
        if query_mask is not None:
            outputs = select(expand_axes(query_mask, (query_mask.ndim,)), outputs, 0.0)
        return (outputs, weights) if return_attention_scores else outputs

    def _calculate_scores(self, query, key):
        """Return the attention scores, of shape (batch, queries, keys)."""
        if self.score_mode == "dot":
            scores = matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale._as_operand()
        pairs = _pairs(query, key)
        if self.scale is not None:
            pairs = pairs * self.scale._as_operand()
        total = reduce_sum(tanh(pairs), axis=(len(pairs.shape) - 1,), keepdims=False)
        return self.concat_score_weight._as_operand() * total

    def _apply_scores(self, scores, value, scores_mask=None, training=False):
        """Return the values weighted by the softmax of the scores, and the weights."""
        if scores_mask is not None:
            if len(scores_mask.shape) == 2:
                scores_mask = expand_axes(scores_mask, (1,))
            most = 65504.0 if scores.dtype == "float16" else 1.0e9
            scores = select(scores_mask, scores, scores - most)
        weights = softmax(scores, axis=len(scores.shape) - 1)
        if training and self.dropout > 0:
            shape, wide = tuple(weights.shape), weights.dtype == "float64"
            noise = random.draw(
                self.seed_generator, "uniform", shape, "float64" if wide else "float32"
            )
            weights = dropout(weights, noise, rate=self.dropout)
        return matmul(weights, value), weights

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        """Return the mask of the query."""
        _checked(self, inputs, "inputs")
        return None if mask is None else _checked(self, mask, "mask")[0]


def _floating(layer, x):
    return x if x.dtype.is_inexact else cast(x, dtype=layer.compute_dtype.np)


def _checked(layer, items, what):
    """Return `items` if it is a list of two or three tensors; otherwise raise an error."""
    cls = type(layer).__name__
    if not isinstance(items, list):
        raise InvalidArgumentError(
            f"{cls} layer {'must be called on' if what == 'inputs' else 'mask must be'} a "
            f"list of {what}, namely [query, value] or [query, value, key]. Received: "
            f"{what}={items} (layer {layer.name!r})."
        )
    if len(items) not in (2, 3):
        raise InvalidArgumentError(
            f"{cls} layer accepts {what} list of length 2 or 3, namely [query, value] or "
            f"[query, value, key]. Received length: {len(items)} (layer {layer.name!r})."
        )
    return items


def _pairs(query, key):
    """Return the sum of each query and each key, of shape (batch, queries, keys, width)."""
    rank = len(query.shape)
    return add(expand_axes(query, (rank - 1,)), expand_axes(key, (rank - 2,)))


def _visible(scores, value_mask, causal):
    """Return the mask of visible keys: `value_mask` and, if `causal`, a causal mask."""
    if not causal:
        return value_mask
    seen = causal_mask(scores.shape[-2], scores.shape[-1])
    return seen if value_mask is None else logical_and(expand_axes(value_mask, (1,)), seen)


class AdditiveAttention(Attention):
    """The values weighted by the softmax of `sum(scale * tanh(query + key))` (Bahdanau et al.).

    Args:
        use_scale: whether there is a trained vector `scale`, as long as a query.
        dropout: the fraction of attention weights that is dropped in training.

    Call arguments and shapes are those of `Attention`.

    >>> import numpy as np
    >>> AdditiveAttention()([np.ones((1, 2, 3)), np.ones((1, 4, 3))]).shape
    TensorShape([1, 2, 3])
    """

    use_scale: bool = True
    dropout: float = 0.0
    seed: Seed = None
    score_mode: Literal["dot"] = "dot"

    def build(self, input_shape: ShapeLike) -> None:
        _checked(self, input_shape, "inputs")
        if self.use_scale:
            width = input_shape[0][-1]
            self.scale = self.add_weight((width,), "glorot_uniform", name="scale")

    def _calculate_scores(self, query, key):
        pairs = tanh(_pairs(query, key))
        if self.scale is not None:
            pairs = pairs * self.scale._as_operand()
        return reduce_sum(pairs, axis=(len(pairs.shape) - 1,), keepdims=False)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["score_mode"]
        return config
