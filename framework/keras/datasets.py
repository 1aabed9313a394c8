"""keras.datasets: data sets to learn with, each a module with `load_data`."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.datasets.": "digits mnist",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.datasets import digits as digits, mnist as mnist
