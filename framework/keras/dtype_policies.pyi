from framework.core.policy import (
    DTypePolicy as DTypePolicy, DTypePolicyMap as DTypePolicyMap, DTypePolicy as FloatDTypePolicy,
    deserialize as deserialize, get as get, serialize as serialize,
)  # fmt: skip
