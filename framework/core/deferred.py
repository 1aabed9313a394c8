"""Restored values whose variables do not exist yet, such as the weights of an unbuilt layer.

A restored checkpoint adds itself to `waiting`. Code that creates variables calls `fill` afterwards.
"""

waiting = []
"""Restored checkpoints with values for variables that do not exist yet; each has a `fill()`."""


def fill():
    """Assign the values of the checkpoints in `waiting` to the variables that now exist."""
    for restoration in waiting.copy():
        restoration.fill()
