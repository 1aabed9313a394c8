"""keras.callbacks: what fit calls at the ends of batches and epochs."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.training.callbacks.base": "Callback CallbackList",
    "framework.training.callbacks.history": "History",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.training.callbacks.base import Callback as Callback, CallbackList as CallbackList
    from framework.training.callbacks.history import History as History
