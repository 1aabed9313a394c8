"""The base of convolutions: arguments, shapes, kernels and bias."""

from typing import Annotated

from framework.activations import linear
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.kernels.windows import output_sizes
from framework.layers.arguments import DataFormat  # noqa: F401 (a field of convolutions too)
from framework.layers.base import Layer
from framework.layers.input_spec import InputSpec
from framework.layers.weights import weight
from framework.ops.elementwise import add
from framework.ops.movement import reshape, transpose


def _padding_of(*allowed):
    def resolve(value):
        if not isinstance(value, str) or value.lower() not in allowed:
            raise InvalidArgumentError(f"The `padding` argument must be one of {allowed}")
        return value.lower()

    return Resolved(f"one of {allowed}", resolve)


Padding = Annotated[str, _padding_of("valid", "same")]
CausalPadding = Annotated[str, _padding_of("valid", "same", "causal")]


def ints(value, n, name, least=1):
    """Return a tuple of `n` ints >= `least`, from one int or a sequence of `n` ints."""
    if hasattr(value, "__index__") and not isinstance(value, bool):
        values = (int(value),) * n
    else:
        try:
            values = tuple(v.__index__() for v in value)
        except (TypeError, AttributeError):
            values = ()
    if len(values) != n or min(values) < least:
        raise InvalidArgumentError(
            f"The `{name}` argument must be a tuple of {n} integers, each at least {least}. "
            f"Received {name}={value}"
        )
    return values


def spatial(shape, data_format):
    """Return the spatial sizes of a shape."""
    return tuple(shape[1:-1] if data_format == "channels_last" else shape[2:])


def channels(shape, data_format):
    return shape[-1 if data_format == "channels_last" else 1]


def with_spatial(shape, sizes, data_format, filters=None):
    """Return `shape` with its spatial sizes replaced by `sizes`, and its channels by `filters`."""
    count = channels(shape, data_format) if filters is None else filters
    if data_format == "channels_last":
        return (shape[0], *sizes, count)
    return (shape[0], count, *sizes)


def last(x, data_format):
    """Move the channels of `x` from the axis of the layer's data format to the last axis."""
    if data_format == "channels_last":
        return x
    return transpose(x, perm=(0, *range(2, x.ndim), 1))


def restored(y, data_format):
    """Move the channels of `y` from the last axis to their axis in the data format."""
    if data_format == "channels_last":
        return y
    return transpose(y, perm=(0, y.ndim - 1, *range(1, y.ndim - 1)))


class Windowed(Layer, rank=0):
    """The base class of convolutions.

    Subclasses declare fields and `rank`, the number of spatial axes.
    """

    def __post_init__(self):
        n = type(self)._framework.rank
        self.kernel_size = ints(self.kernel_size, n, "kernel_size")
        self.strides = ints(self.strides, n, "strides")
        self.dilation_rate = ints(self.dilation_rate, n, "dilation_rate")
        self.rank = n
        self.input_spec = InputSpec(min_ndim=n + 2)


def refuse_strides_with_dilation(layer):
    if max(layer.strides) > 1 and max(layer.dilation_rate) > 1:
        raise InvalidArgumentError(
            f"`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
            f"strides={layer.strides} and dilation_rate={layer.dilation_rate} "
            f"(layer {layer.name!r})."
        )


def set_input_spec(layer, input_shape):
    """Check the input shape, set `input_spec`, and return the number of input channels."""
    rank = type(layer)._framework.rank
    if len(input_shape) != rank + 2:
        raise ShapeError(
            f"Layer {layer.name!r} ({type(layer).__name__}) expects inputs of {rank + 2} "
            f"axes: the batch, {rank} spatial ones and the channels. Received shape "
            f"{tuple(input_shape)}."
        )
    count = channels(input_shape, layer.data_format)
    if count is None:
        raise ShapeError(
            f"The number of input channels of layer {layer.name!r} must be known. Received "
            f"shape {tuple(input_shape)} with data_format={layer.data_format!r}."
        )
    axis = -1 if layer.data_format == "channels_last" else 1
    layer.input_spec = InputSpec(min_ndim=rank + 2, axes={axis: count})
    return count


def _output_sizes(layer, input_shape):
    """Return the output's spatial sizes; raise ShapeError if the window does not fit."""
    sizes = spatial(input_shape, layer.data_format)
    new_sizes = output_sizes(sizes, layer.kernel_size, **window_of(layer))
    if 0 in new_sizes and 0 not in sizes:
        raise ShapeError(
            "Computed output size would be zero or negative: the window does not fit into the "
            f"inputs. Received: inputs shape={tuple(input_shape)}, "
            f"kernel_size={layer.kernel_size}, strides={layer.strides}, "
            f"dilation_rate={layer.dilation_rate}, padding={layer.padding!r} "
            f"(layer {layer.name!r}). Use padding='same' or larger inputs."
        )
    return new_sizes


def add_bias(layer, count):
    layer.bias = weight(layer, "bias", (count,)) if layer.use_bias else None


def finished(layer, outputs):
    """Add the bias and apply the activation."""
    if layer.bias is not None:
        bias = layer.bias._as_operand()
        if layer.data_format == "channels_first":
            bias = reshape(bias, shape=(1, -1) + (1,) * type(layer)._framework.rank)
        outputs = add(outputs, bias)
    is_linear = layer.activation is None or layer.activation is linear
    return outputs if is_linear else layer.activation(outputs)


def window_of(layer):
    """Return the attributes of the convolution op: strides, padding, dilations."""
    padding = ((0, 0),) * type(layer)._framework.rank
    if layer.padding == "same":
        padding = "SAME"
    elif layer.padding == "causal":
        padding = ((layer.dilation_rate[0] * (layer.kernel_size[0] - 1), 0),)
    return {"strides": layer.strides, "padding": padding, "dilations": layer.dilation_rate}
