"""Regularizers: penalties on weights or outputs, added to the loss."""

import math
from typing import Annotated, Any, Literal

import numpy as np

from framework.core.argument_types import TensorLike
from framework.core.configurable import Resolved, Watched, serialize_value
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.registry import Registry
from framework.core.shared_fields import Configured
from framework.ops import contraction, reduction
from framework.ops import elementwise as e
from framework.ops.casting import like, widened

regularizers = Registry("regularizer")


def _strength(value):
    value = 0.0 if value is None else value
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__"):
        raise InvalidArgumentError(f"expected a number, got {type(value).__name__}")
    if not 0 <= float(value) < math.inf:
        raise InvalidArgumentError("expected a finite number >= 0")
    return float(value)


Strength = Annotated[float, Resolved("a number >= 0", _strength)]


class Regularizer(Watched):
    """The base class of regularizers: `regularizer(x)` returns the penalty, a 0-d tensor.

    User regularizers subclass it and define `__call__`, or are functions of a tensor.
    """

    def __call__(self, x: TensorLike) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __call__(x).")


def _total(x):
    return reduction.reduce_sum(x, axis=tuple(range(x.ndim)), keepdims=False)


@regularizers.add("l1_l2")
class L1L2(Regularizer):
    """`l1 * sum(|x|) + l2 * sum(x**2)`."""

    l1: Strength = 0.0
    l2: Strength = 0.0

    def __call__(self, x: TensorLike) -> Any:
        x = tensor(x)
        return _total(e.absolute(x)) * self.l1 + _total(e.square(x)) * self.l2


@regularizers.add()
class L1(Regularizer):
    """`l1 * sum(|x|)`."""

    l1: Strength = 0.01

    def __call__(self, x: TensorLike) -> Any:
        return _total(e.absolute(tensor(x))) * self.l1


@regularizers.add()
class L2(Regularizer):
    """`l2 * sum(x**2)`.

    >>> import framework as tf
    >>> L2(0.5)(tf.constant([1.0, 2.0])).numpy()
    np.float32(2.5)
    """

    l2: Strength = 0.01

    def __call__(self, x: TensorLike) -> Any:
        return _total(e.square(tensor(x))) * self.l2


@regularizers.add()
class OrthogonalRegularizer(Regularizer):
    """`factor` times the mean absolute cosine between different rows (or columns) of a matrix.

    Args:
        factor: a number >= 0.
        mode: "rows" or "columns".
    """

    factor: Strength = 0.01
    mode: Literal["rows", "columns"] = "rows"

    def __call__(self, x: TensorLike) -> Any:
        x = tensor(x)
        if x.ndim != 2:
            raise ShapeError(
                f"OrthogonalRegularizer: expected a tensor of two axes, got shape {tuple(x.shape)}."
            )
        given, x = x, widened(x)
        axis = 1 if self.mode == "rows" else 0
        n = x.shape[1 - axis]
        norm = e.root(reduction.reduce_sum(e.square(x), axis=(axis,), keepdims=True))
        unit = x / e.maximum(norm, 1e-12)
        rows = self.mode == "rows"
        cosines = contraction.matmul(unit, unit, transpose_a=not rows, transpose_b=rows)
        others = e.absolute(cosines) * (1 - np.eye(n, dtype=x.dtype.np))
        return like(_total(others) * (0.5 * self.factor / max(n * (n - 1) / 2, 1)), given)


def get(identifier):
    """Return the regularizer for a name, class, instance, function or config, or None."""
    return regularizers.get(identifier)


def serialize(regularizer):
    """Return the config of a regularizer, for `deserialize`."""
    return serialize_value(regularizer)


def deserialize(config, custom_objects=None):
    """Return the regularizer that `serialize` described."""
    return regularizers.deserialize(config, custom_objects)


RegularizerField = Annotated[Configured, Resolved("a regularizer", get)]
