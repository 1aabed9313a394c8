"""Repeat: a function that does the same at each call, whatever it draws and assigns."""

import numpy as np

from framework.core import dtypes, nest, recorders
from framework.core.recorders import Recorder
from framework.core.tensor import Tensor


class Repeat(Recorder):
    """`fn` with its variables and random counters put back after each call.

    Args:
        fn: a function.
        args: with which it is called once, to see what it reads.
        variables: those to take; where None, the trainable ones that it reads.

    Attributes:
        variables: the floating ones of these.
        coarsest: the least precise floating dtype that it was given or went down to.
    """

    def __init__(self, fn, args, variables=None):
        self._fn = fn
        self._touched = {}  # serial -> (variable, its array before)
        self._read = {}
        self(args)
        found = self._read.values() if variables is None else variables
        self.variables = [v for v in found if v.array.dtype.kind == "f"]

    def __call__(self, args):
        self._touched = {}
        floats = [a.array.dtype for a in nest.flatten(args) if type(a) is Tensor and _width(a)]
        self.coarsest = min(floats, default=np.dtype(np.float64), key=lambda d: d.itemsize)
        recorders.push(self)
        try:
            return self._fn(*args)
        finally:
            recorders.remove(self)
            for variable, array in self._touched.values():
                variable._array = array

    def op(self, op, args, attrs, outputs, saved):
        coming = [_width(a) for a in args if type(a) is Tensor]
        going = [_width(o) for o in outputs]
        if max(going, default=0) and max(going) < max(coming, default=0):
            narrow = min(outputs, key=lambda o: _width(o) or 99).array.dtype
            self.coarsest = min(self.coarsest, narrow, key=lambda d: d.itemsize)

    def variable_read(self, variable, tensor):
        if variable.trainable:
            self._read.setdefault(variable.serial, variable)

    def variable_assigned(self, variable, value):
        self._touched.setdefault(variable.serial, (variable, variable.array))

    def random_draw(self, draw, tensor):
        state = getattr(draw.source, "state", None)
        if state is not None and state.serial not in self._touched:
            seed, number = state.array.tolist()  # the counter has moved on by one
            self._touched[state.serial] = state, np.array([seed, number - 1], state.array.dtype)


class in_double:
    """Context in which variables, and what Python floats become, are float64."""

    def __init__(self, variables):
        self._variables = variables

    def __enter__(self):
        self._arrays = [(v, v.array) for v in self._variables]
        self._defaults = dtypes.set_defaults(floatx="float64", python_float="float64")
        for variable, array in self._arrays:
            variable._array = array.astype(np.float64)

    def __exit__(self, *_):
        dtypes.set_defaults(**self._defaults)
        for variable, array in self._arrays:
            variable._array = array


def _width(tensor):
    """Bytes of a floating element, else 0."""
    dtype = tensor.array.dtype
    return dtype.itemsize if dtype.kind == "f" else 0
