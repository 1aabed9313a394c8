"""Layers that take several inputs and give one."""

import functools

from framework.core.axes import one_axis
from framework.core.doors import cast, promote
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.symbolic import broadcast_shapes
from framework.layers.base import Layer
from framework.ops import elementwise as e
from framework.ops.movement import concat, expand_axes


class Merge(Layer):
    """Base of layers that combine a list of inputs element by element; shapes broadcast."""

    supports_masking = True
    _builds_at_init = True

    def call(self, inputs):
        inputs = promote(*_at_least(inputs, 1, self))
        rank = max(x.ndim for x in inputs)
        inputs = [_with_rank(x, rank) for x in inputs]
        _refuse_shapes(inputs, self)
        return self._merge(inputs)

    def _merge(self, inputs):
        raise NotImplementedError

    def compute_mask(self, inputs, previous_mask):
        """Where any input's mask is true; none where an input has none."""
        if previous_mask is None or any(m is None for m in previous_mask):
            return None
        return functools.reduce(e.logical_or, previous_mask)


def _at_least(inputs, number, layer):
    if not isinstance(inputs, (list, tuple)) or len(inputs) < number:
        got = f"{len(inputs)} of them" if isinstance(inputs, (list, tuple)) else repr(inputs)
        raise InvalidArgumentError(
            f"A merge layer should be called on a list of at least {number} input(s); "
            f"{type(layer).__name__} layer {layer.name!r} got {got}."
        )
    return inputs


def _with_rank(x, rank):
    """Missing axes come in behind the batch, so that rows meet rows."""
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


class Add(Merge):
    """The sum of the inputs.

    >>> import numpy as np
    >>> Add()([np.ones((1, 2)), np.ones((1, 2))]).numpy()
    array([[2., 2.]], dtype=float32)
    """

    def _merge(self, inputs):
        return functools.reduce(e.add, inputs)


class Subtract(Merge):
    """The first of two inputs minus the second."""

    def _merge(self, inputs):
        if len(inputs) != 2:
            raise InvalidArgumentError(
                f"A `Subtract` layer should be called on exactly 2 inputs, {self.name!r} got "
                f"{len(inputs)}."
            )
        return e.subtract(*inputs)


class Multiply(Merge):
    """The product of the inputs."""

    def _merge(self, inputs):
        return functools.reduce(e.multiply, inputs)


class Average(Merge):
    """The mean of the inputs."""

    def _merge(self, inputs):
        total = functools.reduce(e.add, inputs)
        if not total.dtype.is_inexact:
            total = cast(total, dtype=self.compute_dtype.np)
        return total / float(len(inputs))


class Maximum(Merge):
    """The largest of the inputs, element by element."""

    def _merge(self, inputs):
        return functools.reduce(e.maximum, inputs)


class Minimum(Merge):
    """The smallest of the inputs, element by element."""

    def _merge(self, inputs):
        return functools.reduce(e.minimum, inputs)


class Concatenate(Layer):
    """The inputs one behind the other along `axis`.

    >>> import numpy as np
    >>> Concatenate()([np.ones((1, 2)), np.ones((1, 3))]).shape
    TensorShape([1, 5])
    """

    axis: int = -1
    supports_masking = True
    _builds_at_init = True

    def call(self, inputs):
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

    def compute_mask(self, inputs, previous_mask):
        """The masks one behind the other; none where an input has none."""
        if previous_mask is None or any(m is None for m in previous_mask):
            return None
        rank = previous_mask[0].ndim
        axis = one_axis(self.axis, len(inputs[0].shape), "Concatenate")
        if axis < rank:
            return concat(*previous_mask, axis=axis)
        return functools.reduce(e.logical_and, previous_mask)


def _may_be_equal(a, b):
    return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b))


def add(inputs, **kwargs):
    """The sum of the inputs, by an `Add` layer."""
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """The difference of two inputs, by a `Subtract` layer."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """The product of the inputs, by a `Multiply` layer."""
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """The mean of the inputs, by an `Average` layer."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """The largest of the inputs, by a `Maximum` layer."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """The smallest of the inputs, by a `Minimum` layer."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """The inputs one behind the other, by a `Concatenate` layer."""
    return Concatenate(axis=axis, **kwargs)(inputs)
