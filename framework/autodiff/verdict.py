"""What an explanation is made of."""

from typing import NamedTuple

from framework.autodiff.record import name_of


class Verdict(NamedTuple):
    """What the gradient is, why, and what helps."""

    value: str  # "None", "zero" or "connected"
    reason: str
    remedy: str = ""


def where(layer, line):
    """The place of an op as it stands behind its name: " (in layer 'dense', at loss.py:12)"."""
    parts = [f"in layer {name_of(layer)!r}"] if layer is not None else []
    parts += [f"at {line}"] if line else []
    return f" ({', '.join(parts)})" if parts else ""
