"""Grouped-query attention: fewer heads of keys and values than of queries.

Ainslie et al. 2023, arXiv:2305.13245.
"""

import math
from typing import Any

from framework.core.argument_types import ShapeLike
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.initializers import Seed
from framework.layers.core import PositiveInt
from framework.layers.heads import (
    MultiHeadBase,
    PositiveOrNone,
    make_weighting,
    projection,
    refuse_lengths,
)
from framework.layers.weights import KernelAndBias
from framework.ops.movement import broadcast_to, expand_axes, reshape


class GroupedQueryAttention(KernelAndBias, MultiHeadBase, last=("use_gate", "seed")):
    """Attention in which several heads of queries share one head of keys and values.

    Args:
        head_dim: the width of a head.
        num_query_heads: the number of query heads, a multiple of `num_key_value_heads`.
        num_key_value_heads: the number of heads of keys and values.

    The other arguments and the call arguments are those of `MultiHeadAttention`.

    Shapes: queries `(batch, queries, features)`, values and keys `(batch, keys, features)` give
    `(batch, queries, features)`.

    >>> import numpy as np
    >>> layer = GroupedQueryAttention(head_dim=3, num_query_heads=4, num_key_value_heads=2)
    >>> layer(np.ones((1, 4, 8)), np.ones((1, 5, 8))).shape
    TensorShape([1, 4, 8])
    """

    head_dim: PositiveInt
    num_query_heads: PositiveInt
    num_key_value_heads: PositiveInt
    dropout: float = 0.0
    use_bias: bool = True
    sliding_window: PositiveOrNone = None
    flash_attention: object = None
    use_gate: bool = False
    seed: Seed = None

    def __post_init__(self):
        super().__post_init__()
        self.num_repeats, rest = divmod(self.num_query_heads, self.num_key_value_heads)
        if rest:
            raise InvalidArgumentError(
                "`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
                f"num_query_heads={self.num_query_heads}, "
                f"num_key_value_heads={self.num_key_value_heads}"
            )
        self._framework.scale = 1 / math.sqrt(self.head_dim)

    def build(
        self, query_shape: ShapeLike, value_shape: ShapeLike, key_shape: ShapeLike = None,
    ) -> None:  # fmt: skip
        key_shape = value_shape if key_shape is None else key_shape
        queries = (None, self.num_query_heads, self.head_dim)
        keys = (None, self.num_key_value_heads, self.head_dim)
        self._query_dense = _built(self, "bqm,muh->bquh", queries, "uh", "query", query_shape)
        self._key_dense = _built(self, "bkm,mvh->bkvh", keys, "vh", "key", key_shape)
        if self.use_gate:
            self._gate_dense = _built(
                self, "bqm,muh->bquh", queries, "uh", "gate", query_shape, "sigmoid"
            )
        self._value_dense = _built(self, "bkm,mvh->bkvh", keys, "vh", "value", value_shape)
        make_weighting(self, -1)
        self._output_dense = _built(
            self,
            "bquh,uhm->bqm",
            (None, query_shape[-1]),
            "m",
            "attention_output",
            (None, *queries),
        )

    def _axes(self):
        return (1,)

    def _repeated(self, x):
        """Return keys or values with each head repeated for every query head that shares it."""
        if self.num_repeats == 1:
            return x
        batch, length, heads, width = x.shape
        x = broadcast_to(
            expand_axes(x, (3,)), shape=(batch, length, heads, self.num_repeats, width)
        )
        return reshape(x, shape=(batch, length, self.num_query_heads, width))

    def compute_output_shape(
        self, query_shape: ShapeLike, value_shape: ShapeLike, key_shape: ShapeLike = None,
    ) -> Any:  # fmt: skip
        if query_shape[-1] != value_shape[-1]:
            raise ShapeError(
                "The last dimension of `query_shape` and `value_shape` must be equal, but are "
                f"{query_shape[-1]}, {value_shape[-1]}. Received: query_shape={query_shape}, "
                f"value_shape={value_shape}"
            )
        refuse_lengths(value_shape, value_shape if key_shape is None else key_shape)
        return tuple(query_shape)

    def _scores_shape(self, query_shape, value_shape):
        return query_shape[0], self.num_query_heads, query_shape[1], value_shape[1]

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["flash_attention"]
        return config


def _built(layer, equation, output_shape, bias_axes, name, input_shape, activation=None):
    made = projection(layer, equation, output_shape, bias_axes, name, activation)
    made.build(input_shape)
    return made
