"""Convolution: three ops, each linear in both inputs, and each a derivative of the others.

Arrays are channels-last. Attributes have one entry per spatial axis (see `kernels/windows.py`).
"""

from framework.core.numpy_warnings import no_warnings
from framework.core.op import Op, first_order_only
from framework.kernels import conv as kernels
from framework.kernels.windows import output_sizes
from framework.ops.elementwise import add
from framework.ops.elementwise import relu as cut
from framework.ops.movement import reshape


def _conv_infer(x, w, *, strides, padding, dilations, groups):
    places = output_sizes(x.shape[1:-1], w.shape[:-2], strides, padding, dilations)
    return (x.shape[0], *places, w.shape[-1]), x.dtype


def _conv_by_x(g, w, x_shape, strides, padding, dilations, groups):
    return conv_input(
        g, w, sizes=tuple(x_shape[1:-1]), strides=strides, padding=padding, dilations=dilations,
        groups=groups,
    )  # fmt: skip


def _conv_by_w(g, x, w_shape, strides, padding, dilations, groups):
    return conv_kernel(
        x, g, size=tuple(w_shape[:-2]), strides=strides, padding=padding, dilations=dilations,
        groups=groups,
    )  # fmt: skip


conv = Op(
    "conv", no_warnings(kernels.conv), _conv_by_x, _conv_by_w, kind="contraction",
    infer=_conv_infer, fresh=True,
)  # fmt: skip


def _input_infer(g, w, *, sizes, strides, padding, dilations, groups):
    return (g.shape[0], *sizes, w.shape[-2] * groups), g.dtype


def _input_by_g(h, w, strides, padding, dilations, groups):
    return conv(h, w, strides=strides, padding=padding, dilations=dilations, groups=groups)


def _input_by_w(h, g, w_shape, strides, padding, dilations, groups):
    return conv_kernel(
        h, g, size=tuple(w_shape[:-2]), strides=strides, padding=padding, dilations=dilations,
        groups=groups,
    )  # fmt: skip


# `conv_input` is the derivative of `conv` with respect to its first input: a transposed
# convolution.
conv_input = Op(
    "conv_input", no_warnings(kernels.conv_input), _input_by_g, _input_by_w, kind="contraction",
    infer=_input_infer, fresh=True,
)  # fmt: skip


def _kernel_infer(x, g, *, size, strides, padding, dilations, groups):
    return (*size, x.shape[-1] // groups, g.shape[-1]), x.dtype


def _kernel_by_x(h, g, x_shape, strides, padding, dilations, groups):
    return conv_input(
        g, h, sizes=tuple(x_shape[1:-1]), strides=strides, padding=padding, dilations=dilations,
        groups=groups,
    )  # fmt: skip


def _kernel_by_g(h, x, strides, padding, dilations, groups):
    return conv(x, h, strides=strides, padding=padding, dilations=dilations, groups=groups)


# `conv_kernel` is the derivative of `conv` with respect to its second input, the kernel.
conv_kernel = Op(
    "conv_kernel", no_warnings(kernels.conv_kernel), _kernel_by_x, _kernel_by_g, kind="contraction",
    infer=_kernel_infer, fresh=True,
)  # fmt: skip


def depthwise(x, w, **window):
    """Convolve each channel with its own filters; w has shape (*size, channels, multiplier)."""
    *size, channels, multiplier = w.shape
    each = reshape(w, shape=(*size, 1, channels * multiplier))
    return conv(x, each, groups=channels, **window)


# ---- convolution with a bias and an optional ReLU as epilogue -----------------------------------


def _conv_bias_back_infer(_g, x, w, _y, *, needed, **_):
    specs = (x.shape, x.dtype), (w.shape, w.dtype), (w.shape[-1:], w.dtype)
    return [spec for spec, wanted in zip(specs, needed, strict=True) if wanted]


conv_bias_back = Op(
    "conv_bias_back", no_warnings(kernels.conv_bias_back), backward=first_order_only, outputs=None,
    infer=_conv_bias_back_infer, fresh=True,
)  # fmt: skip


def _conv_bias_rule(g, x, w, y, strides, padding, dilations, groups, relu, needed):
    found = conv_bias_back(
        g, x, w, y if relu else None, strides=strides, padding=padding, dilations=dilations,
        groups=groups, relu=relu, needed=tuple(needed),
    )  # fmt: skip
    found = iter(found)
    return [next(found) if wanted else None for wanted in needed]


def _conv_bias_composite(x, w, b, *, relu, **window):
    y = add(conv(x, w, **window), b)
    return cut(y) if relu else y


conv_bias = Op(
    "conv_bias", no_warnings(kernels.conv_bias), backward=_conv_bias_rule,
    composite=_conv_bias_composite, kind="contraction",
    infer=lambda x, w, b, *, relu, **window: _conv_infer(x, w, **window), fresh=True,
)  # fmt: skip
