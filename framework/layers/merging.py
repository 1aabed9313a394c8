"""Layers that merge several inputs: Add, Concatenate, Dot and others."""

import functools
import string
from typing import Annotated, Any

import numpy as np

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.axes import one_axis
from framework.core.cast import cast
from framework.core.configurable import Resolved
from framework.core.dtypes import epsilon
from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.promotion import promote
from framework.core.symbolic import KerasTensor, broadcast_shapes
from framework.core.tensor import Tensor
from framework.layers.base import Layer
from framework.layers.symbolic_calls import mask_of
from framework.ops import elementwise as e
from framework.ops import norm
from framework.ops.einsum import einsum
from framework.ops.movement import broadcast_to, concat, expand_axes, getitem
from framework.ops.reduction import reduce_any

__all__ = [
    "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract", "add",
    "average", "concatenate", "dot", "maximum", "minimum", "multiply", "subtract",
]  # fmt: skip


class Merge(Layer, merge=None, masked=None):
    """The base class of layers that combine a list of inputs elementwise; shapes broadcast.

    Class arguments: `merge(layer, inputs)` computes the result. Layers that ignore masked elements
    have `masked(inputs, masks)`, which is called instead if an input has a mask.
    """

    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        masks = [mask_of(x) for x in _at_least(inputs, 1, self)]
        inputs = promote(*inputs)
        rank = max(x.ndim for x in inputs)
        inputs = [_expanded_to(x, rank) for x in inputs]
        _refuse_shapes(inputs, self)
        masked = type(self)._framework.masked
        if masked is not None and any(mask is not None for mask in masks):
            return masked(inputs, [_of_elements(m, rank) for m in masks])
        return type(self)._framework.merge(self, inputs)

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        """Return the logical OR of the masks; None if an input has no mask."""
        if mask is None or any(m is None for m in _list_of_masks(inputs, mask)):
            return None
        return functools.reduce(e.logical_or, mask)


def _at_least(inputs, number, layer):
    if not isinstance(inputs, (list, tuple)) or len(inputs) < number:
        got = f"{len(inputs)} of them" if isinstance(inputs, (list, tuple)) else repr(inputs)
        raise InvalidArgumentError(
            f"A merge layer should be called on a list of at least {number} input(s); "
            f"{type(layer).__name__} layer {layer.name!r} got {got}."
        )
    return inputs


def _list_of_masks(inputs, mask):
    """Return `mask` if it is a list with a mask for each input; otherwise raise an error."""
    for name, value in (("mask", mask), ("inputs", inputs)):
        if not isinstance(value, (list, tuple)):
            raise InvalidArgumentError(
                f"compute_mask: `{name}` should be a list. Received: {name}={value}"
            )
    if len(mask) != len(inputs):
        raise InvalidArgumentError(
            "compute_mask: The lists `inputs` and `mask` should have the same length, got "
            f"{len(inputs)} inputs and {len(mask)} masks."
        )
    return mask


def _expanded_to(x, rank):
    """Expand `x` to `rank` axes by axes of size 1 after the batch axis, so that batches align."""
    missing = rank - x.ndim
    return expand_axes(x, tuple(range(1, 1 + missing))) if missing and x.ndim else x


def _refuse_shapes(inputs, layer):
    shapes = [tuple(x.shape) for x in inputs]
    try:
        broadcast_shapes(layer.name, inputs)
    except ShapeError:
        raise ShapeError(
            f"Inputs have incompatible shapes. Received shapes {' and '.join(map(str, shapes))} "
            f"({type(layer).__name__} layer {layer.name!r})."
        ) from None


def _reduced(op):
    return lambda layer, inputs: functools.reduce(op, inputs)


def _of_elements(mask, rank):
    """Append axes of size 1 to a mask, so that it has `rank` axes and broadcasts to the inputs."""
    return mask if mask is None else expand_axes(mask, tuple(range(mask.ndim, rank)))


def _masked_product(inputs, masks):
    """Return the product, with 1 for masked factors, and 0 where all inputs are masked."""
    output = None
    for x, mask in zip(inputs, masks, strict=True):
        factor = x if mask is None else e.select(mask, x, 1)
        output = factor if output is None else e.multiply(output, factor)
    if any(mask is None for mask in masks):
        return output
    return e.select(functools.reduce(e.logical_or, masks), output, 0)


