"""Multi-head attention.

Vaswani et al. 2017, arXiv:1706.03762.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any

from framework.core.argument_types import ShapeLike
from framework.core.configurable import Resolved, serialize_value
from framework.core.errors import InvalidArgumentError
from framework.initializers import Seed
from framework.layers.core import PositiveInt
from framework.layers.heads import (
    MultiHeadBase,
    PositiveOrNone,
    letters_of,
    make_weighting,
    projection,
    refuse_lengths,
)
from framework.layers.symbolic_calls import mask_of
from framework.layers.weights import KernelAndBias

__all__ = ["MultiHeadAttention"]


def _shape_or_none(value):
    if value is None or value == ():
        return None
    if isinstance(value, str) or not (isinstance(value, int) or hasattr(value, "__iter__")):
        raise InvalidArgumentError("expected an int, a tuple or None")
    return (value,) if isinstance(value, int) else tuple(value)


IntsOrNone = Annotated[
    int | Sequence[int] | None, Resolved("an int, a tuple or None", _shape_or_none)
]


class MultiHeadAttention(KernelAndBias, MultiHeadBase, last=("use_gate", "seed")):
    """Attention in several heads, each with its own projections of queries, keys and values.

    Args:
        num_heads: the number of heads.
        key_dim: the width of queries and keys in a head.
        value_dim: the width of values in a head; `key_dim` if None.
        dropout: the fraction of attention weights that is dropped in training.
        use_bias: whether the projections have a bias.
        output_shape: the shape of one output vector; None for the width of the queries.
        attention_axes: the axes to attend over; None for all except batch and features.
        sliding_window: the number of positions in each direction that a query attends to, counting
            its own; None for all positions.
        flash_attention: a hint; scores are computed only for `return_attention_scores` and for
            `dropout` in training.
        activity_regularizer: a penalty on the outputs of the projections.
        use_gate: whether the heads' outputs are multiplied by the sigmoid of a projected query.
        seed: the seed of the dropout.

    Call arguments:
        query, value, key: `(batch, ..., features)`; the key is the value if None.
        attention_mask: booleans (batch, queries, keys), True where a query attends to a key.
        return_attention_scores: whether to return `(outputs, scores)`.
        use_causal_mask: whether queries ignore keys at later positions.

    >>> import numpy as np
    >>> MultiHeadAttention(num_heads=2, key_dim=3)(np.ones((1, 4, 8)), np.ones((1, 5, 8))).shape
    TensorShape([1, 4, 8])
    """

    num_heads: PositiveInt
    key_dim: PositiveInt
    value_dim: PositiveOrNone = None
    dropout: float = 0.0
    use_bias: bool = True
    output_shape: IntsOrNone = None
    attention_axes: IntsOrNone = None
    sliding_window: PositiveOrNone = None
    flash_attention: object = None
    use_gate: bool = False
    seed: Seed = None

    def __post_init__(self):
        super().__post_init__()
        self.value_dim = self.value_dim or self.key_dim
        self._framework.scale = 1 / math.sqrt(self.key_dim)
        self._framework.activity, self.activity_regularizer = self.activity_regularizer, None

    def _inner_activity(self):
        return self._framework.activity

    def _take_masks(self, query, value, key, query_mask):
        """Return the query's Keras mask, not the argument, and remove the masks of the inputs.

        As in Keras, `inputs + outputs` then has no mask.
        """
        query_mask = mask_of(query)
        for x in (query, value, key):
            if mask_of(x) is not None:
                x._keras_mask = None
        return query_mask

    def build(
        self, query_shape: ShapeLike, value_shape: ShapeLike, key_shape: ShapeLike = None,
    ) -> None:  # fmt: skip
        key_shape = value_shape if key_shape is None else key_shape
        refuse_lengths(value_shape, key_shape)
        key_sizes = (self.num_heads, self.key_dim)
        value_sizes = (self.num_heads, self.value_dim)
        self._query_dense = _into_heads(self, query_shape, key_sizes, "query")
        self._key_dense = _into_heads(self, key_shape, key_sizes, "key")
        if self.use_gate:
            self._gate_dense = _into_heads(self, query_shape, value_sizes, "gate", "sigmoid")
        self._value_dense = _into_heads(self, value_shape, value_sizes, "value")
        rank = len(query_shape)
        axes = self.attention_axes
        if axes is None:
            self.attention_axes = tuple(range(1, rank - 1))
        else:
            self.attention_axes = tuple(a if a >= 0 else a + rank for a in axes)
        make_weighting(self, tuple(range(rank, rank + len(self.attention_axes))))
        sizes = self.output_shape or (query_shape[-1],)
        free = rank - 1
        letters = letters_of(free + 2 + len(sizes))
        inner, outer = letters[free : free + 2], letters[free + 2 :]
        self._output_dense = projection(
            self, f"{letters[:free]}{inner},{inner}{outer}->{letters[:free]}{outer}",
            (None,) * (free - 1) + sizes, outer, "attention_output",
        )  # fmt: skip
        self._output_dense.build((*query_shape[:-1], *value_sizes))

    def _axes(self):
        return self.attention_axes

    def compute_output_shape(
        self, query_shape: ShapeLike, value_shape: ShapeLike, key_shape: ShapeLike = None,
    ) -> Any:  # fmt: skip
        refuse_lengths(value_shape, value_shape if key_shape is None else key_shape)
        if self.output_shape:
            return (*query_shape[:-1], *self.output_shape)
        return tuple(query_shape)

    def _scores_shape(self, query_shape, value_shape):
        axes = self.attention_axes
        kept = [n for i, n in enumerate(query_shape[:-1]) if i not in axes]
        attended = [shape[i] for shape in (query_shape, value_shape) for i in axes]
        return (*kept, self.num_heads, *attended)

    @property
    def query_dense(self):
        return self._query_dense

    @property
    def key_dense(self):
        return self._key_dense

    @property
    def value_dense(self):
        return self._value_dense

    @property
    def output_dense(self):
        return self._output_dense

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["flash_attention"]
        config["activity_regularizer"] = serialize_value(self._framework.activity)
        return config


def _into_heads(layer, shape, sizes, name, activation=None):
    """Create and build a layer that projects the last axis of its inputs to axes of `sizes`."""
    free = len(shape) - 1
    letters = letters_of(free + 3)
    made = projection(
        layer, f"{letters[: free + 1]},{letters[free:]}->{letters[:free]}{letters[free + 1 :]}",
        (None,) * (free - 1) + sizes, letters[free + 1 :], name, activation,
    )  # fmt: skip
    made.build(shape)
    return made
