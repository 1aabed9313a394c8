"""keras.constraints: what weights are made to obey after each update."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.constraints": """
        Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get max_norm=MaxNorm
        min_max_norm=MinMaxNorm non_neg=NonNeg serialize unit_norm=UnitNorm""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.constraints import (
        Constraint as Constraint, MaxNorm as MaxNorm, MaxNorm as max_norm, MinMaxNorm as MinMaxNorm,
        MinMaxNorm as min_max_norm, NonNeg as NonNeg, NonNeg as non_neg, UnitNorm as UnitNorm,
        UnitNorm as unit_norm, deserialize as deserialize, get as get, serialize as serialize,
    )  # fmt: skip
