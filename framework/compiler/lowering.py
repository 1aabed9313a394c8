"""How a step is written: NumPy calls that write into an array given to them, where there are such.

A ufunc writes into `out`. `INTO` holds what other forwards can do the same: each entry is given the
step, the names of its operands and of `out`, and `number(n)`, which gives the name of a number in
the step's dtype; it gives the lines, or None where this step is not like that.
"""

import math

import numpy as np

from framework.compiler.fusion import ufunc_of
from framework.compiler.ir import OpNode
from framework.kernels import matmul, sums
from framework.kernels.contiguous import IN_ORDER

# NumPy compares with a number element by element, and takes 5 times as long as with an array.
SLOW_WITH_NUMBERS = frozenset(("maximum", "minimum", "relu"))
_MANY = 1024  # elements, from which on a number is slower than an array of it


def call(ufunc, name, operands, out):
    """The call of a ufunc that writes into `out`, or gives a new array where that is None."""
    if out is not None:  # NumPy wants the keyword for these two
        out = f"out={out}" if ufunc in (np.maximum, np.minimum) else out
        operands = [*operands, out]
    return f"{name}({', '.join(operands)})"


# What takes a tenth of a ufunc's time on NumPy's numbers, and gives the same.
OPERATORS = {"add": " + ", "subtract": " - ", "multiply": " * ", "divide": " / "}


def number(step, operand, everywhere):
    """The text of a step that makes one number, of numbers or as a sum; None for other steps.

    Args:
        operand: `operand(arg)` gives the text of an array, or of one of NumPy's numbers.
        everywhere: `everywhere(shape, number, dtype)` gives the name of such an array.
    """
    if not step.op.plain or step.made[0].shape:
        return None
    (y,), name = step.made, step.op.name
    if name in OPERATORS and not step.attrs:
        kinds = (int, float) if y.dtype.char in "fd" else (int,)
        others = [a for a in step.args if not hasattr(a, "constant")]
        plain = all(type(a) in kinds and a - a == 0 for a in others)
        if not plain or y.dtype.char not in "fdl" or any(v.dtype != y.dtype for v in step.values):
            return None
        return OPERATORS[name].join(map(operand, step.args))
    if name not in ("sum_to", "reduce_sum", "reduce_mean") or not _is_float(step):
        return None
    (x,) = step.values
    if not x.shape or not x.size:
        return None
    if sums.as_product(x.shape, x.dtype, tuple(range(len(x.shape)))) is None:
        total = f"add_reduce({operand(x)}, {0 if len(x.shape) == 1 else None})"
    else:
        ones = everywhere((x.size,), 1, x.dtype)
        total = f"{seen(operand(x), x, (x.size,))}.dot({ones})"
    return f"{total} / {x.size}" if name == "reduce_mean" else total


def differs(step, name, bound):
    """The text of what a guard asks of a value: whether Python would read something else of it.

    Args:
        bound: `bound(key, text, value)` gives the name of an object.
    """
    if step.how == "bool":
        return f"bool({name})" if not step.expected else f"not {name}"
    if step.how == "shape":
        return f"{name}.shape != {step.expected}"
    expected = bound(("expected", id(step)), "expected", step.expected.tobytes())
    return f"asarray({name}).tobytes() != {expected}"


def into(step):
    """The writer of a step that is not a ufunc but can write into an array; None otherwise."""
    writer = INTO.get(step.op.name)
    if writer is None or writer(step, ["a"] * len(step.args), "out", str) is None:
        return None
    return writer


def _is_float(step):
    return all(v.dtype.kind == "f" and v.dtype.itemsize > 2 for v in (*step.values, *step.made))


def _relu(step, operands, out, number):
    if _is_float(step):
        return [f"maximum({operands[0]}, {number(0)}, out={out})"]
    return None


def _sigmoid(step, operands, out, number):
    if not _is_float(step):
        return None
    one = number(1)
    return [
        f"negative({operands[0]}, {out})", f"exp({out}, {out})", f"add({out}, {one}, {out})",
        f"divide({one}, {out}, {out})",
    ]  # fmt: skip


def _rsqrt(step, operands, out, number):
    return [f"sqrt({operands[0]}, {out})", f"reciprocal({out}, {out})"] if _is_float(step) else None


def _tanh_back(step, operands, out, number):
    if not _is_float(step):
        return None
    g, y = operands  # g - g y y
    return [f"multiply({g}, {y}, {out})", f"multiply({out}, {y}, {out})",
            f"subtract({g}, {out}, {out})"]  # fmt: skip


def _axes(step):
    """(the axes that a step adds up, whether they are kept); None if it is no sum into an array."""
    if step.op.name not in ("sum_to", "reduce_sum", "reduce_mean") or not _is_float(step):
        return None
    (x,), (y,) = step.values, step.made
    if not y.shape or not x.size:
        return None
    if step.op.name != "sum_to":
        return step.attrs["axis"], step.attrs["keepdims"]
    lead = len(x.shape) - len(y.shape)
    return (tuple(range(lead)), False) if x.shape[lead:] == y.shape else None


