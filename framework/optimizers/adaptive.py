"""Optimizers that scale each element's step by its gradients' history."""

from typing import Any

from framework.core.argument_types import TensorLike
from framework.core.errors import InvalidArgumentError
from framework.ops.elementwise import absolute, maximum, minimum, power, sqrt
from framework.optimizers.base import Fraction, NotNegativeOrNone, Optimizer, Rate, optimizers
from framework.optimizers.protocol import Slots

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Nadam", "RMSprop", "ScheduleFreeAdamW",
]  # fmt: skip


@optimizers.add()
class Adagrad(Optimizer):
    """Divide each step by the root of the sum of all squared gradients.

    Duchi et al. 2011, section 1.1 (https://jmlr.org/papers/v12/duchi11a.html).

    Args:
        learning_rate: the step size.
        initial_accumulator_value: the initial value of the sum.
        epsilon: added to the sum before the square root.
    """

    learning_rate: Rate = 0.001
    initial_accumulator_value: float = 0.1
    epsilon: float = 1e-7

    slots = ("accumulator",)

    def initial(self, name: str | None, value: TensorLike):
        return super().initial(name, value) + self.initial_accumulator_value

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        slot.accumulator = slot.accumulator + grad * grad
        return param - lr * grad / sqrt(slot.accumulator + self.epsilon)


@optimizers.add()
class Adadelta(Optimizer):
    """Scale each step by a ratio of running root mean squares: Zeiler 2012, arXiv:1212.5701.

    Args:
        learning_rate: the step size; 1.0 as in the paper.
        rho: the decay rate of both means of squares.
        epsilon: added before both square roots.
    """

    learning_rate: Rate = 0.001
    rho: float = 0.95
    epsilon: float = 1e-7

    slots = ("accumulated_grad", "accumulated_delta_var")

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        rho = self.rho
        slot.accumulated_grad = rho * slot.accumulated_grad + (1 - rho) * (grad * grad)
        size = sqrt(slot.accumulated_delta_var + self.epsilon)
        delta = size * grad / sqrt(slot.accumulated_grad + self.epsilon)
        slot.accumulated_delta_var = rho * slot.accumulated_delta_var + (1 - rho) * (delta * delta)
        return param - lr * delta


@optimizers.add()
class RMSprop(Optimizer):
    """Divide each step by the root of a running mean of squared gradients.

    Tieleman & Hinton 2012, Coursera lecture 6.5; `centered` is Graves 2013, arXiv:1308.0850,
    equations 38 to 41.

    Args:
        learning_rate: the step size.
        rho: the decay rate of the mean.
        momentum: the momentum of the steps.
        epsilon: added to the mean before the square root.
        centered: divide by the gradients' standard deviation instead.
    """

    learning_rate: Rate = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-7
    centered: bool = False

    slots = Slots("velocity").when("momentum", "momentum").when("centered", "average_gradient")

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        slot.velocity = spread = self.rho * slot.velocity + (1 - self.rho) * (grad * grad)
        if self.centered:
            slot.average_gradient = self.rho * slot.average_gradient + (1 - self.rho) * grad
            spread = spread - slot.average_gradient * slot.average_gradient
        increment = lr * grad / sqrt(spread + self.epsilon)
        if self.momentum:
            slot.momentum = increment = self.momentum * slot.momentum + increment
        return param - increment


@optimizers.add()
class Adam(Optimizer):
    """Adaptive moment estimation: Kingma & Ba 2014, arXiv:1412.6980, just before section 2.1.

    `beta_1`, `beta_2`: decay rates of both moments; `amsgrad`: use the largest second moment.
    """

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False
    slots = Slots("momentum", "velocity").when("amsgrad", "velocity_hat")

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        rate = lr * sqrt(1 - power(self.beta_2, step)) / (1 - power(self.beta_1, step))
        slot.momentum = slot.momentum + (grad - slot.momentum) * (1 - self.beta_1)
        slot.velocity = second = slot.velocity + (grad * grad - slot.velocity) * (1 - self.beta_2)
        if self.amsgrad:
            slot.velocity_hat = second = maximum(slot.velocity_hat, second)
        return param - rate * slot.momentum / (sqrt(second) + self.epsilon)


