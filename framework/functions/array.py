"""TensorArray: a list of tensors of one dtype, written and read by index."""

from typing import Any

import numpy as np

from framework.core import dtypes
from framework.core.argument_types import DTypeLike, ShapeLike, TensorLike
from framework.core.conversion import tensor
from framework.core.errors import DTypeError, InvalidArgumentError, OutOfRangeError, ShapeError
from framework.core.tensor import Tensor
from framework.functions.creation import sizes
from framework.ops import movement


class TensorArray:
    """A list of tensors of one dtype, for loops that write one element per iteration.

    Args:
        dtype: the dtype of all elements.
        size: the number of elements; required.
        dynamic_size: whether writing beyond the end extends the array.
        clear_after_read: whether each element can be read only once; None means True.
        tensor_array_name, handle, flow, colocate_with_first_write_call: ignored.
        infer_shape: whether all elements must have the shape of the first.
        element_shape: the shape of all elements, None for an unknown size; by default the shape of
            the first element written.

    Writing changes this object and returns it, so that TensorFlow's `ta = ta.write(i, x)` works.
    An element that was not written reads as zeros.

    Example:
        >>> import framework as tf
        >>> squares = tf.TensorArray(tf.int32, size=3)
        >>> for i in range(3):
        ...     squares = squares.write(i, i * i)
        >>> squares.stack().numpy()
        array([0, 1, 4], dtype=int32)
    """

    def __init__(
        self, dtype: DTypeLike, size: Any = None, dynamic_size: Any = None,
        clear_after_read: Any = None, tensor_array_name: Any = None, handle: Any = None,
        flow: Any = None, infer_shape: bool = True, element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True, name: str | None = None,
    ):  # fmt: skip
        if size is None:
            raise InvalidArgumentError(
                "TensorArray: `size` is required; use 0 with dynamic_size=True."
            )
        self._dtype, self._dynamic = dtypes.as_dtype(dtype), bool(dynamic_size)
        self._elements = [None] * int(size)
        self._read_once = clear_after_read is None or bool(clear_after_read)
        self._cleared = set()
        self._infers = bool(infer_shape)
        self._shape = None if element_shape is None else dtypes.Shape(element_shape)

    @property
    def dtype(self):
        return self._dtype

    @property
    def dynamic_size(self):
        return self._dynamic

    @property
    def element_shape(self):
        """The shape of the elements, or None while unknown."""
        return self._shape

    @property
    def flow(self):
        """A dummy tensor, for programs that pass `flow` on.

        Only TensorFlow's graphs need its value.
        """
        return Tensor(np.zeros((), np.int32))

    @property
    def handle(self):
        """None, because only TensorFlow's graphs have handles."""

    def size(self, name: str | None = None):
        """Return the number of elements as an int32 tensor."""
        return Tensor(np.asarray(len(self._elements), np.int32))

    def identity(self):
        """Return this TensorArray itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Delete the elements."""
        self._elements = []

    # ---- one element ----

    def write(self, index: Any, value: TensorLike, name: str | None = None):
        """Write `value` at `index`; an index beyond the end raises unless `dynamic_size` is set."""
        index = int(index)
        value = self._fitting(value)
        if not 0 <= index < len(self._elements):
            if index < 0 or not self._dynamic:
                raise OutOfRangeError(
                    f"TensorArray.write: index {index} is out of range for {len(self._elements)} "
                    "elements; pass dynamic_size=True to extend the array."
                )
            self._elements += [None] * (index + 1 - len(self._elements))
        self._elements[index] = value
        self._cleared.discard(index)
        return self

    def read(self, index: Any, name: str | None = None):
        """Return the element at `index`."""
        index = int(index)
        value = self._kept(index, "read")
        if self._read_once:
            self._elements[index] = None
            self._cleared.add(index)
        return value

    def _kept(self, index, what):
        if not 0 <= index < len(self._elements):
            raise OutOfRangeError(
                f"TensorArray.{what}: index {index} is out of range for {len(self._elements)} "
                "elements."
            )
        if index in self._cleared:
            raise InvalidArgumentError(
                f"TensorArray.{what}: index {index} was read before, which cleared it; pass "
                "clear_after_read=False to read it more than once."
            )
        return self._at(index)

    def _at(self, index):
        """Return the element at `index`, or zeros if it was not written."""
        found = self._elements[index]
        if found is not None:
            return found
        if self._shape is None or None in self._shape:
            raise ShapeError(
                f"TensorArray: element {index} was not written, and cannot be returned as zeros, "
                "because its shape is unknown; pass element_shape."
            )
        return Tensor(np.zeros(self._shape, self._dtype.np))

    def _fitting(self, value):
        value = self._tensor(value)
        if value.dtype != self._dtype:
            raise DTypeError(f"TensorArray: expected dtype {self._dtype}, got {value.dtype}.")
        if self._shape is None and self._infers:
            self._shape = dtypes.Shape(value.shape)
        if self._shape is not None and not self._shape.is_compatible_with(value.shape):
            raise ShapeError(
                f"TensorArray: expected an element of shape {tuple(self._shape)}, got "
                f"{tuple(value.shape)}."
            )
        return value

    def _tensor(self, value):
        """Return a tensor; Python values, and arrays of the same kind, are cast to the dtype."""
        if isinstance(value, (np.ndarray, np.generic)):
            fits = np.can_cast(value.dtype, self._dtype.np, "same_kind")
            return tensor(value, self._dtype if fits else None)
        return tensor(value, None if hasattr(value, "dtype") else self._dtype)

    # ---- all elements ----

    def stack(self, name: str | None = None):
        """Stack all elements along a new first axis."""
        if not self._elements:
            known = self._shape if self._shape is not None and None not in self._shape else ()
            return Tensor(np.zeros((0, *known), self._dtype.np))
        return movement.stack(*map(self._at, range(len(self._elements))), axis=0)

    def gather(self, indices: TensorLike, name: str | None = None):
        """Stack the elements at `indices` along a new first axis, without clearing them."""
        indices = sizes(indices, "TensorArray.gather")
        return movement.stack(*(self._kept(i, "gather") for i in indices), axis=0)

    def concat(self, name: str | None = None):
        """Concatenate all elements along their first axis."""
        return movement.concat(*map(self._at, range(len(self._elements))), axis=0)

    def unstack(self, value: TensorLike, name: str | None = None):
        """Write row i of `value` at index i; the array gets one element per row."""
        value = self._tensor(value)
        return self._filled(movement.unstack(value, axis=0))

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None):
        """Write the rows of `value` at `indices`."""
        value = self._tensor(value)
        places, rows = sizes(indices, "TensorArray.scatter"), movement.unstack(value, axis=0)
        if len(places) != len(rows):
            raise ShapeError(
                f"TensorArray.scatter: expected an index for each of the {len(rows)} rows of "
                f"`value`, got {len(places)} indices."
            )
        for index, row in zip(places, rows):
            self.write(index, row)
        return self

    def split(self, value: TensorLike, lengths: Any, name: str | None = None):
        """Write the first `lengths[0]` rows of `value` at index 0, and so on for each length."""
        value = self._tensor(value)
        lengths = sizes(lengths, "TensorArray.split")
        if not value.ndim or sum(lengths) != value.shape[0]:
            raise ShapeError(
                f"TensorArray.split: lengths {lengths} do not add up to the number of rows of "
                f"`value`, which has shape {tuple(value.shape)}."
            )
        return self._filled(movement.split(value, sizes=lengths, axis=0))

    def _filled(self, values):
        if len(values) > len(self._elements) and not self._dynamic:
            raise OutOfRangeError(
                f"TensorArray: got {len(values)} elements for size {len(self._elements)}; pass "
                "dynamic_size=True to extend the array."
            )
        self._elements, self._cleared = [self._fitting(value) for value in values], set()
        return self
