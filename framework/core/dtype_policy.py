"""DTypePolicy: the dtype a layer computes in and the dtype its weights have."""

from fnmatch import fnmatchcase
from typing import Annotated, Any

from framework.core import dtypes
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

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name}

    def __eq__(self, other):
        return type(other) is type(self) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


class _Mixed:
    """A flag that reads of variables check: whether any policy mixes two dtypes."""

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
    """A policy for each layer, by patterns of its path; later rules win.

    Args:
        default_policy: for layers that no pattern matches; the global policy if None.
        policy_map: patterns as of `fnmatch` ("encoder/*") and the policies they give.

    >>> policies = DTypePolicyMap("float32", {"*/dense*": "mixed_float16"})
    >>> policies["model/dense_1"].name, policies["model/softmax"].name
    ('mixed_float16', 'float32')
    """

    def __init__(self, default_policy: Any = None, policy_map: Any = None):
        self.default_policy = get(default_policy)
        self.policy_map = {pattern: get(p) for pattern, p in (policy_map or {}).items()}

    @property
    def name(self):
        return f"map_{self.default_policy.name}"

    def __getitem__(self, path: Any) -> Any:
        matching = [p for pattern, p in self.policy_map.items() if fnmatchcase(path, pattern)]
        return matching[-1] if matching else self.default_policy

    def __setitem__(self, pattern, policy):
        self.policy_map[pattern] = get(policy)

    def __len__(self):
        return len(self.policy_map)

    def __iter__(self):
        return iter(self.policy_map)

    def get_config(self) -> dict[str, Any]:
        return {
            "default_policy": self.default_policy.name,
            "policy_map": {pattern: p.name for pattern, p in self.policy_map.items()},
        }

    def __repr__(self):
        return f"<DTypePolicyMap {self.policy_map}, else {self.default_policy}>"


class _GlobalPolicy:
    policy = None


def dtype_policy():
    """Return the global policy, which layers without a policy of their own use."""
    return _GlobalPolicy.policy or DTypePolicy()


def set_dtype_policy(policy):
    """Set the global policy; None restores floatx."""
    _GlobalPolicy.policy = None if policy is None else get(policy)


def get(identifier):
    """Return the policy for a policy, dtype, name or config; the global policy for None."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, (DTypePolicy, DTypePolicyMap)):
        return identifier
    if isinstance(identifier, dict):
        kinds = {"DTypePolicy": DTypePolicy, "DTypePolicyMap": DTypePolicyMap}
        if identifier.get("class_name") not in kinds:
            raise InvalidArgumentError(f"A dtype policy's config was expected, got {identifier}.")
        return kinds[identifier["class_name"]](**identifier["config"])
    return DTypePolicy(identifier)


def serialize(dtype_policy):
    """Return the config of a policy, for `deserialize`."""
    return {"class_name": type(dtype_policy).__name__, "config": dtype_policy.get_config()}


def deserialize(config, custom_objects=None):
    """Return the policy for a config that `serialize` returned."""
    return get(config)


PolicyField = Annotated[Any, Resolved("a dtype policy", get)]
