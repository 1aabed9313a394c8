"""Values that wait for variables which do not exist yet, such as those of an unbuilt layer.

A restored checkpoint adds itself to `waiting`. Code that creates variables calls `fill` afterwards.
"""

waiting = []
"""The restorations that still have values: objects with a method `fill()`."""


def fill():
    """Assign the waiting values to new variables."""
    for restoration in waiting.copy():
        restoration.fill()