def _masked_extreme(op):
    """Return a function: the elementwise extreme `op` of the inputs, ignoring masked elements."""

    def merged(inputs, masks):
        output, known = inputs[0], masks[0]
        for x, mask in zip(inputs[1:], masks[1:], strict=True):
            other = x if mask is None else e.select(mask, x, output)
            own = output if known is None else e.select(known, output, other)
            known = None if known is None or mask is None else e.logical_or(known, mask)
            output = op(own, other)
        return output

    return merged


def _subtracted(layer, inputs):
    if len(inputs) != 2:
        raise InvalidArgumentError(
            f"A `Subtract` layer should be called on exactly 2 inputs, {layer.name!r} got "
            f"{len(inputs)}."
        )
    return e.subtract(*inputs)


def _averaged(layer, inputs):
    total = functools.reduce(e.add, inputs)
    if not total.dtype.is_inexact:
        total = cast(total, dtype=layer.compute_dtype.np)
    return total / float(len(inputs))


class Add(Merge, merge=_reduced(e.add)):
    """The sum of the inputs.

    >>> import numpy as np
    >>> Add()([np.ones((1, 2)), np.ones((1, 2))]).numpy()
    array([[2., 2.]], dtype=float32)
    """


class Subtract(Merge, merge=_subtracted):
    """The first of two inputs minus the second."""


class Multiply(Merge, merge=_reduced(e.multiply), masked=_masked_product):
    """The product of the inputs; masked elements are ignored."""


class Average(Merge, merge=_averaged):
    """The mean of the inputs."""


class Maximum(Merge, merge=_reduced(e.maximum), masked=_masked_extreme(e.maximum)):
    """The elementwise maximum of the inputs; masked elements are ignored."""


class Minimum(Merge, merge=_reduced(e.minimum), masked=_masked_extreme(e.minimum)):
    """The elementwise minimum of the inputs; masked elements are ignored."""


class Concatenate(Layer):
    """The inputs concatenated along `axis`.

    >>> import numpy as np
    >>> Concatenate()([np.ones((1, 2)), np.ones((1, 3))]).shape
    TensorShape([1, 5])
    """

    axis: int = -1
    supports_masking = True

    def call(self, inputs: TensorLike) -> Any:
        inputs = promote(*_at_least(inputs, 1, self))
        shapes = [tuple(x.shape) for x in inputs]
        axis = one_axis(self.axis, len(shapes[0]), f"Concatenate layer {self.name!r}")
        others = [s[:axis] + s[axis + 1 :] for s in shapes]
        if any(not _may_be_equal(others[0], o) for o in others):
            raise ShapeError(
                "A `Concatenate` layer requires inputs with matching shapes except for the "
                f"concatenation axis. Received: input_shape={shapes} (layer {self.name!r})."
            )
        return concat(*inputs, axis=axis)

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        """Return the concatenated masks, or their logical OR if `axis` is the last axis.

        An input without a mask counts as unmasked; without any mask the result is None.
        """
        if mask is None or all(m is None for m in _list_of_masks(inputs, mask)):
            return None
        axis = one_axis(self.axis, len(inputs[0].shape), "Concatenate")
        masks = [_mask_but_last(x, m) for x, m in zip(inputs, mask, strict=True)]
        if axis == len(inputs[0].shape) - 1:
            return functools.reduce(e.logical_or, masks)
        return concat(*masks, axis=axis)


def _mask_but_last(x, mask):
    """Return `mask` in the shape of `x` without the last axis, or an all-True mask for None."""
    shape = tuple(x.shape)[:-1]
    if mask is None:
        # ops on `x` compute the mask, because a functional model can only return KerasTensors
        if isinstance(x, KerasTensor):
            first = getitem(x, index=(Ellipsis, 0))
            return e.logical_or(e.equal(first, first), True)
        return Tensor(np.ones(shape, np.bool_))
    if mask.ndim > len(shape):
        return reduce_any(mask, axis=(mask.ndim - 1,), keepdims=False)
    if mask.ndim < len(shape):
        mask = expand_axes(mask, tuple(range(mask.ndim, len(shape))))
        return broadcast_to(mask, shape=shape)
    return mask


