import pytest

from framework.core import dtypes, policy
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.layers import Dense


def test_policies():
    assert policy.get("float16").compute_dtype == "float16"
    assert policy.get(None) == policy.DTypePolicy("float32") == policy.get(dtypes.float32)
    one = policy.DTypePolicy("float64")
    assert policy.get(one) is one
    assert policy.DTypePolicy.from_config(one.get_config()) == one != policy.get(None)
    assert policy.get({"class_name": "DTypePolicy", "config": {"name": "float64"}}) == one


def test_the_global_policy():
    policy.set_dtype_policy("float64")
    try:
        layer = Dense(2)
        layer.build((None, 3))
        assert layer.kernel.dtype == "float64"
    finally:
        policy.set_dtype_policy(None)
    assert Dense(2).dtype == "float32"


def test_what_is_not_there_says_so():
    with pytest.raises(DTypeError, match="mixed precision is not supported yet"):
        policy.get("mixed_float16")
    with pytest.raises(DTypeError, match=r"'float33'.*did you mean 'float32'"):
        policy.get("float33")
    with pytest.raises(InvalidArgumentError, match="config was expected"):
        policy.get({"class_name": "Other"})
