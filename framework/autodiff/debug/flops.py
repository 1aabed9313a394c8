"""FLOPs: the number of floating-point operations of a call of an op.

A product and its sum count as two, another elementwise function as one, and moving elements as
zero. An op without a formula counts one for each element of its largest array. The backward pass
counts as many FLOPs as the forward; for a contraction, recurrent op or attention, as many per
differentiated input, at most twice as many.
"""

from math import prod


def flops(op, shapes, results, attrs):
    """Return the FLOPs of one call, from the shapes of inputs and results and the attributes."""
    formula = FORMULAS.get(op.name)
    if formula is not None:
        return formula(shapes, results, attrs)
    if op.kind == "movement":
        return 0
    if op.kind == "elementwise":
        return prod(results[0])
    return max((prod(shape) for shape in (*shapes, *results)), default=0)


def backward_flops(op, forward, inputs):
    """Return the FLOPs of the backward pass of a call that took `forward` FLOPs.

    `inputs` is the number of differentiated inputs, of which at most two count.
    """
    return forward * min(inputs, 2) if op.kind == "contraction" or op.name in TWICE else forward


def _matmul(shapes, results, attrs):
    a = shapes[0]
    return 2 * prod(results[0]) * a[-2 if attrs.get("transpose_a") else -1]


def _conv(shapes, results, attrs):
    kernel = shapes[1]
    return 2 * prod(results[0]) * prod(kernel[:-1])


def _conv_input(shapes, results, attrs):
    g, kernel = shapes[:2]
    return 2 * prod(g) * prod(kernel[:-1])


def _conv_kernel(shapes, results, attrs):
    return 2 * prod(shapes[1]) * prod(results[0][:-1])


def _attention(shapes, results, attrs):
    queries, keys = shapes[:2]  # Each shape is (batch, length, heads, width).
    return 2 * (prod(queries) + prod(results[0])) * keys[1]


def _recurrent(kernels):
    """Count a product with each kernel per row and step; `kernels` are positions of inputs."""

    def formula(shapes, results, attrs):
        rows = prod(shapes[0][:-1])
        return 2 * rows * sum(prod(shapes[i]) for i in kernels)

    return formula


def _per_element(count):
    return lambda shapes, results, attrs: count * prod(shapes[0])


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
    # One operation each for the maximum, a subtraction, exp and a division.
    "softmax": _per_element(4),
    "log_softmax": _per_element(4),
    "softmax_cross_entropy": _per_element(5),
    "sparse_softmax_cross_entropy": _per_element(4),
    # Two operations for the mean, two for the variance, three for the normalization.
    "batch_norm": _per_element(7),
    "layer_norm": _per_element(7),
    "rms_norm": _per_element(4),
    "solve": lambda shapes, results, attrs: (
        _solved(shapes[0]) + 2 * prod(results[0]) * shapes[0][-1]
    ),
    "inverse": lambda shapes, results, attrs: 3 * _solved(shapes[0]),
    "det": lambda shapes, results, attrs: _solved(shapes[0]),
    "slogdet": lambda shapes, results, attrs: _solved(shapes[0]),
    "cholesky": lambda shapes, results, attrs: _solved(shapes[0]) // 2,
}

TWICE = ("attention", "lstm", "lstm_cell", "gru", "simple_rnn")


def _solved(shape):
    """Return the FLOPs of solving by an LU decomposition."""
    return 2 * prod(shape) * shape[-1] // 3
