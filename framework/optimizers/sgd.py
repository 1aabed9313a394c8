"""SGD and Lion: steps along the gradient, or along the sign of the momentum."""

from typing import Any

from framework.core.errors import InvalidArgumentError
from framework.ops.elementwise import sign
from framework.optimizers.base import Optimizer, Rate, optimizers
from framework.optimizers.protocol import Slots

__all__ = [
    "SGD", "Lion",
]  # fmt: skip


@optimizers.add()
class SGD(Optimizer):
    """Gradient descent, optionally with momentum.

    `param - lr * grad`; with momentum m: `v = m v - lr grad`, `param + v`, and with `nesterov`
    `param + m v - lr grad` (Sutskever et al. 2013, section 2).

    Args:
        learning_rate: the step size.
        momentum: m, in [0, 1].
        nesterov: whether to use Nesterov momentum.

    Example:
        >>> from framework.core.variable import Variable
        >>> from framework.core.tensor import Tensor
        >>> import numpy as np
        >>> v = Variable(1.0)
        >>> _ = SGD(0.1).apply_gradients([(Tensor(np.float32(2.0) + np.zeros((), "f")), v)])
        >>> float(v)
        0.800000011920929
    """

    learning_rate: Rate = 0.01
    momentum: float = 0.0
    nesterov: bool = False
    slots = Slots().when("momentum", "momentum")

    def __post_init__(self):
        super().__post_init__()
        if not 0 <= self.momentum <= 1:
            raise InvalidArgumentError(f"SGD: expected momentum in [0, 1], got {self.momentum}.")

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        if not self.momentum:
            return param - lr * grad
        slot.momentum = self.momentum * slot.momentum - lr * grad
        if self.nesterov:
            return param + (self.momentum * slot.momentum - lr * grad)
        return param + slot.momentum


@optimizers.add()
class Lion(Optimizer):
    """Steps of constant size along the sign of the momentum: Chen et al. 2023, arXiv:2302.06675.

    Args:
        learning_rate: the step size; a tenth to a third of the rate for Adam.
        beta_1: the weight of the momentum in the direction.
        beta_2: the decay rate of the momentum.
    """

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.99

    slots = ("momentum",)

    def __post_init__(self):
        super().__post_init__()
        if not 0 < self.beta_1 <= 1:
            raise InvalidArgumentError(f"Lion: expected beta_1 in (0, 1], got {self.beta_1}.")

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        direction = sign(slot.momentum * self.beta_1 + grad * (1 - self.beta_1))
        slot.momentum = slot.momentum * self.beta_2 + grad * (1 - self.beta_2)
        return param - lr * direction
