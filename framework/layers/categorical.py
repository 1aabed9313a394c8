"""Discretization (numbers to bins) and CategoryEncoding (class indices to vectors)."""

from typing import Annotated, Any, Literal

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import TensorLike
from framework.core.cast import cast
from framework.core.configurable import one_of
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.core.symbolic import KerasTensor
from framework.core.tables import array_from, from_library
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.ops.movement import expand_axes, one_hot, reshape
from framework.ops.reduction import reduce_max, reduce_sum
from framework.ops.sparse_tensor import SparseTensor
from framework.ops.tables import look_up

__all__ = ["CategoryEncoding", "Discretization"]

MODES = ("int", "one_hot", "multi_hot", "count")


def encode(indices, mode, depth, dtype, weights=None, sparse=False):
    """Encode class indices as vectors of size `depth`, as a SparseTensor if `sparse`.

    "one_hot" gives one vector per index. "multi_hot" and "count" give one vector per sample, which
    marks or counts its classes. An index outside of `range(depth)` gives zeros.
    """
    if mode == "int":
        return cast(indices, dtype=dtype)
    if sparse and not isinstance(indices, KerasTensor):
        return _encode_sparse(indices, mode, depth, dtype, weights)
    made = _encode_dense(indices, mode, depth, dtype, weights)
    if sparse:
        made.sparse = True
    return made


def _encode_dense(indices, mode, depth, dtype, weights):
    if not indices.ndim:
        indices = reshape(indices, shape=(1,))
    if mode == "one_hot":
        if indices.ndim > 1 and indices.shape[-1] == 1:
            indices = reshape(indices, shape=tuple(indices.shape[:-1]))
        return one_hot(indices, depth=depth, dtype=dtype)
    vectors = one_hot(indices, depth=depth, dtype=dtype)
    axis = (1 if indices.ndim > 1 else 0,)
    if mode == "multi_hot":
        return reduce_max(vectors, axis=axis, keepdims=False)
    if weights is not None:
        vectors = vectors * expand_axes(weights, (weights.ndim,))
    return reduce_sum(vectors, axis=axis, keepdims=False)


def _encode_sparse(indices, mode, depth, dtype, weights):
    """Return the result of `encode` as a SparseTensor, without creating the dense vectors."""
    numbers = np.asarray(indices)
    numbers = numbers.reshape(1) if not numbers.ndim else numbers
    if mode == "one_hot" and numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers[..., 0]
    axis = numbers.ndim if mode == "one_hot" else min(1, numbers.ndim - 1)
    shape = (*numbers.shape[:axis], *numbers.shape[axis + 1 :], depth)
    there = (numbers >= 0) & (numbers < depth)
    places = [p for n, p in enumerate(np.nonzero(there)) if n != axis]
    found = np.ravel_multi_index((*places, numbers[there].astype(np.int64)), shape)
    distinct, inverse = np.unique(found, return_inverse=True)
    if mode == "count":
        added = None if weights is None else np.asarray(weights).reshape(numbers.shape)[there]
        values = np.bincount(inverse.reshape(-1), added, len(distinct))
    else:
        values = np.ones(len(distinct))
    indices = np.stack(np.unravel_index(distinct, shape), axis=1).astype(np.int64)
    return SparseTensor(Tensor(indices), Tensor(values.astype(dtype)), shape)


def check_sparse(layer):
    """Raise InvalidArgumentError if `sparse=True` in a mode whose outputs are indices."""
    if layer.sparse and layer.output_mode == "int":
        raise InvalidArgumentError(
            f"{type(layer).__name__}: `sparse` may only be true if `output_mode` is 'one_hot', "
            f"'multi_hot', 'count' or 'tf_idf', got output_mode={layer.output_mode!r}."
        )


class CategoryEncoding(Layer):
    """Encode class indices as vectors.

    Args:
        num_tokens: the number of classes.
        output_mode: "one_hot": one vector per index; "multi_hot": one vector per sample that marks
            its classes; "count": one vector per sample that counts them.
        sparse: return a SparseTensor.

    Shapes: "one_hot" appends an axis of size `num_tokens`, or replaces a last axis of size 1; the
    other modes replace axis 1.

    >>> import numpy as np
    >>> CategoryEncoding(4, output_mode="count")(np.array([[0, 1, 1]])).numpy()
    array([[1., 2., 0., 0.]], dtype=float32)
    """

    num_tokens: int | None = None
    output_mode: Literal["multi_hot", "one_hot", "count", "binary"] = "multi_hot"
    sparse: bool = False

    _convert_input_args = False
    _allow_non_tensor_positional_args = True

    def __post_init__(self):
        if self.output_mode == "binary":
            self.output_mode = "multi_hot"
        if self.num_tokens is None:
            raise InvalidArgumentError(
                "num_tokens must be set to use this layer. If the number of tokens is not known "
                "beforehand, use the IntegerLookup layer instead."
            )
        if self.num_tokens < 1:
            raise InvalidArgumentError(
                f"`num_tokens` must be >= 1. Received: num_tokens={self.num_tokens}."
            )

    def call(self, inputs: TensorLike, count_weights: Any = None) -> Any:
        dtype = self.compute_dtype.np
        if count_weights is not None:
            if self.output_mode != "count":
                raise InvalidArgumentError(
                    "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                    f"`count_weights={count_weights}`."
                )
            count_weights = cast(tensor(count_weights), dtype=dtype)
        return encode(
            tensor(inputs), self.output_mode, self.num_tokens, dtype, count_weights, self.sparse
        )

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["sparse"]
        return config


