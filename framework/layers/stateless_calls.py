"""Call a layer with given values of its variables; the variables do not change."""

from framework.core.errors import InvalidArgumentError
from framework.core.stateless import StatelessScope, values_after


def stateless_call(layer, trainable, non_trainable, args, kwargs, return_losses):
    """Return (outputs, new non-trainable values), and the losses if `return_losses`."""
    if not layer.built:
        raise InvalidArgumentError(
            f"To call stateless_call, {type(layer).__name__} must be built (i.e. its variables "
            "must have been already created). You can build it by calling it on some data."
        )
    mapping = mapped(layer, trainable, non_trainable)
    with StatelessScope(mapping, collect_losses=return_losses) as scope:
        outputs = layer(*args, **kwargs)
        losses = layer.losses if return_losses else None
    after = values_after(scope, layer.non_trainable_variables)
    return (outputs, after, losses) if return_losses else (outputs, after)


def mapped(layer, trainable, non_trainable):
    """Return pairs of the layer's variables and their values.

    Raises:
        ValueError: the number of values differs from the number of variables.
    """
    pairs = []
    for name, values in (
        ("trainable_variables", list(trainable)),
        ("non_trainable_variables", list(non_trainable)),
    ):
        variables = getattr(layer, name)
        if len(values) != len(variables):
            raise InvalidArgumentError(
                f"Argument `{name}` must be a list of tensors corresponding 1:1 to "
                f"{type(layer).__name__}().{name}. Received list with length {len(values)}, but "
                f"expected {len(variables)} variables."
            )
        pairs += zip(variables, values)
    return pairs
