"""EinsumDense: a dense layer whose axes are given by an einsum equation."""

import copy
import math
from typing import Annotated, Any

from framework.activations import Activation as ActivationField
from framework.activations import linear
from framework.core.argument_types import ShapeLike, TensorLike
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.promotion import promote
from framework.core.tensor import Tensor
from framework.initializers import VarianceScaling
from framework.layers.base import Layer
from framework.layers.input_spec import InputSpec
from framework.layers.lora import AdaptableKernel, Unquantized, enable_as_asked, with_lora
from framework.layers.weights import (
    KernelConstraints,
    KernelInitializers,
    KernelRegularizers,
    weight,
)
from framework.ops.contraction import matmul
from framework.ops.einsum import einsum
from framework.ops.elementwise import add
from framework.ops.movement import reshape

__all__ = ["EinsumDense"]


def _sizes(value):
    return (value,) if isinstance(value, int) else tuple(value)


class EinsumDense(
    KernelInitializers, KernelRegularizers, KernelConstraints, AdaptableKernel, Layer,
    last=("lora_rank", "lora_alpha", "gptq_unpacked_column_size", "quantization_config"),
):  # fmt: skip
    """`activation(einsum(equation, inputs, kernel) + bias)`.

    Args:
        equation: for example "abc,cd->abd"; "..." may stand for leading or trailing axes of the
            inputs and outputs.
        output_shape: the sizes of the output axes except the batch and the axes of "..."; None
            for the size of the input axis with the same letter.
        bias_axes: the output axes of the bias, such as "d"; None for no bias.
        lora_rank, lora_alpha: see `enable_lora`.
        gptq_unpacked_column_size, quantization_config: must be None (no quantization).

    Raises:
        InvalidArgumentError: the equation is not valid.
        ShapeError: the inputs or `output_shape` do not fit the equation.

    >>> import numpy as np
    >>> EinsumDense("abc,cde->abde", output_shape=(None, 2, 3))(np.ones((1, 4, 5))).shape
    TensorShape([1, 4, 2, 3])
    """

    equation: str
    output_shape: Annotated[Any, Resolved("an int or a tuple", _sizes)]
    activation: ActivationField = None
    bias_axes: str | None = None
    lora_rank: int | None = None
    lora_alpha: float | None = None
    gptq_unpacked_column_size: object = None
    quantization_config: Unquantized = None

    bias = None

    def __post_init__(self):
        self.lora_alpha = self.lora_rank if self.lora_alpha is None else self.lora_alpha

    @property
    def partial_output_shape(self):
        return self.output_shape

    def build(self, input_shape: ShapeLike) -> None:
        labels = _parsed(self.equation, len(input_shape))
        sizes = _sizes_of(labels, self.equation, tuple(input_shape), self.output_shape)
        of_inputs, of_kernel, of_outputs = labels
        self.input_spec = InputSpec(ndim=len(input_shape))
        initializer = _initializer(self, of_kernel, of_outputs)
        shape = _known(sizes, of_kernel, self)
        self._kernel = weight(self, "kernel", shape, initializer=initializer)
        if self.bias_axes is not None:
            shape = _bias_shape(sizes, self.bias_axes, of_outputs, self)
            self.bias = weight(self, "bias", shape)
        self._framework.inner = _inner_axes(of_inputs, of_kernel, of_outputs)
        enable_as_asked(self)

    def call(self, inputs: TensorLike, training: Any = None) -> Any:
        kernel = self._kernel._as_operand()
        if self.lora_enabled:
            kernel = with_lora(self, kernel)
        if type(inputs) is not Tensor or inputs.array.dtype != kernel.array.dtype:
            inputs, kernel = promote(inputs, kernel)
        if self._framework.inner and type(inputs) is Tensor:
            outputs = _projected(self, inputs, kernel)
        else:
            outputs = einsum(self.equation, inputs, kernel)
            outputs = outputs if self.bias is None else add(outputs, self.bias._as_operand())
        return outputs if self.activation is linear else self.activation(outputs)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if not self.gptq_unpacked_column_size:
            del config["gptq_unpacked_column_size"]
        return {"activity_regularizer": None, **config}


# ---- equations -----------------------------------------------------------------------------------


def _parsed(equation, rank):
    """Return the axis labels of inputs, kernel and outputs; digits label the axes of "..."."""
    sides = equation.replace(" ", "").split("->")
    terms = sides[0].split(",")
    letters = [t.replace("...", "") for t in (*terms, *sides[1:])]
    if len(sides) != 2 or len(terms) != 2 or not all(t.isalpha() and t.isascii() for t in letters):
        raise _invalid_equation(equation)
    inputs, kernel, outputs = letters
    rest = "".join(chr(ord("0") + i) for i in range(max(rank - len(inputs), 0)))
    if "..." in equation and "..." not in kernel:
        ends = (terms[0], sides[1])
        if all(t.startswith("...") for t in ends):
            return rest + inputs, kernel, rest + outputs
        if all(t.endswith("...") for t in ends) and len(inputs) > 1:
            return inputs + rest, kernel, outputs + rest
        raise _invalid_equation(equation)
    if rank != len(inputs):
        raise ShapeError(
            f"EinsumDense: equation {equation!r}: expected {len(inputs)} input axes, got {rank}."
        )
    return inputs, kernel, outputs


