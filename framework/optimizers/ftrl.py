"""Ftrl, the optimizer "follow the regularized leader"."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.ops.elementwise import clip, power
from framework.optimizers.base import Optimizer, Rate, optimizers

__all__ = [
    "Ftrl",
]  # fmt: skip


@optimizers.add()
class Ftrl(Optimizer):
    """Follow the regularized leader: an L1 penalty solved in closed form makes weights sparse.

    McMahan et al. 2013, "Ad click prediction", algorithm 1.

    Args:
        learning_rate: the step size.
        learning_rate_power: at most 0; the power of the sum of squared gradients in the rate.
        initial_accumulator_value: the initial value of that sum.
        l1_regularization_strength, l2_regularization_strength: penalties on the weights.
        l2_shrinkage_regularization_strength: a penalty added to the gradient.
        beta: the paper's beta.
    """

    learning_rate: Rate = 0.001
    learning_rate_power: float = -0.5
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    l2_shrinkage_regularization_strength: float = 0.0
    beta: float = 0.0

    slots = ("accumulator", "linear")

    def __post_init__(self):
        super().__post_init__()
        if self.learning_rate_power > 0:
            raise InvalidArgumentError(
                f"Ftrl: expected learning_rate_power <= 0, got {self.learning_rate_power}."
            )
        for name in (
            "initial_accumulator_value", "l1_regularization_strength",
            "l2_regularization_strength", "l2_shrinkage_regularization_strength",
        ):  # fmt: skip
            if getattr(self, name) < 0:
                value = getattr(self, name)
                raise InvalidArgumentError(f"Ftrl: expected {name} >= 0, got {value}.")

    def initial(self, name: str | None, value: TensorLike):
        zeros = super().initial(name, value)
        return zeros + self.initial_accumulator_value if name == "accumulator" else zeros

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        l1, l2 = self.l1_regularization_strength, self.l2_regularization_strength
        shrunk = grad + 2 * self.l2_shrinkage_regularization_strength * param
        before = power(slot.accumulator, -self.learning_rate_power)
        slot.accumulator = slot.accumulator + grad * grad
        after = power(slot.accumulator, -self.learning_rate_power)
        slot.linear = slot.linear + (shrunk - (after - before) / lr * param)
        quadratic = after / lr + 2 * (l2 + self.beta / (2 * lr))
        return (clip(slot.linear, -l1, l1) - slot.linear) / quadratic
