"""Einstein summation, composed of differentiable ops: transpose, reshape and matmul."""

import functools
import math
import string

import numpy as np

from framework.core.errors import InvalidArgumentError, ShapeError
from framework.ops.contraction import matmul
from framework.ops.movement import broadcast_to, getitem, reshape, transpose
from framework.ops.reduction import reduce_sum


def einsum(equation, *operands):
    """Return the sum of products that `equation` describes in NumPy's notation.

    Args:
        equation: such as "ij,jk->ik"; "..." stands for axes that broadcast. A letter repeated in
            an operand selects a diagonal. Without "->" the result has the letters that occur once,
            sorted. A letter has one size: unlike in NumPy, size 1 does not broadcast.

    Raises:
        InvalidArgumentError: the equation is malformed or does not fit the operands.
        ShapeError: a letter stands for two different sizes.

    >>> import numpy as np
    >>> einsum("ij,j->i", np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    inputs, output = _parsed(equation.replace(" ", ""), tuple(len(x.shape) for x in operands))
    terms = [_simplified(x, labels, equation) for x, labels in zip(operands, inputs, strict=True)]
    for pair in _order(terms, output):
        rest = [t for i, t in enumerate(terms) if i not in pair]
        kept = set(output).union(*(labels for _, labels in rest))
        terms = [*rest, _contracted(*(terms[i] for i in pair), kept, equation)]
    ((x, labels),) = terms
    x, labels = _summed(x, labels, set(output))
    return transpose(x, perm=tuple(labels.index(c) for c in output))


@functools.lru_cache(maxsize=256)
def _parsed(equation, ranks):
    """Return the labels of each operand and of the result; digits stand for the axes of "..."."""
    sides = equation.split("->")
    inputs = sides[0].split(",")
    if len(sides) > 2 or len(inputs) != len(ranks):
        raise InvalidArgumentError(
            f"einsum: {equation!r} names {len(inputs)} operands, got {len(ranks)}."
        )
    spare = [rank - len(labels.replace("...", "")) for labels, rank in zip(inputs, ranks)]
    wide = max((n for n, labels in zip(spare, inputs) if "..." in labels), default=0)
    dots = string.digits[:wide]
    for labels, n in zip(inputs, spare):
        if n < 0 or (n and "..." not in labels):
            raise InvalidArgumentError(
                f"einsum: {labels!r} in {equation!r} does not fit an operand of rank "
                f"{n + len(labels.replace('...', ''))}."
            )
    inputs = [labels.replace("...", dots[wide - n :]) for labels, n in zip(inputs, spare)]
    every = "".join(inputs)
    if len(sides) == 2:
        output = sides[1].replace("...", dots)
        if wide and "..." not in sides[1]:
            raise InvalidArgumentError(
                f"einsum: the result in {equation!r} lacks '...', which stands for {wide} axes of "
                "the operands. To sum over these axes, name them by letters."
            )
    else:
        output = dots + "".join(sorted(c for c in set(every) - set(dots) if every.count(c) == 1))
    if not set(every) <= set(string.ascii_letters + dots):
        raise InvalidArgumentError(
            f"einsum: expected letters, commas, '->' and '...', got {equation!r}."
        )
    if len(set(output)) < len(output) or not set(output) <= set(every):
        raise InvalidArgumentError(
            f"einsum: in {equation!r} each letter of the result must occur once in the result and "
            "in an operand."
        )
    return inputs, output


def _simplified(x, labels, equation):
    """Return an operand of einsum with distinct labels: repeated labels select a diagonal."""
    for c in sorted(set(labels)):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            if x.shape[i] != x.shape[j]:
                _refuse(equation, c, x.shape[i], x.shape[j])
            others = [k for k in range(len(labels)) if k not in (i, j)]
            along = np.arange(x.shape[i])
            x = getitem(transpose(x, perm=(i, j, *others)), index=(along, along))
            labels = c + "".join(labels[k] for k in others)
    return x, labels


def _refuse(equation, label, m, n):
    wide = label in string.digits
    raise ShapeError(
        f"einsum: {'...' if wide else label!r} in {equation!r} has the sizes {m} and {n}"
        + ("." if wide or 1 not in (m, n) else "; only the axes of '...' broadcast.")
    )


def _order(terms, output):
    """Return the pairs of operands to multiply, in the order found by NumPy's greedy search."""
    if len(terms) < 3 or any(None in x.shape for x, _ in terms):
        return [(0, 1)] * (len(terms) - 1)
    letters = dict(zip(dict.fromkeys("".join(t[1] for t in terms)), string.ascii_letters))
    subscripts = ",".join("".join(letters[c] for c in labels) for _, labels in terms)
    result = "".join(letters[c] for c in output)
    dummies = [np.broadcast_to(0.0, x.shape) for x, _ in terms]
    path, _ = np.einsum_path(f"{subscripts}->{result}", *dummies, optimize=("greedy", 2**62))
    return [pair for step in path[1:] for pair in _pairs(step)]


def _pairs(step):
    return [step] if len(step) == 2 else [(0, 1)] * (len(step) - 1)


def _summed(x, labels, kept):
    axes = tuple(i for i, c in enumerate(labels) if c not in kept)
    if not axes:
        return x, labels
    return reduce_sum(x, axis=axes, keepdims=False), "".join(c for c in labels if c in kept)


def _contracted(a, b, kept, equation):
    """Multiply two operands by one matrix product; sum over labels that occur nowhere else."""
    (x, of_x), (y, of_y) = (_summed(*t, kept | set(u)) for t, u in ((a, b[1]), (b, a[1])))
    shared = [c for c in of_x if c in of_y]
    sizes = {c: _size(equation, c, x.shape[of_x.index(c)], y.shape[of_y.index(c)]) for c in shared}
    batch = [c for c in shared if c in kept]
    inner = [c for c in shared if c not in kept]
    rows = [c for c in of_x if c not in of_y]
    columns = [c for c in of_y if c not in of_x]
    x, y = _spread(x, of_x, inner, sizes), _spread(y, of_y, inner, sizes)
    shape_x, shape_y = dict(zip(of_x, x.shape)), dict(zip(of_y, y.shape))
    left = _matrices(x, of_x, batch, rows, inner)
    right = _matrices(y, of_y, batch, inner, columns)
    product = matmul(left, right)
    shape = [sizes[c] for c in batch] + [shape_x[c] for c in rows] + [shape_y[c] for c in columns]
    return reshape(product, shape=tuple(shape)), "".join(batch + rows + columns)


def _size(equation, label, m, n):
    if m != n and None not in (m, n) and (1 not in (m, n) or label not in string.digits):
        _refuse(equation, label, m, n)
    return n if m == 1 else m


def _spread(x, labels, inner, sizes):
    """Broadcast axes of size 1 whose label is summed, if the other operand's size is larger."""
    shape = tuple(sizes[c] if c in inner else n for c, n in zip(labels, x.shape))
    return x if shape == tuple(x.shape) else broadcast_to(x, shape=shape)


def _matrices(x, labels, batch, first, second):
    """Return `x` as a batch of matrices with the axes `first` as rows, `second` as columns."""
    size = dict(zip(labels, x.shape))
    moved = transpose(x, perm=tuple(labels.index(c) for c in (*batch, *first, *second)))
    flat = [_product([size[c] for c in group]) for group in (first, second)]
    return reshape(moved, shape=(*(size[c] for c in batch), *flat))


def _product(sizes):
    return None if None in sizes else math.prod(sizes)
