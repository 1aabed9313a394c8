"""Annotations for fields that many classes share."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from framework.core.configurable import Resolved
from framework.core.dtypes import as_dtype, floatx
from framework.core.errors import InvalidArgumentError


def _name(value):
    if value is not None and not isinstance(value, str):
        raise InvalidArgumentError(f"expected a string or None, got {type(value).__name__}")
    return value


def _compute_dtype(value):
    """Return the compute dtype of a dtype, a dtype policy or a name; None means floatx."""
    value = getattr(value, "compute_dtype", value)
    if isinstance(value, str):
        value = value.removeprefix("mixed_")
    return as_dtype(floatx() if value is None else value)


Configured: TypeAlias = str | dict[str, Any] | Callable[..., Any] | None
"""What a registry resolves: a name, a config, an object, or None."""

Name = Annotated[str | None, Resolved("a string or None", _name)]
ComputeDtype = Annotated[Any, Resolved("a dtype, a policy or None", _compute_dtype)]
