"""Gather rows of an array and apply a chain of +, -, * and / with constants, in one pass.

For `cast(x, "float32") / 255.0` of random uint8 rows, NumPy needs three passes; with 64 rows of 784
elements one pass takes a third of the time. Without Numba, the caller uses NumPy.
"""

import math

import numpy as np

from framework.kernels.deferred import Deferred

_kernel = Deferred("row_chains", 1 << 25)
ADD, MULTIPLY, DIVIDE, DIVIDE_INTO, QUOTIENT = range(5)
DTYPES = (np.dtype(np.uint8), np.dtype(np.float32))


def steps_of(name, number, number_first):
    """Return [(code, constant), ...] for an op with a constant operand; None for other ops."""
    if name == "subtract":  # x - n is bitwise equal to x + (-n), and n - x to -x + n
        return [(MULTIPLY, -1.0), (ADD, number)] if number_first else [(ADD, -number)]
    if name == "divide":
        return [(DIVIDE_INTO if number_first else DIVIDE, number)]
    code = {"add": ADD, "multiply": MULTIPLY}.get(name)
    return None if code is None else [(code, number)]


class RowChain:
    """A function that gathers rows as float32, and applies operations with constants.

    Args:
        steps: the lists that `steps_of` returns for the operations, joined in order.
        shape: the shape of a row of the result; it has as many elements as a row of the array.
    """

    def __init__(self, steps, shape):
        self._shape, self._size = tuple(shape), math.prod(shape)
        # Without operations, multiply by 1, which changes no bits.
        self._codes = np.array([code for code, _ in steps] or [MULTIPLY], np.int8)
        # Ignore the warning for a constant that becomes infinite in float32.
        with np.errstate(over="ignore"):
            self._values = np.array([number for _, number in steps] or [1], np.float32)

    def bound(self, array):
        """Return a function from row indices to rows of `array`; it returns None without Numba.

        The array must be in C order, and the indices in range: the kernel does not check them.
        """
        flat = array.reshape(len(array), self._size)
        # To Numba, read-only arrays have another type: compile the kernel for this type only.
        flat.flags.writeable = False
        codes, values, shape, size = self._codes, self._values, self._shape, self._size
        low = None

        def read(numbers):
            nonlocal codes, values, low
            count = len(numbers)
            fast = _kernel.library(count * size)
            if fast is None:
                return None
            if low is None:
                codes, values, low = _with_reciprocal(codes, values, array.dtype, fast)
            if type(numbers) is range:
                numbers = np.arange(numbers.start, numbers.stop, numbers.step, dtype=np.intp)
            out = np.empty((count, *shape), np.float32)
            fast.gather(flat, numbers, codes, values, low, out.reshape(count, size))
            return out

        return read


_NONE = np.float32(0)


def _with_reciprocal(codes, values, dtype, fast):
    """Return (codes, values, low); an initial division of uint8 is replaced by a product.

    With the reciprocal as the sum of two floats, x * high + x * low, rounded once, equals x /
    divisor bitwise for most divisors, which is checked for all 256 values of x. It takes a third of
    the time of a division.
    """
    if codes[0] != DIVIDE or dtype != np.uint8 or not fast.FUSED:
        return codes, values, _NONE
    with np.errstate(all="ignore"):
        high = np.float32(1) / values[0]
        low = np.float32(1 / np.float64(values[0]) - np.float64(high))
        expected = np.arange(256, dtype=np.float32) / values[0]
    every, found = np.arange(256, dtype=np.uint8)[None], np.empty((1, 256), np.float32)
    every.flags.writeable = False
    code, factor = np.full(1, QUOTIENT, np.int8), np.full(1, high)
    fast.gather(every, np.zeros(1, np.intp), code, factor, low, found)
    if found.tobytes() != expected.tobytes():
        return codes, values, _NONE
    return np.append(code, codes[1:]), np.append(factor, values[1:]), low
