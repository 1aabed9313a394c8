"""Conversion of TensorFlow's window arguments (strides, padding, ...) to the form that ops take."""

import numpy as np

from framework.core.errors import InvalidArgumentError, ShapeError
from framework.kernels.windows import output_sizes
from framework.ops import movement

_FORMATS = {"NWC": 1, "NCW": 1, "NHWC": 2, "NCHW": 2, "NDHWC": 3, "NCDHW": 3}


def channels_first(data_format, n, what):
    """Return whether the channels come before the `n` spatial axes."""
    if data_format is None:
        return False
    if _FORMATS.get(data_format) != n:
        known = [name for name, axes in _FORMATS.items() if axes == n]
        raise InvalidArgumentError(
            f"{what}: `data_format` must be one of {known} for {n} spatial axes, got "
            f"{data_format!r}."
        )
    return data_format[1] == "C"


def per_axis(value, n, first, what, name):
    """Return one int for each of `n` spatial axes from an int or a list of 1, n or n + 2 ints.

    In a list of n + 2 ints, those for the batch and the channels must be 1.
    """
    values = np.atleast_1d(np.asarray(value)).tolist()
    if len(values) == 1:
        values *= n
    elif len(values) == n + 2:
        channel = 1 if first else n + 1
        if values[0] != 1 or values[channel] != 1:
            raise InvalidArgumentError(
                f"{what}: `{name}` must be 1 for the batch and the channels, got {value}."
            )
        values = values[2:] if first else values[1:-1]
    if len(values) != n or min(values) < 1:
        raise InvalidArgumentError(
            f"{what}: `{name}` must be an int, or 1, {n} or {n + 2} ints, each at least 1; got "
            f"{value}."
        )
    return tuple(values)


def amounts(padding, n, first, what):
    """Convert `padding` to "SAME" or to pairs ((before, after), ...) of the spatial axes.

    Args:
        padding: "SAME", "VALID", or a pair for each axis, (0, 0) for batch and channels.
    """
    if isinstance(padding, str):
        if padding.upper() == "SAME":
            return "SAME"
        if padding.upper() == "VALID":
            return ((0, 0),) * n
    else:
        pairs = [tuple(int(p) for p in pair) for pair in padding]
        channel = 1 if first else n + 1
        fits = len(pairs) == n + 2 and all(len(p) == 2 and min(p) >= 0 for p in pairs)
        if fits and not any(pairs[0]) and not any(pairs[channel]):
            return tuple(pairs[2:] if first else pairs[1:-1])
    raise InvalidArgumentError(
        f"{what}: `padding` must be 'SAME', 'VALID' or {n + 2} pairs (before, after), (0, 0) for "
        f"the batch and the channels; got {padding!r}."
    )


def check_room(spatial, size, strides, padding, dilations, what):
    """Raise ShapeError if a window is larger than the padded spatial axis."""
    places = output_sizes(spatial, size, strides, padding, dilations)
    for axis, (n, place) in enumerate(zip(spatial, places)):
        if place == 0 and n:
            reach = (size[axis] - 1) * dilations[axis] + 1
            raise ShapeError(
                f"{what}: a window of extent {reach} does not fit into spatial axis {axis} of size "
                f"{n} with padding {padding[axis]}; use padding='SAME' or a smaller window."
            )
    return places


def last(x, first):
    """Return `x` with its channels last; `first` tells that they come first."""
    return movement.transpose(x, perm=(0, *range(2, x.ndim), 1)) if first else x


def restored(y, first):
    """Convert `y` from channels last back to the caller's layout; the inverse of `last`."""
    return movement.transpose(y, perm=(0, y.ndim - 1, *range(1, y.ndim - 1))) if first else y


def one_batch_axis(x, n, what):
    """Merge the leading batch axes of `x`, one or more; return `x` and their sizes."""
    lead = x.ndim - n - 1
    if lead < 1:
        raise ShapeError(
            f"{what}: `input` must have shape (batch, {n} spatial axes, channels), got {x.shape}."
        )
    if lead == 1:
        return x, (x.shape[0],)
    batch = tuple(x.shape[:lead])
    return movement.reshape(x, shape=(-1, *x.shape[lead:])), batch


def several_batch_axes(y, batch):
    """Split the leading axis of `y` into the axes that `one_batch_axis` merged."""
    return y if len(batch) == 1 else movement.reshape(y, shape=free((*batch, *y.shape[1:])))


def free(shape):
    """Return the shape with -1 for an unknown size, as `reshape` expects it."""
    return tuple(-1 if n is None else n for n in shape)
