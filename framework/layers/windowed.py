"""What layers whose windows slide over spatial axes share: arguments, shapes, the bias."""

from framework.activations import linear
from framework.core.configurable import Resolved
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.kernels.windows import output_sizes
from framework.layers.base import Layer
from framework.layers.spec import InputSpec
from framework.ops.elementwise import add
from framework.ops.movement import reshape, transpose

_FORMATS = ("channels_last", "channels_first")


def _data_format(value):
    value = "channels_last" if value is None else str(value).lower()
    if value not in _FORMATS:
        raise InvalidArgumentError(
            "The `data_format` argument must be one of 'channels_first', 'channels_last'"
        )
    return value


def _padding_of(*allowed):
    def resolve(value):
        if not isinstance(value, str) or value.lower() not in allowed:
            raise InvalidArgumentError(f"The `padding` argument must be one of {allowed}")
        return value.lower()

    return Resolved(f"one of {allowed}", resolve)


DataFormat = Resolved("'channels_last' or 'channels_first'", _data_format)
Padding = _padding_of("valid", "same")
CausalPadding = _padding_of("valid", "same", "causal")


def ints(value, n, name, least=1):
    """A tuple of `n` ints, from one int or a sequence of as many."""
    if hasattr(value, "__index__") and not isinstance(value, bool):
        found = (int(value),) * n
    else:
        try:
            found = tuple(v.__index__() for v in value)
        except (TypeError, AttributeError):
            found = ()
    if len(found) != n or min(found) < least:
        raise InvalidArgumentError(
            f"The `{name}` argument must be a tuple of {n} integers, each at least {least}. "
            f"Received {name}={value}"
        )
    return found


def spatial(shape, data_format):
    """The spatial sizes of a shape."""
    return tuple(shape[1:-1] if data_format == "channels_last" else shape[2:])


def channels(shape, data_format):
    return shape[-1 if data_format == "channels_last" else 1]


def with_spatial(shape, sizes, data_format, filters=None):
    """`shape` with other spatial sizes, and as many channels as `filters` where given."""
    count = channels(shape, data_format) if filters is None else filters
    if data_format == "channels_last":
        return (shape[0], *sizes, count)
    return (shape[0], count, *sizes)


def last(x, data_format):
    """`x` with its channels at the end."""
    if data_format == "channels_last":
        return x
    return transpose(x, perm=(0, *range(2, x.ndim), 1))


def restored(y, data_format):
    """`y`, channels at the end, in the data format."""
    if data_format == "channels_last":
        return y
    return transpose(y, perm=(0, y.ndim - 1, *range(1, y.ndim - 1)))


class Windowed(Layer):
    """Base of convolutions. Subclasses say how many spatial axes they have, and declare fields."""

    _rank = 0

    def __post_init__(self):
        n = self._rank
        self.kernel_size = ints(self.kernel_size, n, "kernel_size")
        self.strides = ints(self.strides, n, "strides")
        self.dilation_rate = ints(self.dilation_rate, n, "dilation_rate")
        self.rank = n
        self.input_spec = InputSpec(min_ndim=n + 2)

    def _refuse_strides_with_dilation(self):
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise InvalidArgumentError(
                f"`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate} "
                f"(layer {self.name!r})."
            )

    def _see_inputs(self, input_shape):
        """The number of input channels, after a check of the shape."""
        if len(input_shape) != self._rank + 2:
            raise ShapeError(
                f"Layer {self.name!r} ({type(self).__name__}) expects inputs of {self._rank + 2} "
                f"axes: the batch, {self._rank} spatial ones and the channels. Received shape "
                f"{tuple(input_shape)}."
            )
        count = channels(input_shape, self.data_format)
        if count is None:
            raise ShapeError(
                f"The number of input channels of layer {self.name!r} must be known. Received "
                f"shape {tuple(input_shape)} with data_format={self.data_format!r}."
            )
        axis = -1 if self.data_format == "channels_last" else 1
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={axis: count})
        return count

    def _window(self):
        """The attributes of the op."""
        padding = ((0, 0),) * self._rank
        if self.padding == "same":
            padding = "SAME"
        elif self.padding == "causal":
            padding = ((self.dilation_rate[0] * (self.kernel_size[0] - 1), 0),)
        return {"strides": self.strides, "padding": padding, "dilations": self.dilation_rate}

    def _places(self, input_shape):
        """The output's spatial sizes; ShapeError where the window does not fit in."""
        sizes = spatial(input_shape, self.data_format)
        places = output_sizes(sizes, self.kernel_size, **self._window())
        if 0 in places and 0 not in sizes:
            raise ShapeError(
                "Computed output size would be zero or negative: the window does not fit into the "
                f"inputs. Received: inputs shape={tuple(input_shape)}, "
                f"kernel_size={self.kernel_size}, strides={self.strides}, "
                f"dilation_rate={self.dilation_rate}, padding={self.padding!r} "
                f"(layer {self.name!r}). Use padding='same' or larger inputs."
            )
        return places

    def _add_kernel(self, name, shape, kind):
        """A weight whose initializer, regularizer and constraint have names that begin so."""
        return self.add_weight(
            shape, getattr(self, f"{kind}_initializer"), name=name,
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )  # fmt: skip

    def _add_bias(self, count):
        self.bias = self._add_kernel("bias", (count,), "bias") if self.use_bias else None

    def _finished(self, outputs):
        """Bias and activation."""
        if self.bias is not None:
            bias = self.bias._as_operand()
            if self.data_format == "channels_first":
                bias = reshape(bias, shape=(1, -1) + (1,) * self._rank)
            outputs = add(outputs, bias)
        plain = self.activation is None or self.activation is linear
        return outputs if plain else self.activation(outputs)
