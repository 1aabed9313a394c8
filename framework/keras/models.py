"""keras.models: Model, Sequential and what makes models of models."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.models.cloning": "clone_model",
    "framework.models.model": "Model",
    "framework.models.sequential": "Sequential",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.models.cloning import clone_model as clone_model
    from framework.models.model import Model as Model
    from framework.models.sequential import Sequential as Sequential
