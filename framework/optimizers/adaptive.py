"""Optimizers that scale each element's step by its gradients' history."""

from framework.ops.elementwise import maximum, sqrt
from framework.optimizers.base import Optimizer, Rate, optimizers


@optimizers.add()
class Adam(Optimizer):
    """Adaptive moment estimation.

    Kingma & Ba 2014, arXiv:1412.6980, with the rate of the text before section 2.1; `amsgrad` is
    Reddi et al. 2018, arXiv:1904.09237.

    Args:
        learning_rate: the step size.
        beta_1, beta_2: decay rates of the first and second moment.
        epsilon: the paper's "epsilon hat", added to the root of the second moment.
        amsgrad: divide by the largest second moment so far.
    """

    learning_rate: Rate = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False

    @property
    def slots(self):
        return (
            ("momentum", "velocity", "velocity_hat") if self.amsgrad else ("momentum", "velocity")
        )

    def update(self, param, grad, slot, lr, step):
        rate = lr * sqrt(1 - self.beta_2**step) / (1 - self.beta_1**step)
        slot.momentum = slot.momentum + (grad - slot.momentum) * (1 - self.beta_1)
        slot.velocity = slot.velocity + (grad * grad - slot.velocity) * (1 - self.beta_2)
        second = slot.velocity
        if self.amsgrad:
            slot.velocity_hat = second = maximum(slot.velocity_hat, slot.velocity)
        return param - rate * slot.momentum / (sqrt(second) + self.epsilon)
