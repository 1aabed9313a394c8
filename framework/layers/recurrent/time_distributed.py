"""Wrapper, the base of layers that wrap a layer, and TimeDistributed."""

from typing import Any

from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.layers import nested
from framework.layers.base import Layer
from framework.layers.call_signature import signature_of
from framework.layers.nested import LayerField
from framework.ops.movement import getitem, reshape, stack

__all__ = ["TimeDistributed", "Wrapper"]


class Wrapper(Layer):
    """The base class of layers that wrap another layer.

    Args:
        layer: the inner layer.
    """

    layer: LayerField

    def build(self, input_shape: ShapeLike = None) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None):
        return cls(**{**config, "layer": nested.as_layer(config["layer"], custom_objects)})


# These layers are deterministic and treat the samples of a batch independently. TimeDistributed
# calls them once, with the steps of all sequences as one large batch.
_ROW_BY_ROW = frozenset((
    *("Activation", "Dense", "ELU", "Embedding", "Flatten", "Identity", "LayerNormalization"),
    *("LeakyReLU", "PReLU", "Permute", "RMSNormalization", "ReLU", "RepeatVector", "Rescaling"),
    *("Reshape", "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"),
    *(
        f"{name}{n}D" for n in (1, 2, 3) for name in (
            "AveragePooling", "Conv", "Cropping", "GlobalAveragePooling", "GlobalMaxPooling",
            "MaxPooling", "UpSampling", "ZeroPadding",
        )
    ), *(f"Conv{n}DTranspose" for n in (1, 2, 3)),
))  # fmt: skip


def _takes_steps_as_rows(layer):
    cls = type(layer)
    return (
        cls.__name__ in _ROW_BY_ROW
        and cls.__module__.startswith("framework.layers.")
        and layer.activity_regularizer is None
    )


class TimeDistributed(Wrapper):
    """Apply a layer to each step of a sequence.

    Args:
        layer: a layer for inputs without the axis of steps.

    Shapes: `(batch, steps, ...)`; the layer gets `(batch, ...)`.

    >>> import numpy as np
    >>> from framework import keras
    >>> TimeDistributed(keras.layers.Dense(4))(np.ones((2, 6, 3))).shape
    TensorShape([2, 6, 4])
    """

    supports_masking = True

    def build(self, input_shape: ShapeLike) -> None:
        super().build(_of_step(input_shape, self.name))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        shape = self.layer.compute_output_shape(_of_step(input_shape, self.name))
        return (shape[0], input_shape[1], *shape[1:])

    def call(self, inputs: TensorLike, training: Any = None, mask: TensorLike = None) -> Any:
        if mask is not None:
            _check_mask(mask.shape, inputs.shape, self.name)
        takes = signature_of(self.layer).names
        how = {"training": training} if "training" in takes else {}
        if mask is None and _takes_steps_as_rows(self.layer) and inputs.size:
            batch, steps, *rest = inputs.shape
            found = self.layer(reshape(inputs, shape=(batch * steps, *rest)), **how)
            return reshape(found, shape=(batch, steps, *found.shape[1:]))
        outputs = []
        for t in range(inputs.shape[1]):
            at = (slice(None), t)
            if mask is not None and "mask" in takes:
                how["mask"] = getitem(mask, index=at)
            outputs.append(self.layer(getitem(inputs, index=at), **how))
        return stack(*outputs, axis=1)


def _of_step(shape, name):
    if not isinstance(shape, (tuple, list)) or len(shape) < 3:
        raise ShapeError(
            "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
            f"received: {shape} (layer {name!r})."
        )
    return (shape[0], *shape[2:])


def _check_mask(mask, inputs, name):
    if len(mask) < 2 or any(
        m is not None and n is not None and m != n for m, n in zip(mask[:2], inputs[:2])
    ):
        raise InvalidArgumentError(
            f"The `mask` passed to the `TimeDistributed` layer {name!r} has shape {tuple(mask)}; "
            f"its first two dimensions must be those of the inputs, {tuple(inputs[:2])}."
        )
