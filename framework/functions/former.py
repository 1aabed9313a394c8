"""Names from early versions of TensorFlow that tutorials still use."""

from types import SimpleNamespace
from typing import Any

from framework.autodiff.gradient_functions import (
    gradients_function,
    implicit_value_and_gradients,
    make_vjp,
    value_and_gradients_function,
)  # fmt: skip
from framework.autodiff.gradient_functions import (
    implicit_grad as implicit_gradients,
)
from framework.autodiff.tape import GradientTape
from framework.core.argument_types import TensorLike
from framework.core.tensor import Tensor
from framework.core.variable import Variable
from framework.functions.creation import linspace


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None,
) -> None:  # fmt: skip
    """Do nothing: ops always run eagerly."""


def executing_eagerly() -> bool:
    """Return True: ops always run eagerly."""
    return True


def lin_space(start: TensorLike, stop: TensorLike, num: Any, name: str | None = None) -> Tensor:
    """Return `num` evenly spaced numbers from `start` to `stop`: the old name of `linspace`."""
    return linspace(start, stop, num)


# Tutorials for TensorFlow 1 import tf.contrib.eager as `tfe` and use these names.
contrib = SimpleNamespace(
    eager=SimpleNamespace(
        GradientTape=GradientTape,
        Variable=Variable,
        enable_eager_execution=enable_eager_execution,
        executing_eagerly=executing_eagerly,
        gradients_function=gradients_function,
        implicit_gradients=implicit_gradients,
        implicit_value_and_gradients=implicit_value_and_gradients,
        make_vjp=make_vjp,
        value_and_gradients_function=value_and_gradients_function,
    )
)
