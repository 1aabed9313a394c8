"""Messages about public names of Keras and TensorFlow that the package leaves out.

The file `left_out.txt` lists the names. It is read when a name is missing, not at import.
"""

from functools import cache
from typing import NamedTuple


class LeftOut(NamedTuple):
    """A public name that is left out, the reason, and what to use instead."""

    name: str
    reason: str
    instead: str


def why_left_out(namespace, name):
    """Return the reason why a namespace of the package leaves a name out; None if it has no entry.

    Args:
        namespace: the `__name__` of a module of the package.
        name: the missing name.

    >>> why_left_out("framework.keras", "quantizers")[:52]
    'keras.quantizers is in Keras, not in framework, beca'
    """
    full = f"{_reference(namespace)}.{name}"
    found = entries().get(full) or _below(full)
    if found is None:
        return None
    home = "Keras" if full.startswith("keras.") else "TensorFlow"
    return (
        f"{full} is in {home}, not in framework, because {found.reason}; instead: {found.instead}"
    )


@cache
def entries():
    """Return {name: LeftOut} of the names in `left_out.txt`, in the order of their lines."""
    from pathlib import Path

    loader = globals()["__spec__"].loader
    text = loader.get_data(str(Path(__file__).with_suffix(".txt"))).decode()
    found, reason = {}, None
    for line in text.splitlines():
        if line.startswith("because "):
            reason = line.removeprefix("because ")
        elif line and not line.startswith("#"):
            names, _, instead = line.partition(": ")
            found.update({name: LeftOut(name, reason, instead) for name in names.split()})
    return found


def _reference(namespace):
    """Return the namespace of Keras or TensorFlow that corresponds to a namespace of the
    package."""
    _, _, inner = namespace.partition(".")
    return inner if inner.split(".")[0] == "keras" else ".".join(filter(None, ("tf", inner)))


def _below(namespace):
    """Return the entry that applies to all names of a namespace, or None if there is none."""
    below = [entry for name, entry in entries().items() if name.startswith(namespace + ".")]
    return below[0] if len({entry.reason for entry in below}) == 1 else None
