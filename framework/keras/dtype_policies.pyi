from framework.core.dtype_policy import (
    DTypePolicy as DTypePolicy, DTypePolicyMap as DTypePolicyMap, deserialize as deserialize,
    get as get, serialize as serialize,
)  # fmt: skip

FloatDTypePolicy = DTypePolicy
