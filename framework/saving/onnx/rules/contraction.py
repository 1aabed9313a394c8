"""Translation of matrix products and convolutions. ONNX's convolutions have channels first."""

from framework.kernels.windows import amounts
from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.operands import promoted
from framework.saving.onnx.sizes import Size, arithmetic, known


@rule("matmul")
def matmul(b, x, y, *, transpose_a=False, transpose_b=False):
    x, y = promoted(b, x, y)
    return b("MatMul", _turned(b, x, transpose_a), _turned(b, y, transpose_b))


def _turned(b, x, turn):
    if not turn:
        return x
    return b.transpose(x, (*range(x.rank - 2), x.rank - 1, x.rank - 2))


@rule("det")
def det(b, x):
    return b("Det", x)


def channels_first(b, x):
    return b.transpose(x, (0, x.rank - 1, *range(1, x.rank - 1)))


def channels_last(b, y, rank):
    return b.transpose(y, (0, *range(2, rank), 1))


def window_attributes(spatial, size, strides, padding, dilations):
    """Return the attributes of a convolution or pooling operator: kernel_shape, pads, ..."""
    found = {"kernel_shape": list(size), "strides": list(strides), "dilations": list(dilations)}
    if padding == "SAME" and not known(spatial):
        return {**found, "auto_pad": "SAME_UPPER"}
    pairs = amounts(padding, spatial, size, strides, dilations)
    return {**found, "pads": [before for before, _ in pairs] + [after for _, after in pairs]}


@rule("conv")
def conv(b, x, w, *, strides, padding, dilations, groups, out=None):
    return conv_bias(
        b, x, w, None, strides=strides, padding=padding, dilations=dilations, groups=groups,
        relu=False,
    )  # fmt: skip


@rule("conv_bias")
def conv_bias(b, x, w, bias, *, strides, padding, dilations, groups, relu, out=None):
    rank = x.rank
    window = window_attributes(x.shape[1:-1], w.shape[:-2], strides, padding, dilations)
    kernel = b.transpose(w, (rank - 1, rank - 2, *range(rank - 2)))
    y = b("Conv", channels_first(b, x), kernel, bias, group=groups, **window)
    return channels_last(b, b("Relu", y) if relu else y, rank)


@rule("conv_input")
def conv_input(b, g, w, *, sizes, strides, padding, dilations, groups, out=None):
    """Translate a transposed convolution; its kernel has output channels before input channels."""
    rank, size = g.rank, w.shape[:-2]
    pairs = _transposed_padding(b, sizes, size, strides, padding, dilations)
    befores, ends = [before for before, _ in pairs], [after for _, after in pairs]
    extras = []
    for axis, (n, k, s, d) in enumerate(zip(sizes, size, strides, dilations)):
        reach = (g.shape[1 + axis] - 1) * s + (k - 1) * d + 1 - befores[axis] - ends[axis]
        extra = n - reach
        if type(extra) is Size:
            b.refuse("the size of a transposed convolution does not follow from its input")
        ends[axis] -= min(extra, 0)
        extras.append(max(extra, 0))
    kernel = b.transpose(w, (rank - 1, rank - 2, *range(rank - 2)))
    y = b(
        "ConvTranspose", channels_first(b, g), kernel, group=groups, strides=list(strides),
        dilations=list(dilations), kernel_shape=list(size), pads=befores + ends,
        output_padding=extras,
    )  # fmt: skip
    return channels_last(b, y, rank)


def _transposed_padding(b, sizes, size, strides, padding, dilations):
    if padding != "SAME":
        return padding
    pairs = []
    for n, k, s, d in zip(sizes, size, strides, dilations):
        pair = [
            arithmetic(
                lambda n, i=i, k=k, s=s, d=d: amounts("SAME", (n,), (k,), (s,), (d,))[0][i], n
            )
            for i in (0, 1)
        ]
        if any(type(p) is Size for p in pair):
            b.refuse("the padding of a transposed convolution depends on an unknown size")
        pairs.append(tuple(pair))
    return tuple(pairs)
