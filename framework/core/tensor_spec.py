"""TensorSpec: a shape, a dtype and a name that describe tensors."""

from typing import Any

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.errors import InvalidArgumentError


class TensorSpec:
    """A shape and a dtype that tensors may have.

    Args:
        shape: a sequence of sizes, with None for any size; or None for any shape.
        dtype: the element type.
        name: a string.

    Example:
        >>> spec = TensorSpec([None, 3])
        >>> spec
        TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)
        >>> import framework as tf
        >>> spec.is_compatible_with(tf.zeros([5, 3])), spec.is_compatible_with(tf.zeros([3]))
        (True, False)
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(
        self, shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None,
    ):  # fmt: skip
        self._shape = None if shape is None else dtypes.Shape(_size(n) for n in shape)
        self._dtype, self._name = dtypes.as_dtype(dtype), name

    @property
    def shape(self):
        """A TensorShape; None if any shape is accepted."""
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def value_type(self):
        """The class of the values that the spec describes."""
        from framework.core.tensor import Tensor

        return Tensor

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None):
        """Return an equal spec, with another name if one is passed."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: TensorLike, name: str | None = None):
        """Return the spec of one tensor (or anything that has a shape and a dtype)."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any):
        """Return whether the dtypes are equal, and all sizes that are known in both."""
        other = spec_or_tensor
        if dtypes.as_dtype(other.dtype) is not self._dtype:
            return False
        return (
            self._shape is None
            or other.shape is None
            or self._shape.is_compatible_with(other.shape)
        )

    def is_subtype_of(self, other: Any):
        """Return whether every tensor that fits this spec fits the other."""
        if self._dtype is not other.dtype or other.shape is None:
            return self._dtype is other.dtype
        return self._shape is not None and len(self._shape) == len(other.shape) and all(
            b is None or a == b for a, b in zip(self._shape, other.shape, strict=True)
        )  # fmt: skip

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self):
        return hash(self._parts())

    def _parts(self):
        return self._shape, self._dtype, self._name

    def __repr__(self):
        shape = "<unknown>" if self._shape is None else str(self._shape)
        return f"TensorSpec(shape={shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self):
        return type(self), (None if self._shape is None else tuple(self._shape), *self._parts()[1:])


def _size(n):
    if n is None:
        return None
    try:
        size = int(n)
    except (TypeError, ValueError):
        size = -1
    if size < 0:
        raise InvalidArgumentError(f"TensorSpec: a size must be an int >= 0 or None, got {n!r}.")
    return size
