"""The two forms in which an update runs: on arrays, or as ops on tensors that a recorder keeps."""

from operator import attrgetter

import numpy as np

from framework.core.cast import cast
from framework.core.tensor import Tensor
from framework.core.variable import CoreVariable
from framework.ops.elementwise import equal


class Arrays:
    """On the variables' own arrays."""

    read = staticmethod(attrgetter("_array"))
    write = staticmethod(CoreVariable.hold)

    @staticmethod
    def count(variable):
        return int(variable._array)

    # Numbers are NumPy's: a product of two takes a fifth of the time of one of 0-d arrays.

    @staticmethod
    def number(value, dtype):
        return dtype.type(value)

    @staticmethod
    def cast(x, dtype):
        return (x if x.dtype is dtype else x.astype(dtype))[()]


class Tensors:
    """As ops: a replay computes all of it from the values that the variables then have."""

    read = count = staticmethod(CoreVariable.read)

    @staticmethod
    def write(variable, value):
        variable.assign(value)

    @staticmethod
    def cast(x, dtype):
        return cast(x, dtype=dtype)

    number = cast


def is_multiple(count, of):
    """Whether a whole number, 0-d, is a multiple of an int; of a tensor, read in Python."""
    return bool(equal(count % of, 0))


def zeros_for(variable, form):
    """Zeros like the variable, in the given form."""
    zeros = np.zeros(variable.array.shape, variable.array.dtype)
    return zeros if form is Arrays else Tensor(zeros)
