import pytest

from framework.core import dtype_policy as policy
from framework.core import dtypes
from framework.core.errors import DTypeError, InvalidArgumentError
from framework.layers import Dense


def test_policies():
    assert policy.get("float16").compute_dtype == "float16"
    assert policy.get(None) == policy.DTypePolicy("float32") == policy.get(dtypes.float32)
    one = policy.DTypePolicy("float64")
    assert policy.get(one) is one
    assert policy.DTypePolicy.from_config(one.get_config()) == one != policy.get(None)
    assert policy.get({"class_name": "DTypePolicy", "config": {"name": "float64"}}) == one


def test_policies_by_pattern():
    policies = policy.DTypePolicyMap("float32", {"model/d.*": "float64", "model/dot": "float16"})
    policies[".*/out"] = "mixed_float16"
    assert policies["model/dense"].name == "float64"
    assert policies["model/dot"].name == "float16"  # the exact path comes before patterns
    assert policies["model/out"].variable_dtype == policies["model"].name == "float32"
    assert (policies.compute_dtype, policies.variable_dtype) == ("float32", "float32")
    again = policy.get(policy.serialize(policies))
    assert again.get_config() == policies.get_config()
    with pytest.raises(InvalidArgumentError, match="matches multiple dtype policy"):
        policies["model/d/out"]
    with pytest.raises(InvalidArgumentError, match="already exist"):
        policies["model/dot"] = "float32"
    del policies[".*/out"]
    assert ".*/out" not in policies
    assert len(policies) == 2


def test_the_global_policy():
    policy.set_dtype_policy("float64")
    try:
        layer = Dense(2)
        layer.build((None, 3))
        assert layer.kernel.dtype == "float64"
    finally:
        policy.set_dtype_policy(None)
    assert Dense(2).dtype == "float32"


def test_a_missing_name_raises():
    with pytest.raises(DTypeError, match="the mixed ones are 'mixed_float16' and 'mixed_bfloat16'"):
        policy.get("mixed_float8")
    with pytest.raises(DTypeError, match=r"'float33'.*did you mean 'float32'"):
        policy.get("float33")
    with pytest.raises(InvalidArgumentError, match="expected the config of a dtype policy"):
        policy.get({"class_name": "Other"})
