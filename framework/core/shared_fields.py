"""Annotations for fields that losses and metrics share."""

from framework.core.configurable import Resolved
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError


def _name(value):
    if value is not None and not isinstance(value, str):
        raise InvalidArgumentError(f"expected a string or None, got {type(value).__name__}")
    return value


def _compute_dtype(value):
    """The dtype to compute in, from a dtype, a dtype policy or the name of one; None is floatx."""
    value = getattr(value, "compute_dtype", value)
    if isinstance(value, str):
        value = value.removeprefix("mixed_")
    return as_dtype(floatx() if value is None else value)


Name = Resolved("a string or None", _name)
ComputeDtype = Resolved("a dtype, a policy or None", _compute_dtype)
