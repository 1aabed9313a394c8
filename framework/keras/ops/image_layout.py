"""Checks of arguments of keras.ops.image, and images in both data formats."""

from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.program_settings import data_format_of
from framework.ops.movement import reshape, transpose


def is_first(data_format, what):
    """Return whether the channels come before the spatial axes."""
    return data_format_of(data_format, f"{what}: ") == "channels_first"


def one_of(value, allowed, argument, what):
    """Raise an error unless `value` is one of the allowed values."""
    if value not in allowed:
        raise InvalidArgumentError(
            f"{what}: `{argument}` must be one of {', '.join(map(repr, allowed))}, got {value!r}."
        )


def images_of(images, what, argument="images"):
    """Convert `images` to a tensor of rank 3, one image, or 4, a batch."""
    x = tensor(images)
    if x.ndim not in (3, 4):
        raise ShapeError(
            f"{what}: `{argument}` must have rank 3 (one image) or 4 (a batch of images), got "
            f"shape {tuple(x.shape)}."
        )
    return x


class ImageLayout:
    """The layout of images: a batch or one image, the channels first or last.

    Args:
        x: a tensor of rank 3 or 4.
        first: whether the channels come before the spatial axes.
    """

    def __init__(self, x, first):
        self.single, self.first = x.ndim == 3, first

    def batch(self, x):
        """Return `x` as (batch, height, width, channels)."""
        x = reshape(x, shape=(1, *x.shape)) if self.single else x
        return transpose(x, perm=(0, 2, 3, 1)) if self.first else x

    def restored(self, y):
        """Return a (batch, height, width, channels, ...) tensor in the layout of the images."""
        if self.first:
            y = transpose(y, perm=(0, 3, 1, 2, *range(4, y.ndim)))
        return reshape(y, shape=tuple(y.shape[1:])) if self.single else y
