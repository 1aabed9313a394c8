"""Shape: a tuple of sizes with TensorFlow's methods."""

from typing import Any

from framework.core.errors import InvalidArgumentError, ShapeError


class Shape(tuple):
    """A tuple of sizes, `None` for an unknown size. It also equals a list of the same sizes.

    >>> Shape((2, 3)).as_list(), Shape((2, 3)).rank, Shape((2, 3)).num_elements()
    ([2, 3], 2, 6)

    Args:
        dims: a size, or a sequence of sizes.
    """

    __slots__ = ()
    _is_leaf = True  # The functions of `core.nest` treat a Shape as a leaf, although it is a tuple.

    def __new__(cls, dims):
        if dims is None:
            raise InvalidArgumentError(
                "TensorShape: dims=None, a shape of unknown rank, is not supported; write None for "
                "each size that is unknown."
            )
        return super().__new__(cls, (dims,) if hasattr(dims, "__index__") else dims)

    def as_list(self):
        return list(self)

    @property
    def rank(self):
        return len(self)

    @property
    def ndims(self):
        return len(self)

    @property
    def dims(self):
        return list(self)

    def num_elements(self):
        """Return the product of the sizes; None if one is unknown."""
        total = 1
        for size in self:
            if size is None:
                return None
            total *= size
        return total

    def is_fully_defined(self):
        return None not in self

    def assert_is_fully_defined(self):
        if None in self:
            raise ShapeError(f"Shape {self} has sizes that are not known.")

    def is_compatible_with(self, other: Any):
        other = tuple(other)
        return len(self) == len(other) and all(
            a is None or b is None or a == b for a, b in zip(self, other, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {tuple(other)} are incompatible.")

    def merge_with(self, other: Any):
        """Return the shape with the sizes known in either; raise ShapeError if they differ."""
        self.assert_is_compatible_with(other)
        return Shape(b if a is None else a for a, b in zip(self, other, strict=True))

    def with_rank(self, rank: Any):
        """Return this shape; raise ShapeError if it has another rank."""
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: Any):
        """Return this shape; raise ShapeError if its rank is lower."""
        if len(self) < rank:
            raise ShapeError(f"Shape {self} must have rank {rank} at least.")
        return self

    def with_rank_at_most(self, rank: Any):
        """Return this shape; raise ShapeError if its rank is higher."""
        if len(self) > rank:
            raise ShapeError(f"Shape {self} must have rank {rank} at most.")
        return self

    def assert_has_rank(self, rank: Any) -> None:
        if len(self) != rank:
            raise ShapeError(f"Shape {self} must have rank {rank}.")

    def assert_same_rank(self, other: Any) -> None:
        if len(self) != len(other):
            raise ShapeError(f"Shapes {self} and {tuple(other)} must have the same rank.")

    def concatenate(self, other: Any):
        return self + other

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Shape(found) if isinstance(index, slice) else found

    def __add__(self, other):
        return Shape(tuple.__add__(self, tuple(other)))

    def __radd__(self, other):
        return Shape(tuple.__add__(tuple(other), self))

    def __eq__(self, other):
        return tuple.__eq__(self, tuple(other) if type(other) is list else other)

    def __ne__(self, other):
        return tuple.__ne__(self, tuple(other) if type(other) is list else other)

    __hash__ = tuple.__hash__

    def __repr__(self):
        return f"TensorShape({list(self)})"

    def __str__(self):
        return tuple.__repr__(self)