def _may_be_equal(a, b):
    return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b))


def _axes(value):
    if isinstance(value, (list, tuple)) and len(value) != 2:
        raise InvalidArgumentError("expected an int or two ints")
    axes = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(a, bool) or not isinstance(a, int) for a in axes):
        raise DTypeError("expected an int or a list of two ints")
    return value


class Dot(Layer, makes_masks=False):
    """The dot product of two inputs along one axis of each, for each sample of the batch.

    Args:
        axes: the axis in both inputs, or one axis for each; not 0, the batch.
        normalize: whether to divide the inputs by their L2 norms along these axes first.

    Shapes: with `axes=(1, 2)`, `(batch, a, b)` and `(batch, c, a)` give `(batch, b, c)`; two
    inputs of two axes give `(batch, 1)`.

    >>> import numpy as np
    >>> Dot(axes=(1, 2))([np.ones((1, 5, 2)), np.ones((1, 3, 5))]).shape
    TensorShape([1, 2, 3])
    """

    axes: Annotated[Any, Resolved("an int or two ints", _axes)]
    normalize: bool = False
    supports_masking = True

    def build(self, input_shape: ShapeLike) -> None:
        if len(input_shape) != 2 or not isinstance(input_shape[0], (tuple, list)):
            raise InvalidArgumentError(
                "A `Dot` layer should be called on a list of 2 inputs. Received: "
                f"input_shape={input_shape} (layer {self.name!r})."
            )
        _dot_axes(self, *input_shape)

    def call(self, inputs: TensorLike) -> Any:
        x, y = promote(*inputs)
        i, j = _dot_axes(self, tuple(x.shape), tuple(y.shape))
        if self.normalize:
            least = epsilon() ** 2
            x, y = norm.unit(x, (i,), least), norm.unit(y, (j,), least)
        letters = string.ascii_letters
        of_x = letters[: x.ndim]
        of_y = of_x[0] + letters[x.ndim : x.ndim + y.ndim - 1]
        of_y = of_y[:j] + of_x[i] + of_y[j + 1 :]
        kept = of_x.replace(of_x[i], "") + of_y[1:].replace(of_x[i], "")
        product = einsum(f"{of_x},{of_y}->{kept}", x, y)
        return expand_axes(product, (1,)) if product.ndim == 1 else product

    def compute_mask(self, inputs: TensorLike, mask: Any = None):
        return None


def dot(inputs, axes=-1, **kwargs):
    """Return the dot product along `axes`, by a `Dot` layer."""
    return Dot(axes=axes, **kwargs)(inputs)


def add(inputs, **kwargs):
    """Return the sum of the inputs, by an `Add` layer."""
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """Return the difference of two inputs, by a `Subtract` layer."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """Return the product of the inputs, by a `Multiply` layer."""
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """Return the mean of the inputs, by an `Average` layer."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """Return the elementwise maximum, by a `Maximum` layer."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """Return the elementwise minimum, by a `Minimum` layer."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """Return the concatenated inputs, by a `Concatenate` layer."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def _dot_axes(layer, first, second):
    """Return the two axes as non-negative ints; raise ShapeError if their sizes differ."""
    shapes, axes = (first, second), layer.axes
    axes = (axes, axes) if isinstance(axes, int) else axes
    axes = [one_axis(a, len(s), f"Dot layer {layer.name!r}") for a, s in zip(axes, shapes)]
    if 0 in axes:
        raise InvalidArgumentError(
            f"Dot layer {layer.name!r}: axes={layer.axes} contains axis 0, the batch axis. For "
            "inputs without a batch, add the axis: keras.ops.expand_dims(x, 0)."
        )
    m, n = first[axes[0]], second[axes[1]]
    if not _may_be_equal((m,), (n,)):
        raise ShapeError(
            f"Incompatible input shapes: axis values {m} (at axis {axes[0]}) != {n} (at axis "
            f"{axes[1]}). Full input shapes: {first}, {second} (layer {layer.name!r})"
        )
    return axes