class _BinTable:
    """The NumPy implementation of an op that maps each number to the index of its bin."""

    dtype = np.dtype(np.int32)

    def __init__(self, boundaries):
        self.boundaries = np.asarray(boundaries, np.float32)

    # Equal by value: each call creates a new table, and a compiled function must remain valid.
    def __eq__(self, other):
        return type(other) is _BinTable and np.array_equal(self.boundaries, other.boundaries)

    def __hash__(self):
        return hash(self.boundaries.tobytes())

    def __call__(self, x):
        return np.searchsorted(self.boundaries, x, side="right").astype(np.int32)

    def shape(self, shape):
        return shape


class Discretization(Layer, takes_lists=True):
    """Map numbers to the indices of bins.

    Args:
        bin_boundaries: increasing boundaries between the bins.
        num_bins: the number of bins that `adapt` computes, with about equally many numbers each.
        epsilon: the error of the quantiles that `adapt` computes.
        output_mode: "int" for the index of the bin, or a mode of `CategoryEncoding`.

    >>> Discretization([0.0, 1.0])(tensor([-1.0, 0.5, 3.0])).numpy()
    array([0, 1, 2], dtype=int32)
    """

    bin_boundaries: object = None
    num_bins: int | None = None
    epsilon: float = 0.01
    output_mode: Annotated[str, one_of(*MODES)] = "int"
    sparse: bool = False

    def __post_init__(self):
        check_sparse(self)
        if (self.num_bins is None) == (self.bin_boundaries is None):
            raise InvalidArgumentError(
                "Discretization: expected num_bins (for adapt()) or bin_boundaries, not both; got "
                f"num_bins={self.num_bins}, bin_boundaries={self.bin_boundaries}."
            )
        if self.num_bins is not None and self.num_bins < 0:
            raise InvalidArgumentError(
                "`num_bins` must be greater than or equal to 0. Received: "
                f"`num_bins={self.num_bins}`"
            )
        self.reset_state()

    def reset_state(self):
        """Discard the data that `update_state` received."""
        # row 0 holds values in increasing order, row 1 the weight of each value
        self.summary = np.zeros((2, 0), np.float32)

    def update_state(self, data: TensorLike) -> None:
        """Add a batch to the summary, from which `finalize_state` computes the boundaries."""
        values = np.sort(np.asarray(data, np.float32).reshape(-1))
        step = max(values.size * self.epsilon, 1)
        kept = values[int(step - 1) :: int(step)]
        both = np.concatenate([[kept, np.full_like(kept, step)], self.summary], axis=1)
        self.summary = _compressed(both[:, np.argsort(both[0])], self.epsilon)

    def finalize_state(self):
        """Compute the boundaries from the data that `update_state` received."""
        quantiles = _compressed(self.summary, 1 / self.num_bins)
        self.bin_boundaries = quantiles[0, :-1].tolist()

    def adapt(self, data: TensorLike, steps: Any = None) -> None:
        """Compute the boundaries of `num_bins` bins with about equally many numbers each.

        Args:
            data: an array, or an iterable of batches.
            steps: the number of batches to use; all if None.
        """
        if self.num_bins is None:
            raise InvalidArgumentError(
                "Cannot adapt a Discretization layer that has been initialized with "
                "`bin_boundaries`, use `num_bins` instead."
            )
        self.reset_state()
        for batch in batches_of(whole_of(data), steps, whole=(np.ndarray, Tensor)):
            self.update_state(batch)
        self.finalize_state()

    def call(self, inputs: TensorLike) -> Any:
        if self.bin_boundaries is None:
            raise InvalidArgumentError(
                "You need to either pass the `bin_boundaries` argument at construction time or "
                "call `adapt(dataset)` before you can start using the `Discretization` layer."
            )
        dtype = np.int32 if self.output_mode == "int" else self.compute_dtype.np
        bins = look_up(inputs, table=_BinTable(self.bin_boundaries))
        depth, dtype = len(self.bin_boundaries) + 1, np.dtype(dtype)
        return encode(bins, self.output_mode, depth, dtype, sparse=self.sparse)

    @property
    def input_dtype(self):
        return dtypes.as_dtype(dtypes.floatx())

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["trainable"]
        return config

    @classmethod
    def from_config(cls, config: Any):
        config = dict(config)
        adapted = config.pop("bin_boundaries") if config.get("num_bins") is not None else None
        layer = cls(**config)
        if adapted is not None:
            layer.bin_boundaries = adapted
        return layer


def _compressed(summary, epsilon):
    """Reduce a summary (values, weights) to quantiles `epsilon` apart, unless it has fewer."""
    values, weights = summary
    if values.size * epsilon < 1:
        return summary
    reached = np.cumsum(weights)
    shares = epsilon + np.arange(0.0, 1.0, epsilon)
    values = np.interp(shares, reached / reached[-1], values)
    reached = np.interp(shares, np.cumsum(weights) / reached[-1], reached)
    return np.stack([values, np.diff(reached, prepend=0)]).astype(np.float32)


def whole_of(data):
    """Return a table or column (of Pandas, for example) as an array, and other data unchanged."""
    if from_library(data):
        return array_from(data, "data")
    known = (np.ndarray, Tensor)
    return np.asarray(data) if hasattr(data, "__array__") and not isinstance(data, known) else data


def batches_of(data, steps, whole):
    """Yield batches of the data for `adapt`; data whose type is in `whole` is a single batch."""
    if isinstance(data, whole) or not hasattr(data, "__iter__"):
        yield data
        return
    for number, batch in enumerate(data):
        if steps is not None and number >= steps:
            return
        yield batch
