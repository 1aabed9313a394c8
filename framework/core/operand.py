"""What ops take in the place of a tensor."""

from framework.core.operators import Operators


class Operand(Operators):
    """Something that an op is called on and that is no tensor: the op hands its call on to it.

    The doors leave it as it is. A subclass has `shape`, `dtype` and `_op_call(op, args, attrs)`,
    which gives what `op(*args, **attrs)` is.
    """

    __slots__ = ()

    def _op_call(self, op, args, attrs):
        raise NotImplementedError
