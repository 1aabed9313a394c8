"""Composite: base class of values that consist of several tensors, such as SparseTensor."""

from typing import Any


class Composite:
    """A value that traced functions, compiled plans and tapes treat as a nest of its tensors.

    A subclass defines `_parts`, the tensors as a tuple; `_with_parts`, an object of the same class
    with other tensors; and `_static`, a hashable value for everything besides the tensors. For
    `tf.nest`, layers and datasets, it is a single value.
    """

    __slots__ = ()

    def _parts(self) -> tuple:
        raise NotImplementedError

    def _static(self) -> Any:
        return None

    def _with_parts(self, parts: Any) -> Any:
        raise NotImplementedError

    def _reduced(self, name: str, axis: Any, keepdims: bool) -> Any:
        """Return the result of a reduction, e.g. reduce_sum; None if it needs a dense tensor."""

    def _combined(self, op: Any, x: Any, y: Any) -> Any:
        """Return the result of an op on `x` and `y`, one of which is `self`; None if the op
        needs dense tensors."""

    def _mapped(self, op: Any) -> Any:
        """Return the result of an elementwise op as the same type; None if the op needs a dense
        tensor."""
