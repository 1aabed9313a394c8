"""What a class of optimizers says of its update, told apart from what users call by such names.

`update` and what belongs to it (`slots`, `shared`, `initial`, ...) are no names of Keras. They
count where a class defines `update(self, param, grad, slot, lr, step)`, and only there: what an
instance has under these names, or a class that defines Keras's `update_step`, is the user's own.
"""

import inspect

from framework.core.own import in_package


def protocol_of(cls):
    """The nearest class of the package, or of a user's that defines such an `update`."""
    return next(c for c in cls.__mro__ if in_package(c) or _speaks(c))


def _speaks(cls):
    update = cls.__dict__.get("update")
    if "update_step" in cls.__dict__ or not inspect.isfunction(update):
        return False
    parameters = inspect.signature(update).parameters.values()
    return (
        len([p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]) == 6
    )


def member(optimizer, name):
    """A member of the protocol: a method bound to the optimizer, or a value."""
    protocol = type(optimizer)._framework.protocol
    found = next(c.__dict__[name] for c in protocol.__mro__ if name in c.__dict__)
    bind = getattr(type(found), "__get__", None)
    return found if bind is None else bind(found, optimizer, type(optimizer))