@optimizers.add()
class AdamW(Adam):
    """Adam with decoupled weight decay: Loshchilov & Hutter 2017, arXiv:1711.05101.

    Args:
        learning_rate: the step size.
        weight_decay: each update first subtracts `learning_rate * weight_decay * param`.
        beta_1, beta_2, epsilon, amsgrad: as in `Adam`.
    """

    learning_rate: Rate = 0.001
    weight_decay: NotNegativeOrNone = 0.004
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False

    def __post_init__(self):
        super().__post_init__()
        if self.weight_decay is None:
            raise InvalidArgumentError("AdamW: expected a weight_decay >= 0, got None; use Adam.")


@optimizers.add()
class Adamax(Optimizer):
    """Adam with the largest gradient so far instead of the second moment.

    Kingma & Ba 2014, arXiv:1412.6980, algorithm 2.

    Args:
        learning_rate: the step size.
        beta_1, beta_2: decay rates of the first moment and of the largest gradient.
        epsilon: added to the largest gradient.
    """

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7

    slots = ("momentum", "norm")

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        slot.momentum = slot.momentum + (grad - slot.momentum) * (1 - self.beta_1)
        slot.norm = maximum(self.beta_2 * slot.norm, absolute(grad))
        return param - lr * slot.momentum / (
            (1 - power(self.beta_1, step)) * (slot.norm + self.epsilon)
        )


@optimizers.add()
class Nadam(Optimizer):
    """Adam with Nesterov momentum: Dozat 2015, algorithm 2 (cs229.stanford.edu/proj2015/054).

    The momentum at step t is `u(t) = beta_1 * (1 - 0.96**t / 2)`; all variables share the product
    of the momenta so far.

    Args:
        learning_rate: the step size.
        beta_1, beta_2: decay rates of the first and second moment.
        epsilon: added to the root of the second moment.
    """

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7

    slots = ("momentum", "velocity")
    shared = ("u_product",)

    def advance(self, shared: Any, step: Any) -> None:
        shared.u_product = shared.u_product * _u(self, step)

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        now, ahead = _u(self, step), _u(self, step + 1)
        slot.momentum = slot.momentum + (grad - slot.momentum) * (1 - self.beta_1)
        slot.velocity = slot.velocity + (grad * grad - slot.velocity) * (1 - self.beta_2)
        first = (ahead / (1 - slot.u_product * ahead)) * slot.momentum
        first = first + ((1 - now) / (1 - slot.u_product)) * grad
        second = slot.velocity / (1 - power(self.beta_2, step))
        return param - lr * first / (sqrt(second) + self.epsilon)


def _u(nadam, step):
    return nadam.beta_1 * (1 - 0.5 * power(0.96, step))


@optimizers.add()
class ScheduleFreeAdamW(Optimizer):
    """Adam that averages its iterates instead of decaying the learning rate.

    Defazio et al. 2024, arXiv:2405.15682: the parameter is `y`, at which gradients are
    taken: an interpolation of the iterate `z` (the slot `momentum`) and the mean `x` of iterates.

    Args:
        learning_rate: the step size.
        beta_1: the weight of `x` in `y`.
        beta_2: the decay rate of the second moment.
        epsilon: added to the root of the second moment.
        warmup_steps: the number of updates over which the rate rises to `learning_rate`.
    """

    learning_rate: Rate = 0.0025
    beta_1: Fraction = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    warmup_steps: int = 0

    slots = ("momentum", "velocity")

    def initial(self, name: str | None, value: TensorLike):
        return value if name == "momentum" else super().initial(name, value)

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        if self.warmup_steps:
            lr = lr * minimum(step / self.warmup_steps, 1.0)
        mean = (param - (1 - self.beta_1) * slot.momentum) / self.beta_1
        slot.velocity = slot.velocity + (grad * grad - slot.velocity) * (1 - self.beta_2)
        root = sqrt(slot.velocity / (1 - power(self.beta_2, step))) + self.epsilon
        slot.momentum = slot.momentum - lr * grad / root
        mean = (1 - 1 / step) * mean + (1 / step) * slot.momentum
        return (1 - self.beta_1) * slot.momentum + self.beta_1 * mean
