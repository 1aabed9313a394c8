"""Common code of tf.image: images of rank 3 or 4, and conversion between dtypes."""

from framework.core import dtypes
from framework.core.cast import cast
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.ops.casting import saturate_cast
from framework.ops.elementwise import floor_divide, multiply


def images_of(image, what, name="image"):
    """Convert images to a tensor (height, width, channels) or (batch, height, width, channels)."""
    x = tensor(image)
    if x.ndim not in (3, 4):
        raise ShapeError(
            f"{what}: `{name}` must have rank 3 (one image) or 4 (a batch of images), got shape "
            f"{tuple(x.shape)}."
        )
    if 0 in x.shape[-3:]:
        raise ShapeError(
            f"{what}: `{name}` must not have axes of size 0, got shape {tuple(x.shape)}."
        )
    return x


def axes_of(x):
    """Return the axes of height and width."""
    return x.ndim - 3, x.ndim - 2


def positive(value, what, name):
    """Return `value` as an int; raise an error if it is below 1."""
    value = int(value)
    if value < 1:
        raise InvalidArgumentError(f"{what}: `{name}` must be positive, got {value}.")
    return value


def converted(x, dtype, saturate=False):
    """Convert an image to another DType: floats are from 0 to 1, integers up to their maximum."""
    to = saturate_cast if saturate else _cast
    if x.dtype == dtype:
        return x
    if x.dtype.is_floating and dtype.is_floating:
        return _cast(x, dtype)
    if x.dtype.is_floating:
        return to(multiply(x, x.dtype.np.type(int(dtype.max) + 0.5)), dtype)
    if dtype.is_floating:
        return multiply(_cast(x, dtype), dtype.np.type(1 / int(x.dtype.max)))
    own, new = int(x.dtype.max) + 1, int(dtype.max) + 1
    if own > new:
        return to(floor_divide(x, x.dtype.np.type(own // new)), dtype)
    return multiply(to(x, dtype), dtype.np.type(new // own))


def _cast(x, dtype):
    return cast(x, dtype=dtype.np)


def in_floats(x, change, saturate=True):
    """Apply `change` to `x` as floats, and convert back; integers and float64 become float32."""
    floats = x if x.dtype in ("float16", "float32") else converted(x, dtypes.float32)
    return converted(change(floats), x.dtype, saturate)
