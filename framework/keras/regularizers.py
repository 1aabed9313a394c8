"""keras.regularizers: penalties on weights and activities."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy, table as _table

_NAMES = _table({
    "framework.regularizers": """
        L1 L1L2 L2 OrthogonalRegularizer Regularizer deserialize get l1=L1 l1_l2=L1L2 l2=L2
        orthogonal_regularizer=OrthogonalRegularizer serialize""",
})  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.regularizers import (
        L1 as L1, L1 as l1, L1L2 as L1L2, L1L2 as l1_l2, L2 as L2, L2 as l2,
        OrthogonalRegularizer as OrthogonalRegularizer,
        OrthogonalRegularizer as orthogonal_regularizer, Regularizer as Regularizer,
        deserialize as deserialize, get as get, serialize as serialize,
    )  # fmt: skip
