"""RepeatableFunction: a function with its random draws and assignments undone after each call."""

import numpy as np

from framework.core import dtypes, nest, recorders
from framework.core.recorders import Recorder
from framework.core.tensor import Tensor


class RepeatableFunction(Recorder):
    """`fn` with its variables and random counters restored after each call.

    Args:
        fn: a function.
        args: arguments of a first call, which finds the variables that `fn` reads.
        variables: the variables to check; None: the trainable variables that `fn` reads.

    Attributes:
        variables: the floating ones among the variables to check.
        coarsest: the least precise floating dtype of the arguments and of casts in `fn`.
    """

    def __init__(self, fn, args, variables=None):
        self._fn = fn
        self._touched = {}  # serial of a variable -> (variable, its array before the change)
        self._read = {}
        self(args)
        variables = self._read.values() if variables is None else variables
        self.variables = [v for v in variables if v.array.dtype.kind == "f"]

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
        inputs = [_width(a) for a in args if type(a) is Tensor]
        results = [_width(o) for o in outputs]
        if max(results, default=0) and max(results) < max(inputs, default=0):
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
            # This draw has already incremented the counter, so restore the value that it had
            # before.
            seed, number = state.array.tolist()
            self._touched[state.serial] = state, np.array([seed, number - 1], state.array.dtype)


class in_double:
    """Context manager in which variables are float64, and Python floats convert to float64."""

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
    """Return the bytes per element of a floating tensor, 0 for other dtypes."""
    dtype = tensor.array.dtype
    return dtype.itemsize if dtype.kind == "f" else 0
