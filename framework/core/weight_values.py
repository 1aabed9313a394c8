"""Set the values of a list of variables: all of them, or none if one does not fit."""

import numpy as np

from framework.core.errors import InvalidArgumentError, ShapeError


def set_values(variables, values, kind, name, remedy=""):
    """Assign one value to each variable; if one does not fit, change nothing.

    Args:
        kind, name: the kind and name of the variables' owner, for messages: "layer", "dense".
        remedy: the end of the error message about a wrong number of values.

    Raises:
        ValueError: the number of values or a value's shape is wrong.
    """
    if len(variables) != len(values):
        raise InvalidArgumentError(
            f"You called `set_weights(weights)` on {kind} {name!r} with a weight list of length "
            f"{len(values)}, but the {kind} was expecting {len(variables)} weights.{remedy}"
        )
    for variable, value in zip(variables, values):
        if tuple(variable.shape) != np.shape(value):
            raise ShapeError(
                f"{kind.capitalize()} {name!r}: the weight {variable.name!r}: expected a value of "
                f"shape {tuple(variable.shape)}, got {np.shape(value)}."
            )
    for variable, value in zip(variables, values):
        variable.assign(value)
