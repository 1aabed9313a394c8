"""What the rest of the package asks of an optimizer, whatever a user's class has under its names.

None of this is Keras's: methods and properties of users' classes may be called the same.
"""

from framework.core.own import ClassRecord, builtin


def is_ours(optimizer):
    """Whether it descends from `Optimizer`."""
    facts = getattr(type(optimizer), "_framework", None)
    return isinstance(facts, ClassRecord) and hasattr(facts, "protocol")


def scales(optimizer):
    """Whether it is a `LossScaleOptimizer`."""
    if is_ours(optimizer):
        return type(optimizer)._framework.scales
    return hasattr(optimizer, "get_scaled_loss")  # a user's, from the ground up


def inside(optimizer):
    """The optimizer in a `LossScaleOptimizer`; any other as it is."""
    if is_ours(optimizer):
        return optimizer.inner_optimizer if scales(optimizer) else optimizer
    return getattr(optimizer, "inner_optimizer", optimizer)


def is_several(optimizer):
    """Whether it is a `MultiOptimizer`."""
    return is_ours(optimizer) and type(optimizer)._framework.several


def several(optimizer):
    """The optimizers of a `MultiOptimizer`, none of any other."""
    return list(optimizer._framework.inner) if is_several(optimizer) else []


def rules_of(optimizer):
    """The rules of its groups, or None."""
    if not is_ours(optimizer):
        return getattr(optimizer, "groups", None)
    return builtin(optimizer).groups.__get__(optimizer)


def bind(optimizer, root):
    """`optimizer.bind(root)`."""
    if is_ours(optimizer):
        builtin(optimizer).bind(optimizer, root)
    else:
        optimizer.bind(root)


def group_of(optimizer, variable):
    """`optimizer.group_of(variable)`."""
    return builtin(optimizer).group_of(optimizer, variable)


def scale_rates(optimizer, factor):
    """`optimizer.scale_learning_rate(factor)`."""
    builtin(optimizer).scale_learning_rate(optimizer, factor)


def state_of(optimizer):
    """`optimizer.state_variables`."""
    if not is_ours(optimizer):
        return optimizer.state_variables
    return builtin(optimizer).state_variables.__get__(optimizer)
