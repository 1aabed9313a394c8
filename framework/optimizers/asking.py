"""Call those methods of built-in optimizers that Keras's optimizers do not have.

A user-defined subclass may use the same names for other purposes, so these functions call the
built-in methods.
"""

from framework.core.internal_state import ClassRecord, builtin


def is_ours(optimizer):
    """Return whether an optimizer is an instance of `Optimizer`."""
    record = getattr(type(optimizer), "_framework", None)
    return isinstance(record, ClassRecord) and hasattr(record, "protocol")


def scales(optimizer):
    """Return whether an optimizer is a `LossScaleOptimizer`."""
    if is_ours(optimizer):
        return type(optimizer)._framework.scales
    # a user-defined loss-scaling optimizer need not be a subclass of `Optimizer`
    return hasattr(optimizer, "get_scaled_loss")


def inside(optimizer):
    """Return the inner optimizer of a `LossScaleOptimizer`, or any other optimizer unchanged."""
    if is_ours(optimizer):
        return optimizer.inner_optimizer if scales(optimizer) else optimizer
    return getattr(optimizer, "inner_optimizer", optimizer)


def is_several(optimizer):
    """Return whether an optimizer is a `MultiOptimizer`."""
    return is_ours(optimizer) and type(optimizer)._framework.several


def several(optimizer):
    """Return the inner optimizers of a `MultiOptimizer`; [] for any other optimizer."""
    return list(optimizer._framework.inner) if is_several(optimizer) else []


def rules_of(optimizer):
    """Return the group rules of an optimizer, or None."""
    if not is_ours(optimizer):
        return getattr(optimizer, "groups", None)
    return builtin(optimizer).groups.__get__(optimizer)


def bind(optimizer, root):
    """Call the built-in `optimizer.bind(root)`: paths that `groups` match start at `root`."""
    if is_ours(optimizer):
        builtin(optimizer).bind(optimizer, root)
    else:
        optimizer.bind(root)


def group_of(optimizer, variable):
    """Return the built-in `optimizer.group_of(variable)`: what `groups` sets for the variable."""
    return builtin(optimizer).group_of(optimizer, variable)


def scale_rates(optimizer, factor):
    """Call the built-in `optimizer.scale_learning_rate(factor)`."""
    builtin(optimizer).scale_learning_rate(optimizer, factor)


def state_of(optimizer):
    """Return the built-in `optimizer.state_variables`."""
    if not is_ours(optimizer):
        return optimizer.state_variables
    return builtin(optimizer).state_variables.__get__(optimizer)