def _added(step, operands, out, number):
    """A sum, as `sums.added` takes it."""
    found = _axes(step)
    if found is None:
        return None
    (x,), (y,) = step.values, step.made
    axis, keepdims = found
    sizes = sums.as_product(x.shape, x.dtype, axis)
    if sizes is None:
        return [f"add_reduce({operands[0]}, {axis}, None, {out}, {keepdims})"]
    before, count, after = sizes
    ones = number(1)
    if before == after == 1:
        return [f"{out}[...] = {seen(operands[0], x, (count,))}.dot({ones})"]
    shape = (count, after) if after > 1 else (before, count)
    factors = [ones, seen(operands[0], x, shape)]
    product = "dot" if x.size < sums.LEAST_SHARED else "alone_dot"
    into = seen(out, y, (y.size,))
    return [f"{product}({', '.join(factors if after > 1 else factors[::-1])}, {into})"]


def _reduce_mean(step, operands, out, number):
    lines = _added(step, operands, out, number)
    if lines is None:
        return None
    count = math.prod(step.values[0].shape[i] for i in step.attrs["axis"])
    return [*lines, f"divide({out}, {count}, {out})"]


def seen(text, value, shape):
    """An array in another shape."""
    return text if value.shape == shape else f"{text}.reshape({shape})"


def spread(step):
    """The shape of the arrays that a writer wants its numbers in; None where it wants numbers."""
    if step.op.name in SLOW_WITH_NUMBERS:
        return step.made[0].shape if step.made[0].size >= _MANY else None
    found = _axes(step)
    sizes = found and sums.as_product(step.values[0].shape, step.values[0].dtype, found[0])
    return sizes[1:2] if sizes else None


def _matmul(step, operands, out, number):
    """Of two matrices: BLAS reads either of them transposed as it is."""
    a, b = step.values if len(step.values) == 2 else (None, None)
    if a is None or len(a.shape) != 2 or len(b.shape) != 2 or not _is_float(step):
        return None
    if not (a.dtype == b.dtype and a.size and b.size):
        return None
    first, second = operands
    first += ".T" if step.attrs.get("transpose_a") else ""
    second += ".T" if step.attrs.get("transpose_b") else ""
    rows = a.shape[1] if step.attrs.get("transpose_a") else a.shape[0]
    product = "dot" if rows * b.size <= matmul.ALONE else "large_dot"
    return [f"{product}({first}, {second}, {out})"]


INTO = {
    "relu": _relu, "sigmoid": _sigmoid, "rsqrt": _rsqrt, "tanh_back": _tanh_back,
    "sum_to": _added, "reduce_sum": _added, "reduce_mean": _reduce_mean, "matmul": _matmul,
}  # fmt: skip

# Writers that read an operand after they have begun to write.
LATE_READERS = frozenset(("tanh_back", "sum_to", "reduce_sum", "reduce_mean", "matmul", "products"))

# Kernels that write their first output into `out`, where they are given one. An entry tells of a
# step which of its inputs that may be: positions, or None where it has no such output.
KERNELS = {
    **dict.fromkeys(
        ("batch_norm", "conv", "conv_bias", "conv_input", "cell_put", "gelu_with_slope"),
        lambda step: (),
    ),
    **dict.fromkeys(
        ("conv_bias_back", "conv_max_pool_back"),
        lambda step: () if step.attrs["needed"][0] else None,
    ),
    "batch_norm_back": lambda step: (0,) if step.attrs["needed"][0] else None,
}


def takes_out(step):
    """Whether the step's op is a kernel that can write its first output into an array."""
    found = KERNELS.get(step.op.name)
    return found is not None and found(step) is not None and step.outputs[0].nbytes > 0


NAMES = {
    "maximum": np.maximum, "negative": np.negative, "exp": np.exp, "add": np.add,
    "divide": np.true_divide, "sqrt": np.sqrt, "reciprocal": np.reciprocal,
    "multiply": np.multiply, "subtract": np.subtract, "add_reduce": np.add.reduce, "dot": np.dot,
    "alone_dot": sums.dot, "large_dot": matmul.dot, "large_dots": matmul.several,
    "asarray": np.asarray, "array": np.array, "IN_ORDER": IN_ORDER, "bool": bool,
}  # fmt: skip


def read_as_arrays(graph):
    """ids of the 0-d Values that a forward reads which may not do with NumPy's numbers."""
    readers = [s for s in graph.steps if type(s) is OpNode and ufunc_of(s.op) is None]
    return {id(v) for s in readers for v in s.values if not v.shape}


def is_literal(value):
    """Whether the text of an attribute gives it again."""
    if isinstance(value, (tuple, list)):
        return all(map(is_literal, value))
    return value is None or type(value) in (bool, int, str)
