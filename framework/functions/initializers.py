"""tf.constant_initializer: Keras's Constant with TensorFlow's signature."""

from typing import Any

from framework import initializers
from framework.core.argument_types import DTypeLike, ShapeLike
from framework.functions.creation import constant


class constant_initializer(initializers.Constant):
    """An initializer that returns a constant, or the values of an array in the requested shape.

    Args:
        value: a number, array or list.
        support_partition: ignored.

    >>> import framework as tf
    >>> tf.constant_initializer(2.0)([2]).numpy()
    array([2., 2.], dtype=float32)
    """

    value: Any = 0
    support_partition: bool = False

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None, **_kwargs: Any) -> Any:
        return constant(self.value, dtype, shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}
