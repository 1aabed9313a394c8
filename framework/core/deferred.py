"""Values that wait for variables which do not exist yet, such as those of an unbuilt layer.

A restored checkpoint adds itself to `waiting`. Code that creates variables calls `fill` afterwards.
"""

waiting = []
"""Restored checkpoints with values for variables that do not exist yet; each has a `fill()`."""


def fill():
    """Assign the values in `waiting` to variables that have been created since."""
    for restoration in waiting.copy():
        restoration.fill()
