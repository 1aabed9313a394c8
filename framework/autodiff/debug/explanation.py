"""Explanation: why a gradient is None or zero, with a remedy; `where` prints the position of an
op."""

from typing import NamedTuple

from framework.autodiff.debug.recorded_ops import name_of


class Explanation(NamedTuple):
    """What a gradient is (None, zero or connected), why, and a remedy."""

    value: str  # the gradient's value: "None", "zero" or "connected" (neither of the two)
    reason: str
    remedy: str = ""


def where(layer, line):
    """Return an op's layer and line as a text: " (in layer 'dense', at loss.py:12)", or ""."""
    parts = [f"in layer {name_of(layer)!r}"] if layer is not None else []
    parts += [f"at {line}"] if line else []
    return f" ({', '.join(parts)})" if parts else ""
