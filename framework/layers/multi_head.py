"""Multi-head attention: projections, attention in each head, a projection back.

Vaswani et al. 2017, arXiv:1706.03762; grouped queries: Ainslie et al. 2023, arXiv:2305.13245.
"""

import functools
import math
import string

from framework.constraints import ConstraintField
from framework.core import dtypes
from framework.core.configurable import Resolved, serialize_value
from framework.core.doors import cast, promote
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import KerasTensor
from framework.initializers import InitializerField, Seed
from framework.layers.activation import Softmax
from framework.layers.base import Layer
from framework.layers.core import Dropout, PositiveInt
from framework.layers.einsum_dense import EinsumDense
from framework.layers.symbolic import mask_of
from framework.ops.attention import attention, band_mask, causal_mask
from framework.ops.einsum import einsum
from framework.ops.elementwise import logical_and, multiply
from framework.ops.movement import broadcast_to, expand_axes, reshape
from framework.regularizers import RegularizerField


def _positive_or_none(value):
    return value if value is None else PositiveInt.resolve(value)


PositiveOrNone = Resolved("a positive integer or None", _positive_or_none)


class Heads(Layer):
    """What the layers of several heads share: masks, scores, and the choice of how to attend."""

    supports_masking = True
    _makes_masks = False
    num_heads = key_dim = None  # MultiHeadAttention's words
    _kind = None  # the class whose way of attending a subclass may replace

    def __post_init__(self):
        if self.flash_attention and self.dropout > 0:
            raise InvalidArgumentError(
                f"{type(self).__name__}: dropout={self.dropout} is not supported with "
                "flash_attention; set one of them to 0 or False."
            )

    def _projection(self, equation, output_shape, bias_axes, name, activation=None):
        """An EinsumDense with this layer's settings."""
        layer = EinsumDense(
            equation, output_shape, activation=activation, name=name,
            bias_axes=bias_axes if self.use_bias else None,
            kernel_initializer=_cloned(self.kernel_initializer),
            bias_initializer=_cloned(self.bias_initializer),
            kernel_regularizer=self.kernel_regularizer, bias_regularizer=self.bias_regularizer,
            kernel_constraint=self.kernel_constraint, bias_constraint=self.bias_constraint,
            activity_regularizer=self._inner_activity(), dtype=self.dtype_policy,
        )  # fmt: skip
        layer.supports_masking = True  # masks are this layer's affair
        return layer

    def _inner_activity(self):
        return self.activity_regularizer

    def _make_weighting(self, axes):
        """What turns scores into weights along `axes`."""
        self._softmax = Softmax(axis=axes, dtype=self.dtype_policy)
        self._dropout_layer = Dropout(self.dropout, dtype=self.dtype_policy, seed=self.seed)

    def call(
        self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None,
        attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False,
    ):  # fmt: skip
        key = value if key is None else key
        query_mask = self._take_masks(query, value, key, query_mask)
        masks = {"query_mask": query_mask, "value_mask": value_mask, "key_mask": key_mask}
        own_way = type(self)._compute_attention is not self._kind._compute_attention
        only_causal = use_causal_mask and self.sliding_window is None and not own_way
        if not only_causal or any(m is not None for m in (*masks.values(), attention_mask)):
            only_causal = False
            attention_mask = self._compute_attention_mask(
                query, value, **masks, attention_mask=attention_mask,
                use_causal_mask=use_causal_mask,
            )  # fmt: skip
        gate = self._gate_dense(query) if self.use_gate else None
        query, key, value = self._query_dense(query), self._key_dense(key), self._value_dense(value)
        outputs, scores = self._compute_attention(
            query, self._repeated(key), self._repeated(value), attention_mask, training,
            return_attention_scores, **({"use_causal_mask": True} if only_causal else {}),
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
        """All masks as one, (batch, queries, keys) or what broadcasts to it; None without any."""
        found = [None if attention_mask is None else _boolean(attention_mask)]
        if query_mask is not None:
            found.append(expand_axes(_boolean(query_mask), (query_mask.ndim,)))
        found += [
            expand_axes(_boolean(m), (m.ndim - 1,)) for m in (value_mask, key_mask) if m is not None
        ]
        sizes = query.shape[1], value.shape[1]
        if use_causal_mask:
            found.append(causal_mask(*sizes))
        if self.sliding_window is not None:
            found.append(band_mask(*sizes, self.sliding_window))
        found = [m for m in found if m is not None]
        return functools.reduce(logical_and, found) if found else None

    def _compute_attention(
        self, query, key, value, attention_mask=None, training=None, return_attention_scores=False,
        use_causal_mask=False,
    ):  # fmt: skip
        """The heads' outputs, and their scores where these are made."""
        if self.flash_attention and return_attention_scores:
            raise InvalidArgumentError(
                f"{type(self).__name__} layer {self.name!r}: return_attention_scores=True is not "
                "supported with flash_attention, which makes no scores."
            )
        mask = attention_mask
        # by scores a row that may see nothing is 0, by the op a mean: dropout decides, as in Keras
        whole = self.dropout == 0 or (mask is None and not training)
        if whole and not return_attention_scores and len(query.shape) == 4:
            if mask is not None:
                mask = _with_heads(mask, 4, 1)
            query, key, value = promote(query, key, value)
            outputs = attention(
                query, key, value, None, mask, scale=self._scale, causal=use_causal_mask
            )
            return outputs, None
        if use_causal_mask:
            attention_mask = causal_mask(query.shape[1], key.shape[1])
        return self._attend_by_scores(query, key, value, attention_mask, training)

    def _attend_by_scores(self, query, key, value, mask, training):
        to_scores, to_outputs, axes = self._equations(len(query.shape))
        scores = einsum(to_scores, key, query * self._scale)
        if mask is not None:
            mask = _with_heads(mask, len(scores.shape), axes)
        scores = self._softmax(scores, mask=mask)
        kept = self._dropout_layer(scores, training=training) if self.dropout > 0 else scores
        return einsum(to_outputs, kept, value), scores

    def _equations(self, rank):
        """How keys and queries give scores, scores and values outputs; how many axes are attended.

        Projected they are (batch, ..., heads, width); scores are (batch, axes not attended over,
        heads, the queries' attended axes, the keys').
        """
        axes = self._axes()
        letters = _letters(rank + len(axes))
        of_query, more = letters[:rank], iter(letters[rank:])
        of_key = "".join(next(more) if i in axes else c for i, c in enumerate(of_query))
        scores = "".join(c for i, c in enumerate(of_query[:-1]) if i not in axes)
        scores += "".join(of_query[i] for i in axes) + "".join(of_key[i] for i in axes)
        to_scores = f"{of_key},{of_query}->{scores}"
        return to_scores, f"{scores},{of_key}->{of_query}", len(axes)

    def compute_output_spec(
        self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None,
        attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False,
    ):  # fmt: skip
        shapes = [None if x is None else tuple(x.shape) for x in (query, value, key)]
        outputs = KerasTensor(self.compute_output_shape(*shapes), self.compute_dtype)
        if not return_attention_scores:
            return outputs
        return outputs, KerasTensor(self._scores_shape(*shapes[:2]), self.compute_dtype)


def _letters(n):
    return string.ascii_letters[:n]


def _cloned(initializer):
    """One like it: a random one without a seed gives other numbers."""
    return initializer.clone() if hasattr(initializer, "clone") else initializer


def _boolean(mask):
    return mask if mask.dtype == dtypes.bool_ else cast(mask, dtype=dtypes.bool_.np)


def _with_heads(mask, rank, axes):
    """`mask` with axes before those of queries and keys (`axes` of each), the heads' first."""
    missing = rank - len(mask.shape)
    at = len(mask.shape) - 2 * axes
    return expand_axes(mask, tuple(range(at, at + missing))) if missing else mask


def _refuse_lengths(value_shape, key_shape):
    if value_shape[1:-1] != key_shape[1:-1]:
        raise ShapeError(
            "All dimensions of `value` and `key`, except the last one, must be equal. Received: "
            f"value_shape={value_shape} and key_shape={key_shape}"
        )


def _shape_or_none(value):
    if value is None or value == ():
        return None
    if isinstance(value, str) or not (isinstance(value, int) or hasattr(value, "__iter__")):
        raise InvalidArgumentError("expected an int, a tuple or None")
    return (value,) if isinstance(value, int) else tuple(value)


IntsOrNone = Resolved("an int, a tuple or None", _shape_or_none)


class MultiHeadAttention(Heads):
    """Attention in several heads, each with its own projections of queries, keys and values.

    Args:
        num_heads: how many.
        key_dim: width of a head's queries and keys.
        value_dim: width of its values; `key_dim` where None.
        dropout: the share of weights that is dropped in training.
        use_bias: whether the projections have one.
        output_shape: of an output, that of a query where None.
        attention_axes: the axes attended over, all but batch and features where None.
        sliding_window: how far from its own place a query sees, itself counted; None: all.
        flash_attention: accepted; scores are never kept where nobody asks for them.
        activity_regularizer: of the projections.
        use_gate: whether the heads' outputs are multiplied by the sigmoid of a projected query.
        seed: of the dropout.

    Call arguments:
        query, value, key: `(batch, ..., features)`; the key is the value where None.
        attention_mask: booleans (batch, queries, keys), True where a query may see a key.
        return_attention_scores: gives `(outputs, scores)`.
        use_causal_mask: no query sees the keys behind its own place.

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
    kernel_initializer: InitializerField = "glorot_uniform"
    bias_initializer: InitializerField = "zeros"
    kernel_regularizer: RegularizerField = None
    bias_regularizer: RegularizerField = None
    activity_regularizer: RegularizerField = None
    kernel_constraint: ConstraintField = None
    bias_constraint: ConstraintField = None
    use_gate: bool = False
    seed: Seed = None

    def __post_init__(self):
        super().__post_init__()
        self.value_dim = self.value_dim or self.key_dim
        self._scale = 1 / math.sqrt(self.key_dim)
        self._activity, self.activity_regularizer = self.activity_regularizer, None

    def _inner_activity(self):
        return self._activity

    def _take_masks(self, query, value, key, query_mask):
        """The query's mask. As in Keras it is the query's own, whatever argument was given, and
        the inputs' masks end here: their sum with the outputs has none."""
        query_mask = mask_of(query)
        for x in (query, value, key):
            if mask_of(x) is not None:
                x._keras_mask = None
        return query_mask

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        _refuse_lengths(value_shape, key_shape)
        wide, deep = (self.num_heads, self.key_dim), (self.num_heads, self.value_dim)
        self._query_dense = self._into_heads(query_shape, wide, "query")
        self._key_dense = self._into_heads(key_shape, wide, "key")
        if self.use_gate:
            self._gate_dense = self._into_heads(query_shape, deep, "gate", "sigmoid")
        self._value_dense = self._into_heads(value_shape, deep, "value")
        rank = len(query_shape)
        axes = self.attention_axes
        if axes is None:
            self.attention_axes = tuple(range(1, rank - 1))
        else:
            self.attention_axes = tuple(a if a >= 0 else a + rank for a in axes)
        self._make_weighting(tuple(range(rank, rank + len(self.attention_axes))))
        sizes = self.output_shape or (query_shape[-1],)
        free = rank - 1
        letters = _letters(free + 2 + len(sizes))
        inner, outer = letters[free : free + 2], letters[free + 2 :]
        self._output_dense = self._projection(
            f"{letters[:free]}{inner},{inner}{outer}->{letters[:free]}{outer}",
            (None,) * (free - 1) + sizes, outer, "attention_output",
        )  # fmt: skip
        self._output_dense.build((*query_shape[:-1], *deep))

    def _into_heads(self, shape, sizes, name, activation=None):
        """The projection of the last axis to `sizes`, built."""
        free = len(shape) - 1
        letters = _letters(free + 3)
        layer = self._projection(
            f"{letters[: free + 1]},{letters[free:]}->{letters[:free]}{letters[free + 1 :]}",
            (None,) * (free - 1) + sizes, letters[free + 1 :], name, activation,
        )  # fmt: skip
        layer.build(shape)
        return layer

    def _axes(self):
        return self.attention_axes

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        _refuse_lengths(value_shape, value_shape if key_shape is None else key_shape)
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

    def get_config(self):
        config = super().get_config()
        del config["flash_attention"]
        config["activity_regularizer"] = serialize_value(self._activity)
        return config


MultiHeadAttention._kind = MultiHeadAttention


class GroupedQueryAttention(Heads):
    """Attention in which several heads of queries share one head of keys and values.

    Args:
        head_dim: width of a head.
        num_query_heads: a multiple of `num_key_value_heads`.
        num_key_value_heads: heads of keys and values.

    The other arguments and those of a call are those of `MultiHeadAttention`.

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
    kernel_initializer: InitializerField = "glorot_uniform"
    bias_initializer: InitializerField = "zeros"
    kernel_regularizer: RegularizerField = None
    bias_regularizer: RegularizerField = None
    activity_regularizer: RegularizerField = None
    kernel_constraint: ConstraintField = None
    bias_constraint: ConstraintField = None
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
        self._scale = 1 / math.sqrt(self.head_dim)

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        queries = (None, self.num_query_heads, self.head_dim)
        keys = (None, self.num_key_value_heads, self.head_dim)
        self._query_dense = self._built("bqm,muh->bquh", queries, "uh", "query", query_shape)
        self._key_dense = self._built("bkm,mvh->bkvh", keys, "vh", "key", key_shape)
        if self.use_gate:
            self._gate_dense = self._built(
                "bqm,muh->bquh", queries, "uh", "gate", query_shape, "sigmoid"
            )
        self._value_dense = self._built("bkm,mvh->bkvh", keys, "vh", "value", value_shape)
        self._make_weighting(-1)
        self._output_dense = self._built(
            "bquh,uhm->bqm", (None, query_shape[-1]), "m", "attention_output", (None, *queries)
        )

    def _built(self, equation, output_shape, bias_axes, name, input_shape, activation=None):
        layer = self._projection(equation, output_shape, bias_axes, name, activation)
        layer.build(input_shape)
        return layer

    def _axes(self):
        return (1,)

    def _repeated(self, x):
        """Keys or values with each head as often as queries use it."""
        if self.num_repeats == 1:
            return x
        batch, length, heads, width = x.shape
        x = broadcast_to(
            expand_axes(x, (3,)), shape=(batch, length, heads, self.num_repeats, width)
        )
        return reshape(x, shape=(batch, length, self.num_query_heads, width))

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        if query_shape[-1] != value_shape[-1]:
            raise ShapeError(
                "The last dimension of `query_shape` and `value_shape` must be equal, but are "
                f"{query_shape[-1]}, {value_shape[-1]}. Received: query_shape={query_shape}, "
                f"value_shape={value_shape}"
            )
        _refuse_lengths(value_shape, value_shape if key_shape is None else key_shape)
        return tuple(query_shape)

    def _scores_shape(self, query_shape, value_shape):
        return query_shape[0], self.num_query_heads, query_shape[1], value_shape[1]

    def get_config(self):
        config = super().get_config()
        del config["flash_attention"]
        return config


GroupedQueryAttention._kind = GroupedQueryAttention
GroupQueryAttention = GroupedQueryAttention
