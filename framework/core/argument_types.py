"""Types of the arguments of public functions, for type checkers and readers of signatures."""

from typing import Any, TypeAlias

TensorLike: TypeAlias = Any
"""A tensor, variable, KerasTensor, array or number, or a nest of them."""

Axis: TypeAlias = Any
"""An int, a sequence of ints, or a tensor of them; None means all axes."""

DTypeLike: TypeAlias = Any
"""A DType, a NumPy dtype, a Python type or a name."""

ShapeLike: TypeAlias = Any
"""A sequence of ints, with None for unknown sizes, a TensorShape or a tensor of ints."""
