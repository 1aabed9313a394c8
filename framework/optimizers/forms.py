"""The two forms of an update: on arrays, or as recorded ops on tensors."""

from operator import attrgetter

import numpy as np

from framework.core.cast import cast
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.elementwise import equal


class Arrays:
    """The form of updates that read and write the variables' arrays directly."""

    read = staticmethod(attrgetter("_array"))
    write = staticmethod(CoreVariable.hold)

    @staticmethod
    def count(variable):
        return int(variable._array)

    # Rates and steps are NumPy scalars, because a product with a scalar takes a fifth of the time
    # of a product with a 0-d array.

    @staticmethod
    def number(value, dtype):
        return dtype.type(value)

    @staticmethod
    def cast(x, dtype):
        return (x if x.dtype is dtype else x.astype(dtype))[()]


class Tensors:
    """The form of updates that run ops on tensors, so that a trace can record them."""

    read = count = staticmethod(CoreVariable.read)

    @staticmethod
    def write(variable, value):
        variable.assign(value)

    @staticmethod
    def cast(x, dtype):
        return cast(x, dtype=dtype)

    number = cast


def is_multiple(count, of):
    """Return whether a 0-d integer is a multiple of `of`, as a bool even for a tensor."""
    return bool(equal(count % of, 0))


def zeros_for(variable, form):
    """Return zeros like the variable: an array or a tensor according to `form`."""
    zeros = np.zeros(variable.array.shape, variable.array.dtype)
    return zeros if form is Arrays else Tensor(zeros)
