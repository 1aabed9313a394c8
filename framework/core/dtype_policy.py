"""DTypePolicy: the dtype a layer computes in and the dtype its weights have."""

import re
from importlib import import_module
from typing import Annotated, Any

from framework.core import dtypes
from framework.core.configs import serialize_value
from framework.core.configurable import Configurable, Resolved
from framework.core.errors import DTypeError, InvalidArgumentError


class DTypePolicy(Configurable):
    """The dtype that a layer computes in, and the dtype of its weights.

    Args:
        name: a dtype's name; floatx if None. "mixed_float16" and "mixed_bfloat16" compute in 16
            bits and keep the weights in float32: activations take half the memory. On a CPU the
            arithmetic inside an op is done in float32 and rounded once.

    >>> policy = DTypePolicy("mixed_float16")
    >>> str(policy.compute_dtype), str(policy.variable_dtype)
    ('float16', 'float32')
    """

    def __init__(self, name: str | None = None):
        self._name, self._compute, self._variable = _parsed(name or dtypes.floatx())
        if self._compute != self._variable:
            mixed.in_use = True

    @property
    def name(self):
        return self._name

    @property
    def compute_dtype(self):
        """The dtype that a layer computes in."""
        return self._compute

    @property
    def variable_dtype(self):
        """The dtype of a layer's weights."""
        return self._variable

    @property
    def quantization_mode(self):
        return None

    def convert_input(self, x: Any, autocast: bool, dtype: Any) -> Any:
        """Return an array-like input as a tensor; `autocast` casts floating inputs to `dtype`.

        >>> DTypePolicy().convert_input([1.0], True, "float16")  # a list is no array
        [1.0]
        """
        return import_module("framework.layers.calls").as_input(
            x, dtypes.as_dtype(dtype) if autocast else None
        )

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name}

    def __eq__(self, other):
        return type(other) is type(self) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


class _Mixed:
    """Holds a flag that each read of a variable checks: whether a policy with two dtypes exists."""

    in_use = False


mixed = _Mixed()


def _parsed(name):
    """Return (name, compute dtype, variable dtype) for the name of a policy."""
    if isinstance(name, str) and name.startswith("mixed_"):
        compute = name.removeprefix("mixed_")
        if compute not in ("float16", "bfloat16"):
            raise DTypeError(
                f"dtype policy {name!r} is not known; the mixed ones are 'mixed_float16' and "
                "'mixed_bfloat16'."
            )
        return str(name), dtypes.as_dtype(compute), dtypes.float32
    dtype = dtypes.as_dtype(name)
    return str(dtype), dtype, dtype


class DTypePolicyMap(Configurable):
    """A dtype policy for each layer; keys are paths or regular expressions for whole paths.

    Args:
        default_policy: for layers that no key matches; the current global policy if None.
        policy_map: a dict from paths and regular expressions ("encoder/.*") to policies.

    Raises:
        ValueError: a path matches several keys and equals none of them, or a key is set twice.

    >>> policies = DTypePolicyMap("float32", {".*/dense.*": "mixed_float16"})
    >>> policies["model/dense_1"].name, policies["model/softmax"].name
    ('mixed_float16', 'float32')
    """

    def __init__(self, default_policy: Any = None, policy_map: Any = None):
        if isinstance(default_policy, DTypePolicyMap):
            raise InvalidArgumentError(
                f"DTypePolicyMap: default_policy cannot be a DTypePolicyMap, got {default_policy}."
            )
        self._default = default_policy
        self._policies = {key: get(policy) for key, policy in (policy_map or {}).items()}
        get(default_policy)

    @property
    def name(self):
        return f"map_{self.default_policy.name}"

    @property
    def default_policy(self):
        """The policy for layers that no key matches."""
        return get(self._default)

    @property
    def compute_dtype(self):
        """The compute dtype of layers that no key matches."""
        return self.default_policy.compute_dtype

    @property
    def variable_dtype(self):
        """The dtype of the weights of layers that no key matches."""
        return self.default_policy.variable_dtype

    @property
    def quantization_mode(self):
        return None

    def convert_input(self, x: Any, autocast: bool, dtype: Any) -> Any:
        """Return an array-like input as a tensor, by the policy of layers that no key matches."""
        return self.default_policy.convert_input(x, autocast, dtype)

    def __getitem__(self, path: Any) -> Any:
        if path in self._policies:
            return self._policies[path]
        matching = [key for key in self._policies if re.fullmatch(key, path)]
        if len(matching) > 1:
            raise InvalidArgumentError(
                f"Path {path!r} matches multiple dtype policy specification keys: {matching}. "
                "Make each path match one key."
            )
        return self._policies[matching[0]] if matching else self.default_policy

    def __setitem__(self, key, policy):
        if key in self._policies:
            raise InvalidArgumentError(
                f"{key} already exist in the DTypePolicyMap with value {self._policies[key]}. "
                "Delete it first."
            )
        self._policies[key] = get(policy)

    def __delitem__(self, key):
        del self._policies[key]

    def __contains__(self, key):
        return key in self._policies

    def __len__(self):
        return len(self._policies)

    def __iter__(self):
        return iter(self._policies)

    def get_config(self) -> dict[str, Any]:
        default = self._default
        return {
            "default_policy": default.name if isinstance(default, DTypePolicy) else default,
            "policy_map": {key: serialize(policy) for key, policy in self._policies.items()},
        }

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """Return the map for a config that `get_config` returned."""
        return cls(**config)

    def __repr__(self):
        mapping = [(key, policy.name) for key, policy in self._policies.items()]
        return f"<DTypePolicyMap default_policy={self.default_policy.name}, mapping={mapping}>"


class _GlobalPolicy:
    policy = None


def dtype_policy():
    """Return the global policy, which layers without a policy of their own use."""
    return _GlobalPolicy.policy or DTypePolicy()


def set_dtype_policy(policy):
    """Set the global policy; None restores floatx."""
    _GlobalPolicy.policy = None if policy is None else get(policy)


def get(identifier):
    """Return the DTypePolicy for a policy, dtype, name or config; the global policy for None."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, (DTypePolicy, DTypePolicyMap)):
        return identifier
    if isinstance(identifier, dict):
        kinds = {"DTypePolicy": DTypePolicy, "DTypePolicyMap": DTypePolicyMap}
        if identifier.get("class_name") not in kinds:
            raise InvalidArgumentError(f"expected the config of a dtype policy, got {identifier}.")
        return kinds[identifier["class_name"]](**identifier["config"])
    return DTypePolicy(identifier)


def serialize(dtype_policy):
    """Return the config of a policy, for `deserialize`."""
    return serialize_value(dtype_policy)


def deserialize(config, custom_objects=None):
    """Return the policy for a config that `serialize` returned."""
    return get(config)


PolicyField = Annotated[Any, Resolved("a dtype policy", get)]
