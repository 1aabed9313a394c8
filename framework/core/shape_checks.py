"""The shapes that a kernel trusts.

Kernels index without bounds: where shapes do not fit together they would read, or write, beyond an
array. So an op whose kernel trusts shapes has a `check`, and its forward begins with that. Plans
call the kernel itself: their shapes are those that were checked when they were recorded.
"""

import functools

from framework.core.errors import ShapeError


def checked(forward, check):
    """`forward`, which begins with `check(*inputs)`; its `.ufunc` is what comes after that.

    Args:
        forward: of an op.
        check: a function that calls `expect`.
    """

    def begun(*inputs, **attributes):
        check(*inputs)
        return forward(*inputs, **attributes)

    functools.update_wrapper(begun, forward)  # rules use the names of the parameters
    begun.ufunc = getattr(forward, "ufunc", forward)
    return begun


def expect(op, name, shape, expected, meaning):
    """An input of an op has the shape that is expected; None stands for any size in both.

    Args:
        op, name: of the op and the input, for the error.
        meaning: what `expected` is, in words.

    Raises:
        ShapeError: it has another one.

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
    """The same for an input that has as many axes, each of which may be of size 1."""
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
