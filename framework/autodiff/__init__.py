"""Derivatives: the tape and what is built on it."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy
from framework.core.lazy import table as _table

_NAMES = _table({
    "framework.autodiff.forward": "ForwardAccumulator",
    "framework.autodiff.tape": "GradientTape",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.autodiff.forward import ForwardAccumulator as ForwardAccumulator
    from framework.autodiff.tape import GradientTape as GradientTape
