from framework.constraints import (
    Constraint as Constraint, MaxNorm as MaxNorm, MinMaxNorm as MinMaxNorm, NonNeg as NonNeg,
    UnitNorm as UnitNorm, deserialize as deserialize, get as get, MaxNorm as max_norm,
    MinMaxNorm as min_max_norm, NonNeg as non_neg, serialize as serialize, UnitNorm as unit_norm,
)  # fmt: skip
