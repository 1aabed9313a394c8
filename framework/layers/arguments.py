"""Check a layer's arguments: names, shapes of inputs and weights."""

from typing import Annotated

from framework.core import random
from framework.core.auto_names import _given as used_names
from framework.core.auto_names import auto_name
from framework.core.configurable import Resolved, fields_of
from framework.core.errors import InvalidArgumentError, ShapeError
from framework.core.program_settings import data_format_of

DataFormat = Annotated[str | None, Resolved("'channels_last' or 'channels_first'", data_format_of)]
"""The type of fields for the order of axes; None means keras.config.image_data_format()."""


def take_input_shape(layer, kwargs):
    """Pop Keras's older shape arguments (`input_shape`, ...) from `kwargs`; store the shape."""
    batch = kwargs.pop("batch_size", None) if "batch_size" not in fields_of(type(layer)) else None
    if kwargs.get("batch_input_shape") is not None:
        batch, *shape = kwargs.pop("batch_input_shape")
    elif kwargs.get("input_dim") is not None and "input_dim" not in fields_of(type(layer)):
        shape = (kwargs.pop("input_dim"),)
    elif kwargs.get("input_shape") is not None and "input_shape" not in fields_of(type(layer)):
        shape = kwargs.pop("input_shape")
    else:
        return
    layer._framework.input_shape_arg = (batch, *((shape,) if isinstance(shape, int) else shape))


def checked_name(name, cls):
    if name is None:
        return auto_name(cls.__name__)
    if not isinstance(name, str) or "/" in name:
        raise InvalidArgumentError(
            f"{cls.__name__}: name must be a string without '/', got {name!r}."
        )
    return name


def checked_shape(layer, shape, name):
    shape = () if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n is None for n in shape):
        raise ShapeError(
            f"add_weight: the shape of {name or 'a weight'!r} of layer {layer.name!r} must be "
            f"fully known, got {shape}. Specify the size of the inputs' last axis."
        )
    return tuple(int(n) for n in shape)


class undisturbed:
    """A context manager that restores the automatic names and global random state at exit."""

    def __enter__(self):
        self._generator = random.global_generator()
        self._state, self._names = self._generator.state.array, dict(used_names)

    def __exit__(self, *_):
        self._generator.state._array = self._state
        used_names.clear()
        used_names.update(self._names)
