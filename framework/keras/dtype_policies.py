"""keras.dtype_policies: what a layer computes in and what its weights are."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.core.policy": """
        DTypePolicy DTypePolicyMap FloatDTypePolicy=DTypePolicy deserialize get serialize""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.core.policy import (
        DTypePolicy as DTypePolicy, DTypePolicy as FloatDTypePolicy,
        DTypePolicyMap as DTypePolicyMap, deserialize as deserialize, get as get,
        serialize as serialize,
    )  # fmt: skip
