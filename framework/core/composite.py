"""Composite: base class of values that consist of several tensors, such as SparseTensor."""

from typing import Any


class Composite:
    """A value that functions, plans and tapes treat as a nest of its tensors.

    A subclass defines `_parts`, the tensors as a tuple; `_with_parts`, an object of the same class
    with other tensors; and `_static`, a hashable value of what it holds besides tensors. Public
    functions of nests (`tf.nest`), layers and datasets treat it as one value.
    """

    __slots__ = ()

    def _parts(self) -> tuple:
        raise NotImplementedError

    def _static(self) -> Any:
        return None

    def _with_parts(self, parts: Any) -> Any:
        raise NotImplementedError

    def _reduced(self, name: str, axis: Any, keepdims: bool) -> Any:
        """Return a reduction, such as reduce_sum, over an axis; None: it needs a tensor."""

    def _combined(self, op: Any, x: Any, y: Any) -> Any:
        """Return an op of two operands of which one is `self`; None: the op needs tensors."""

    def _mapped(self, op: Any) -> Any:
        """Return the result of an elementwise op in the same form; None: the op needs a tensor."""
