"""The update protocol of optimizer classes, which must not collide with users' own names.

`update` and its companions (`slots`, `shared`, `initial`, ...) are not names of Keras. They belong
to the protocol only in a class that defines `update(self, param, grad, slot, lr, step)`. On an
instance, or in a class that defines Keras's `update_step`, the same names belong to the user.
"""

import inspect

from framework.core.internal_state import in_package


def protocol_of(cls):
    """Return the first class of the MRO that is built-in or defines the protocol's `update`."""
    return next(c for c in cls.__mro__ if in_package(c) or _defines_update(c))


def _defines_update(cls):
    update = cls.__dict__.get("update")
    if "update_step" in cls.__dict__ or not inspect.isfunction(update):
        return False
    parameters = inspect.signature(update).parameters.values()
    return (
        len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) == 6
    )


def member(optimizer, name):
    """Return a member of the protocol: a method bound to the optimizer, or a value."""
    value = _declared(optimizer, name)
    bind = getattr(type(value), "__get__", None)
    return value if bind is None else bind(value, optimizer, type(optimizer))


def blocks_of(optimizer):
    """Return tuples of slot names; as in Keras, a tuple's slots are created and saved together."""
    slots = _declared(optimizer, "slots")
    return slots.blocks(optimizer) if type(slots) is Slots else [member(optimizer, "slots")]


def _declared(optimizer, name):
    protocol = type(optimizer)._framework.protocol
    return next(c.__dict__[name] for c in protocol.__mro__ if name in c.__dict__)


class Slots:
    """The names of an optimizer's slots, where some depend on its fields.

    `Slots("momentum", "velocity").when("amsgrad", "velocity_hat")` has a third slot if the field
    `amsgrad` is set. As in Keras, the slots of one condition are created for all variables before
    those of the next.
    """

    def __init__(self, *names):
        self._blocks = [(None, names)]

    def when(self, field, *names):
        """Add slots that the optimizer has if a field is set."""
        self._blocks.append((field, names))
        return self

    def blocks(self, optimizer):
        """Return a list with a tuple of slot names for each condition that holds."""
        return [n for field, n in self._blocks if field is None or getattr(optimizer, field)]

    def __get__(self, optimizer, owner=None):
        if optimizer is None:
            return self
        return tuple(name for block in self.blocks(optimizer) for name in block)
