"""Operand and WeakNumber: base classes of objects that ops accept instead of tensors."""

from framework.core.operators import Operators


class Operand(Operators):
    """Something that an op is called on and that is no tensor: the op hands its call on to it.

    The doors leave it as it is. A subclass has `shape`, `dtype` and `_op_call(op, args, attrs)`,
    which gives what `op(*args, **attrs)` is.
    """

    __slots__ = ()

    def _op_call(self, op, args, attrs):
        raise NotImplementedError


class WeakNumber:
    """A Python number that a recording leaves open: beside tensors it takes on their dtype.

    The doors treat it as the number that it stands for; `__class__` is that number's.
    """

    __slots__ = ()

    def _read(self):
        """The plain number; the recording holds for this one only then."""
        raise NotImplementedError

    def _adopted(self, dtype):
        """Return the number as a 0-d tensor of the DType, or None if it may not fit."""
        raise NotImplementedError
