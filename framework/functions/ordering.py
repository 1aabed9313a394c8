"""Functions that order operations in TensorFlow's graphs. Here statements run in program order.

>>> import framework as tf
>>> with tf.control_dependencies([tf.no_op()]):
...     print(tf.get_static_value(tf.constant(3)))
3
"""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.symbolic import KerasTensor
from framework.core.tensor import Tensor


class control_dependencies:
    """Context manager that does nothing: ops run eagerly, in the order of the statements.

    Args:
        control_inputs: ignored, because these ops have run; as in TensorFlow, a callable is called.
    """

    def __init__(self, control_inputs: Any):
        if callable(control_inputs):
            control_inputs()

    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


def group(*inputs: Any, name: str | None = None) -> None:
    """Return None: the inputs have already been computed."""


def no_op(name: str | None = None) -> None:
    """Do nothing."""


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """Return the value of a tensor as an array; None for a variable and a KerasTensor.

    Args:
        tensor: a tensor; any other value is returned unchanged.
        partial: ignored.
    """
    if type(tensor) is Tensor:
        return tensor.numpy()
    return None if isinstance(tensor, KerasTensor) or hasattr(tensor, "assign") else tensor
