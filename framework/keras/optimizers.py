"""keras.optimizers: optimizers."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.optimizers": "get",
    "framework.optimizers.adaptive": "Adam",
    "framework.optimizers.base": "Optimizer deserialize serialize",
    "framework.optimizers.sgd": "SGD",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.optimizers import get as get
    from framework.optimizers.adaptive import Adam as Adam
    from framework.optimizers.base import (
        Optimizer as Optimizer, deserialize as deserialize, serialize as serialize,
    )  # fmt: skip
    from framework.optimizers.sgd import SGD as SGD