def _invalid_equation(equation):
    return InvalidArgumentError(
        f"Invalid einsum equation '{equation}'. Equations must be in the form [X],[Y]->[Z], "
        "...[X],[Y]->...[Z], or [X]...,[Y]->[Z]...."
    )


def _sizes_of(labels, equation, input_shape, partial):
    """Return the size of each axis by its label; None if unknown."""
    of_inputs, of_kernel, of_outputs = labels
    sizes = dict(zip(of_inputs, input_shape))
    for label in of_outputs:
        if label not in of_inputs and label not in of_kernel:
            raise InvalidArgumentError(
                f"EinsumDense: dimension {label!r} of the outputs is neither in the inputs nor in "
                f"the kernel of {equation!r}."
            )
    named = [c for c in of_outputs if not c.isdigit()]
    if not of_outputs[0].isdigit():  # `output_shape` does not include the batch axis
        named = named[1:]
    if len(named) != len(partial):
        raise ShapeError(
            f"EinsumDense: output_shape: expected {len(named)} sizes for {equation!r} (without the "
            f"batch and the axes of '...'), got {partial}."
        )
    for label, size in zip(named, partial):
        known = sizes.get(label)
        if label in of_inputs and size is not None and size != known:
            raise ShapeError(
                "Input shape and output shape do not match at shared dimension "
                f"'{label}'. Input shape is {known}, and output shape is {size}."
            )
        sizes[label] = known if size is None else size
    return sizes


def _known(sizes, labels, layer):
    shape = tuple(sizes.get(c) for c in labels)
    if None in shape:
        label = labels[shape.index(None)]
        raise ShapeError(
            f"EinsumDense layer {layer.name!r}: the size of the kernel's axis {label!r} in "
            f"{layer.equation!r} is unknown; give it in output_shape, or use inputs of known size."
        )
    return shape


def _bias_shape(sizes, axes, of_outputs, layer):
    """Return the bias shape: output axes from the first in `axes` on; those not in `axes` are 1."""
    for label in axes:
        if label not in of_outputs:
            raise InvalidArgumentError(
                f"EinsumDense layer {layer.name!r}: bias_axes={axes!r} has {label!r}, which is not "
                f"an axis of the outputs in {layer.equation!r}."
            )
    first = min(of_outputs.index(c) for c in axes)
    labels = "".join(c if c in axes else "" for c in of_outputs[first:])
    _known(sizes, labels, layer)
    return tuple(sizes[c] if c in axes else 1 for c in of_outputs[first:])


def _inner_axes(of_inputs, of_kernel, of_outputs):
    """Return the number of contracted axes if one matrix product computes the equation, else 0.

    This needs an equation in which the contracted axes are the last of the inputs and the first of
    the kernel, in the same order. The outputs must have the other axes of the inputs, followed by
    those of the kernel.
    """
    n = sum(c not in of_outputs for c in of_kernel)
    free, inner = of_inputs[: len(of_inputs) - n], of_kernel[:n]
    is_product = n and of_inputs == free + inner and of_outputs == free + of_kernel[n:]
    distinct = len(set(of_inputs)) == len(of_inputs) and len(set(of_kernel)) == len(of_kernel)
    return n if is_product and distinct else 0


def _initializer(layer, of_kernel, of_outputs):
    """Return the kernel's initializer; variance scaling gets the kernel's input and output axes."""
    initializer = layer.kernel_initializer
    if not isinstance(initializer, VarianceScaling) or None not in (
        initializer.input_axes, initializer.output_axes,
    ):  # fmt: skip
        return initializer
    initializer = copy.copy(initializer)
    initializer.output_axes = [i for i, c in enumerate(of_kernel) if c in of_outputs]
    initializer.input_axes = [i for i, c in enumerate(of_kernel) if c not in of_outputs]
    return initializer


def _projected(layer, inputs, kernel):
    """Compute the layer's outputs by one matrix product."""
    n = layer._framework.inner
    free, inner = inputs.array.shape[:-n], inputs.array.shape[-n:]
    outer = kernel.array.shape[n:]
    size = math.prod(inner)
    if inner != kernel.array.shape[:n]:
        raise ShapeError(
            f"EinsumDense layer {layer.name!r}: inputs of shape {inputs.array.shape} do not fit "
            f"the kernel of shape {kernel.array.shape} in {layer.equation!r}."
        )
    rows = reshape(inputs, shape=(math.prod(free), size))
    outputs = matmul(rows, reshape(kernel, shape=(size, math.prod(outer))))
    bias = layer.bias
    flat_bias = bias is not None and bias.array.shape == outer
    if flat_bias:
        outputs = add(outputs, reshape(bias._as_operand(), shape=(math.prod(outer),)))
    outputs = reshape(outputs, shape=(*free, *outer))
    return add(outputs, bias._as_operand()) if bias is not None and not flat_bias else outputs
