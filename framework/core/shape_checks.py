"""Checks of the input shapes of ops whose kernels index without bounds checks.

With inconsistent shapes such a kernel would read or write outside an array. So the op has a
`check`, which its forward calls first. Compiled plans call the kernel directly, because their
shapes were checked during the trace.
"""

import functools

from framework.core.errors import ShapeError


def checked(forward, check):
    """Return a function that calls `check(*inputs)`, then `forward`. Its attribute `ufunc` is
    `forward`.

    Args:
        forward: the forward of an op.
        check: a function that calls `expect`.
    """

    def begun(*inputs, **attributes):
        check(*inputs)
        return forward(*inputs, **attributes)

    # Derivative rules look up the names of the parameters of `forward`.
    functools.update_wrapper(begun, forward)
    begun.ufunc = getattr(forward, "ufunc", forward)
    return begun


def expect(op, name, shape, expected, meaning):
    """Raise ShapeError unless an input of an op has the expected shape; None is any size.

    Args:
        op, name: the names of the op and of the input, for the error.
        meaning: what `expected` is, in words.

    Raises:
        ShapeError: the shapes differ.

    >>> expect("f", "mask", (8, 5), (8, 5), "(batch, steps)")
    >>> expect("f", "mask", (8, 4), (8, 5), "(batch, steps)")
    Traceback (most recent call last):
    framework.core.errors.ShapeError: f: `mask` must have shape (8, 5), (batch, steps); got (8, 4).
    """
    if shape != expected and not _fits(shape, expected, (None,)):
        raise ShapeError(
            f"{op}: `{name}` must have shape {tuple(expected)}, {meaning}; got {tuple(shape)}."
        )


def expect_broadcast(op, name, shape, expected, meaning):
    """Raise ShapeError as `expect` does, but allow size 1 for each axis."""
    if shape != expected and not _fits(shape, expected, (None, 1)):
        raise ShapeError(
            f"{op}: `{name}` must broadcast to {tuple(expected)}, {meaning}; got {tuple(shape)}."
        )


def _fits(shape, expected, free):
    if len(shape) != len(expected):
        return False
    for a, b in zip(shape, expected):  # noqa: SIM110 (a generator takes twice as long)
        if a != b and a not in free and b is not None:
            return False
    return True


def concat_misfit(xs, axis):
    """Return the error of tensors that cannot be concatenated, in TensorFlow's wording."""
    beside = [[n for i, n in enumerate(x.shape) if i != axis] for x in xs]
    number = next(i for i, sizes in enumerate(beside) if sizes != beside[0])
    pair = f"shape[0] = {list(xs[0].shape)} vs. shape[{number}] = {list(xs[number].shape)}"
    if xs[number].ndim != xs[0].ndim:
        return ShapeError(f"concat: Ranks of all input tensors should match: {pair}.")
    sizes = zip(xs[0].shape, xs[number].shape)
    wrong = next(i for i, (m, n) in enumerate(sizes) if m != n and i != axis)
    return ShapeError(f"concat: Dimension {wrong} in both shapes must be equal: {pair}.")
