"""Activation layers with arguments: ReLU, LeakyReLU, ELU, Softmax, PReLU."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from framework import activations
from framework.constraints import ConstraintField
from framework.core import dtypes
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.promotion import promote
from framework.initializers import InitializerField
from framework.layers.base import Layer
from framework.layers.input_spec import InputSpec
from framework.layers.weights import weight
from framework.ops.elementwise import relu, select
from framework.regularizers import RegularizerField

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


def _not_negative(value):
    if isinstance(value, (str, bool)) or not hasattr(value, "__float__") or not float(value) >= 0:
        raise InvalidArgumentError("expected a number that is at least 0")
    return float(value)


def _not_negative_or_none(value):
    return None if value is None else _not_negative(value)


NotNegative = Annotated[float, Resolved("a number >= 0", _not_negative)]


class ReLU(Layer, builds_at_init=True):
    """`max(x, 0)`, optionally with a threshold, a slope below it, and a maximum.

    >>> import numpy as np
    >>> ReLU(max_value=1.5)(np.array([-1.0, 1.0, 2.0])).numpy()
    array([0. , 1. , 1.5], dtype=float32)
    """

    max_value: Annotated[
        float | None, Resolved("a number >= 0, or None", _not_negative_or_none)
    ] = None
    negative_slope: NotNegative = 0.0
    threshold: NotNegative = 0.0
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer, builds_at_init=True):
    """`x` where positive, else `negative_slope * x` (older name: `alpha`)."""

    negative_slope: NotNegative = 0.3
    supports_masking = True

    # type checkers must take the constructor's signature from the fields, not from `__init__`
    if not TYPE_CHECKING:

        def __init__(self, *args: Any, alpha: TensorLike = None, **kwargs: Any):
            if alpha is not None:
                warnings.warn(
                    "Argument `alpha` is deprecated. Use `negative_slope` instead.", stacklevel=2
                )
                kwargs["negative_slope"] = alpha
            super().__init__(*args, **kwargs)

        __init__._from_fields = True

    def call(self, inputs: TensorLike) -> Any:
        return activations.leaky_relu(inputs, self.negative_slope)


class ThresholdedReLU(Layer):
    """`x` where it is above `theta`, else 0: a layer of Keras 2.

    >>> import numpy as np
    >>> ThresholdedReLU(1.0)(np.array([0.5, 1.0, 2.0])).numpy()
    array([0., 0., 2.], dtype=float32)
    """

    theta: NotNegative = 1.0
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        if not inputs.dtype.is_floating:
            inputs = cast(inputs, dtype=self.compute_dtype.np)
        return activations.threshold(inputs, self.theta, 0.0)


class ELU(Layer, builds_at_init=True):
    """`x` where positive, else `alpha * (exp(x) - 1)`."""

    alpha: float = 1.0
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        return activations.elu(inputs, self.alpha)


class Softmax(Layer, builds_at_init=True):
    """`exp(x)` divided by its sum over `axis`, where `mask` is True; 0 elsewhere.

    Args:
        axis: an int, or a sequence of axes to normalize over together.
    """

    axis: object = -1
    supports_masking = True

    def call(self, inputs: TensorLike, mask: TensorLike = None) -> Any:
        if mask is None:
            return activations.softmax(inputs, self.axis)
        _refuse_mask(self, mask, inputs)
        if mask.dtype != dtypes.bool_:
            mask = mask > 0.5 if mask.dtype.is_floating else cast(mask, dtype=dtypes.bool_.np)
        lowest = -3e4 if inputs.dtype == "float16" else -1e9
        return select(mask, activations.softmax(select(mask, inputs, lowest), self.axis), 0.0)


def _refuse_mask(layer, mask, inputs):
    """Raise ShapeError unless the mask broadcasts to the inputs."""
    own, wanted = tuple(mask.shape), tuple(inputs.shape)
    pairs = zip(own[::-1], wanted[::-1])  # broadcasting compares shapes from the last axis
    if len(own) > len(wanted) or any(m not in (1, None, n) for m, n in pairs if n is not None):
        raise ShapeError(
            f"{type(layer).__name__} layer {layer.name!r}: expected a mask that broadcasts to the "
            f"inputs of shape {wanted}, got a mask of shape {own}."
        )


def _axes_or_none(value):
    return value if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


class PReLU(Layer):
    """`x` where positive, else `alpha * x` with a trained alpha for each element of a sample.

    He et al. 2015 (arXiv:1502.01852).

    Args:
        shared_axes: axes (the batch is axis 0) along which all elements share one alpha.
    """

    alpha_initializer: InitializerField = "Zeros"
    alpha_regularizer: RegularizerField = None
    alpha_constraint: ConstraintField = None
    shared_axes: Annotated[Sequence[int] | None, Resolved("axes, or None", _axes_or_none)] = None
    supports_masking = True

    def build(self, input_shape: ShapeLike) -> None:
        shared = self.shared_axes or ()
        shape = [1 if i in shared else n for i, n in enumerate(input_shape)][1:]
        self.alpha = weight(self, "alpha", tuple(shape))
        fixed = range(1, len(input_shape)) if shared else ()
        self.input_spec = InputSpec(
            ndim=len(input_shape), axes={i: input_shape[i] for i in fixed if i not in shared}
        )

    def call(self, inputs: TensorLike) -> Any:
        x, alpha = promote(inputs, self.alpha._as_operand())
        return relu(x) - alpha * relu(-x)
