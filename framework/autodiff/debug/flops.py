"""How many floating-point operations a call of an op takes.

A product and its sum are two, every other elementwise function one, moving elements none. Ops that
no formula knows count one for each element of their largest array. The backward pass of a
contraction takes the same for each input that has a gradient, that of a recurrent op or of
attention twice its forward; of all other ops the same as their forward.
"""

from math import prod


def flops(op, shapes, made, attrs):
    """Those of one call, from the shapes of its inputs, those of its outputs, its attributes."""
    formula = FORMULAS.get(op.name)
    if formula is not None:
        return formula(shapes, made, attrs)
    if op.kind == "movement":
        return 0
    if op.kind == "elementwise":
        return prod(made[0])
    return max((prod(shape) for shape in (*shapes, *made)), default=0)


def backward_flops(op, forward, live):
    """Those of the backward pass of a call that took `forward`, with `live` inputs differentiated.

    Biases and the like beside a contraction's two inputs cost next to nothing.
    """
    return forward * min(live, 2) if op.kind == "contraction" or op.name in TWICE else forward


def _matmul(shapes, made, attrs):
    a = shapes[0]
    return 2 * prod(made[0]) * a[-2 if attrs.get("transpose_a") else -1]


def _conv(shapes, made, attrs):
    kernel = shapes[1]
    return 2 * prod(made[0]) * prod(kernel[:-1])


def _conv_input(shapes, made, attrs):
    g, kernel = shapes[:2]
    return 2 * prod(g) * prod(kernel[:-1])


def _conv_kernel(shapes, made, attrs):
    return 2 * prod(shapes[1]) * prod(made[0][:-1])


def _attention(shapes, made, attrs):
    queries, keys = shapes[:2]  # (batch, length, heads, width)
    return 2 * (prod(queries) + prod(made[0])) * keys[1]


def _recurrent(kernels):
    """Each row of each step goes once through the kernels, the inputs at these positions."""

    def formula(shapes, made, attrs):
        rows = prod(shapes[0][:-1])
        return 2 * rows * sum(prod(shapes[i]) for i in kernels)

    return formula


def _per_element(count):
    return lambda shapes, made, attrs: count * prod(shapes[0])


FORMULAS = {
    "matmul": _matmul,
    "conv": _conv,
    "conv_bias": _conv,
    "conv_input": _conv_input,
    "conv_kernel": _conv_kernel,
    "attention": _attention,
    "lstm": _recurrent((3, 4)),
    "lstm_cell": _recurrent((3, 4)),
    "gru": _recurrent((2, 3)),
    "simple_rnn": _recurrent((2, 3)),
    "softmax": _per_element(4),  # the maximum, the difference, exp, the quotient
    "log_softmax": _per_element(4),
    "softmax_cross_entropy": _per_element(5),
    "sparse_softmax_cross_entropy": _per_element(4),
    "batch_norm": _per_element(7),  # two for the mean and variance each, three to normalise
    "layer_norm": _per_element(7),
    "rms_norm": _per_element(4),
    "solve": lambda shapes, made, attrs: _solved(shapes[0]) + 2 * prod(made[0]) * shapes[0][-1],
    "inverse": lambda shapes, made, attrs: 3 * _solved(shapes[0]),
    "det": lambda shapes, made, attrs: _solved(shapes[0]),
    "slogdet": lambda shapes, made, attrs: _solved(shapes[0]),
    "cholesky": lambda shapes, made, attrs: _solved(shapes[0]) // 2,
}

TWICE = ("attention", "lstm", "lstm_cell", "gru", "simple_rnn")


def _solved(shape):
    """An LU decomposition."""
    return 2 * prod(shape) * shape[-1] // 3
