"""Operand and WeakNumber: base classes of objects that ops accept instead of tensors."""

from framework.core.operator_types import Operators


class Operand(Operators):
    """An input of an op that is not a Tensor; the op delegates its call to the operand.

    Conversion to a tensor returns an operand unchanged. A subclass has `shape`, `dtype` and
    `_op_call(op, args, attrs)`, which returns the result of `op(*args, **attrs)`.
    """

    __slots__ = ()

    def _op_call(self, op, args, attrs):
        raise NotImplementedError


class WeakNumber:
    """A symbolic Python number in a trace. Combined with a tensor, it adopts the tensor's dtype.

    Conversion to a tensor treats it as a number of the Python type that `__class__` returns.
    """

    __slots__ = ()

    def _read(self):
        """Return the number's value; the trace is then valid for this value only."""
        raise NotImplementedError

    def _adopted(self, dtype):
        """Return the number as a 0-d tensor of `dtype`, or None if it may not fit `dtype`."""
        raise NotImplementedError
