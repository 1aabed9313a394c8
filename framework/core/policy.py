"""DTypePolicy: the dtype a layer computes in and the dtype its weights have."""

from framework.core import dtypes
from framework.core.configurable import Configurable, Resolved
from framework.core.errors import DTypeError, InvalidArgumentError


class DTypePolicy(Configurable):
    """The dtypes of a layer.

    Args:
        name: a dtype's name; floatx where None.

    >>> policy = DTypePolicy("float64")
    >>> str(policy.compute_dtype), str(policy.variable_dtype)
    ('float64', 'float64')
    """

    def __init__(self, name=None):
        self._dtype = _dtype(name or dtypes.floatx())

    @property
    def name(self):
        return str(self._dtype)

    @property
    def compute_dtype(self):
        """The dtype that a layer computes in."""
        return self._dtype

    @property
    def variable_dtype(self):
        """The dtype of a layer's weights."""
        return self._dtype

    @property
    def quantization_mode(self):
        return None

    def get_config(self):
        return {"name": self.name}

    def __eq__(self, other):
        return type(other) is type(self) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


def _dtype(name):
    if isinstance(name, str) and name.startswith("mixed_"):
        raise DTypeError(
            f"dtype policy {name!r}: mixed precision is not supported yet; use 'float16', "
            "'float32' or 'float64'."
        )
    return dtypes.as_dtype(name)


class _Global:
    policy = None


def dtype_policy():
    """The policy of layers that are given none."""
    return _Global.policy or DTypePolicy()


def set_dtype_policy(policy):
    """Set the policy of layers that are given none; None: floatx again."""
    _Global.policy = None if policy is None else get(policy)


def get(identifier):
    """The policy for a policy, a dtype or its name, or a config; None gives the global one."""
    if identifier is None:
        return dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        if identifier.get("class_name") != "DTypePolicy":
            raise InvalidArgumentError(f"A dtype policy's config was expected, got {identifier}.")
        return DTypePolicy(**identifier["config"])
    return DTypePolicy(identifier)


PolicyField = Resolved("a dtype policy", get)
