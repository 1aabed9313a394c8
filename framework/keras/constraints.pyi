from framework.constraints import (
    Constraint as Constraint, MaxNorm as MaxNorm, MinMaxNorm as MinMaxNorm, NonNeg as NonNeg,
    UnitNorm as UnitNorm, deserialize as deserialize, get as get, serialize as serialize,
)  # fmt: skip

max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
