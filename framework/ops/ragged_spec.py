"""RaggedTensorSpec: the dtype and the sizes of ragged tensors, for signatures of functions."""

from typing import Any

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike
from framework.core.errors import InvalidArgumentError
from framework.core.tensor_spec import TensorSpec
from framework.ops.ragged_tensor import RaggedTensor


class RaggedTensorSpec(TensorSpec):
    """The shape, the dtype and the number of ragged axes of ragged tensors.

    Args:
        shape: a sequence of sizes, with None for any size and for ragged axes; or None for any
            shape.
        dtype: the dtype of the elements.
        ragged_rank: the number of ragged axes; None for all but the first axis.
        row_splits_dtype: int64.
        flat_values_spec: None.

    Example:
        >>> import framework as tf
        >>> @tf.function(input_signature=[RaggedTensorSpec([None, None], tf.int32)])
        ... def longest(x):
        ...     return tf.reduce_max(x.row_lengths())
        >>> longest(tf.ragged.constant([[1, 2, 3], [4]])).numpy()
        np.int64(3)
    """

    __slots__ = ("_ragged_rank",)

    def __init__(
        self, shape: ShapeLike = None, dtype: DTypeLike = dtypes.float32,
        ragged_rank: int | None = None, row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ):  # fmt: skip
        if flat_values_spec is not None:
            raise InvalidArgumentError(
                f"RaggedTensorSpec: flat_values_spec: expected None, got {flat_values_spec!r}. "
                "Give the shape and the dtype."
            )
        super().__init__(shape, dtype)
        rank = None if self.shape is None else len(self.shape)
        if ragged_rank is None:
            if rank is None:
                raise InvalidArgumentError(
                    "RaggedTensorSpec: Must specify ragged_rank or a shape, got None for both."
                )
            ragged_rank = rank - 1
        if ragged_rank < 1 or (rank is not None and ragged_rank >= rank):
            raise InvalidArgumentError(
                "RaggedTensorSpec: ragged_rank: expected at least 1 and less than the rank, got "
                f"{ragged_rank} for the shape {self.shape}. Use tf.TensorSpec for other tensors."
            )
        if dtypes.as_dtype(row_splits_dtype) is not dtypes.int64:
            raise InvalidArgumentError(
                f"RaggedTensorSpec: row_splits_dtype: expected int64, got {row_splits_dtype}."
            )
        self._ragged_rank = int(ragged_rank)

    @property
    def ragged_rank(self):
        """The number of ragged axes."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self):
        """The dtype of row splits, int64."""
        return dtypes.int64

    @property
    def value_type(self):
        """The class of the values that the spec describes: RaggedTensor."""
        return RaggedTensor

    @classmethod
    def from_value(cls, value: RaggedTensor):
        """Return the spec of a ragged tensor."""
        return cls(value.shape, value.dtype, value.ragged_rank)

    from_tensor = from_value

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None):
        """Return an equal spec."""
        return cls(spec.shape, spec.dtype, spec.ragged_rank)

    def is_compatible_with(self, spec_or_tensor: Any):
        """Return whether a ragged tensor or its spec has this dtype and fits this shape."""
        ragged = isinstance(spec_or_tensor, (RaggedTensor, RaggedTensorSpec))
        return (
            ragged
            and spec_or_tensor.ragged_rank == self._ragged_rank
            and super().is_compatible_with(spec_or_tensor)
        )

    def is_subtype_of(self, other: Any):
        """Return whether every ragged tensor that fits this spec fits the other."""
        ranks = getattr(other, "ragged_rank", None), self._ragged_rank
        return ranks[0] == ranks[1] and super().is_subtype_of(other)

    def _parts(self):
        return self.shape, self.dtype, self._ragged_rank

    def __repr__(self):
        shape = "TensorShape(None)" if self.shape is None else repr(self.shape)
        return (
            f"RaggedTensorSpec({shape}, {self.dtype!r}, {self._ragged_rank}, "
            f"{self.row_splits_dtype!r})"
        )
