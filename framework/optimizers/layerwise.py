"""Optimizers whose `update` is not elementwise: Lamb, Adafactor and Muon."""

import re
from typing import Any

import numpy as np

from framework.core.argument_types import TensorLike
from framework.ops.contraction import matmul
from framework.ops.elementwise import greater, maximum, minimum, power, select, sqrt, square
from framework.ops.movement import expand_axes, transpose
from framework.ops.reduction import reduce_mean
from framework.optimizers.base import NotNegativeOrNone, Optimizer, Rate, optimizers
from framework.optimizers.clipping import norm

__all__ = [
    "Adafactor", "Lamb", "Muon",
]  # fmt: skip


@optimizers.add()
class Lamb(Optimizer):
    """Adam with steps scaled to the norm of each variable.

    You et al. 2019, arXiv:1904.00962, algorithm 2.

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

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        slot.momentum = slot.momentum + (grad - slot.momentum) * (1 - self.beta_1)
        slot.velocity = slot.velocity + (grad * grad - slot.velocity) * (1 - self.beta_2)
        root = sqrt(slot.velocity / (1 - power(self.beta_2, step))) + self.epsilon
        direction = slot.momentum / (1 - power(self.beta_1, step)) / root
        length, step_length = norm(param), norm(direction)
        trust = select(greater(step_length, 0), length / step_length, 1.0)
        return param - select(greater(length, 0), trust, 1.0) * lr * direction


@optimizers.add()
class Adafactor(Optimizer):
    """Adam with factored second moments: Shazeer & Stern 2018, arXiv:1804.04235.

    The second moment of the last two axes is a product of row and column means; variables of fewer
    axes keep a full second moment.

    Args:
        learning_rate: the largest step size, relative to the variable's root mean square.
        beta_2_decay: the second moment's decay rate at step t is `1 - t ** beta_2_decay`.
        epsilon_1: added to the squared gradient.
        epsilon_2: a lower bound of the variable's root mean square.
        clip_threshold: the largest root mean square of an update.
        relative_step: ignored; the step size is at most `1 / sqrt(t)` in either case, as in Keras.
    """

    learning_rate: Rate = 0.001
    beta_2_decay: float = -0.8
    epsilon_1: float = 1e-30
    epsilon_2: float = 1e-3
    clip_threshold: float = 1.0
    relative_step: bool = True

    slots = ("row", "column", "velocity")
    compiles = False

    def initial(self, name: str | None, value: TensorLike):
        if name == "velocity":
            return super().initial(name, value)
        if value.ndim < 2:
            return np.zeros(())
        shape = value.shape[:-1] if name == "row" else (*value.shape[:-2], value.shape[-1])
        return np.zeros(shape)

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        size = maximum(self.epsilon_2, _rms(param)) * minimum(lr, 1 / sqrt(step))
        decay = 1 - power(step, self.beta_2_decay)
        squares = grad * grad + self.epsilon_1
        if len(param.shape) < 2:
            slot.velocity = decay * slot.velocity + (1 - decay) * squares
        else:
            last = len(param.shape) - 1
            slot.row = decay * slot.row + (1 - decay) * _mean(squares, last)
            slot.column = decay * slot.column + (1 - decay) * _mean(squares, last - 1)
            share = slot.row / expand_axes(_mean(slot.row, last - 1), (last - 1,))
            slot.velocity = expand_axes(share, (last,)) * expand_axes(slot.column, (last - 1,))
        change = grad / sqrt(slot.velocity)
        return param - size * (change / maximum(1.0, _rms(change) / self.clip_threshold))


def _mean(x, axis):
    return reduce_mean(x, axis=(axis,), keepdims=False)


def _rms(x):
    return sqrt(reduce_mean(square(x), axis=tuple(range(len(x.shape))), keepdims=False))


@optimizers.add()
class Muon(Optimizer):
    """Momentum with orthogonalized updates: Jordan et al. 2024 (kellerjordan.github.io/posts/muon).

    It updates matrices; AdamW updates all other variables, embeddings and those that
    `exclude_layers` matches. Updates of matrices are scaled as in Liu et al. 2025,
    arXiv:2502.16982, section 2.2.

    Args:
        learning_rate: the step size.
        adam_beta_1, adam_beta_2, epsilon: as in `AdamW`.
        adam_weight_decay: the decay of the variables that AdamW updates.
        weight_decay: the decay of the matrices.
        exclude_layers: regular expressions on paths.
        exclude_embeddings: whether AdamW updates variables with "embedding" in their path.
        muon_a, muon_b, muon_c: coefficients of the Newton-Schulz iteration.
        adam_lr_ratio: the ratio of AdamW's step size to Muon's.
        momentum: the weight of the old momentum in the new momentum.
        ns_steps: the number of Newton-Schulz iterations.
        nesterov: whether to use Nesterov momentum.
        rms_rate: the root mean square of an update's elements; None: updates are not scaled.
    """

    learning_rate: Rate = 0.001
    adam_beta_1: float = 0.9
    adam_beta_2: float = 0.999
    adam_weight_decay: NotNegativeOrNone = 0.004
    epsilon: float = 1e-7
    weight_decay: NotNegativeOrNone = 0.004
    exclude_layers: list = None
    exclude_embeddings: bool = True
    muon_a: float = 3.4445
    muon_b: float = -4.775
    muon_c: float = 2.0315
    adam_lr_ratio: float = 1
    momentum: float = 0.95
    ns_steps: int = 5
    nesterov: bool = True
    rms_rate: NotNegativeOrNone = 0.2

    slots = ("momentum", "velocity")

    def slots_of(self, variable: Any):
        return ("momentum", "velocity") if _by_adam(self, variable) else ("momentum",)

    def _decay_of(self, variable):
        return self.adam_weight_decay if _by_adam(self, variable) else self.weight_decay

    def update(self, param: Any, grad: Any, slot: Any, lr: Any, step: Any) -> Any:
        if hasattr(slot, "velocity"):
            return _adam(self, param, grad, slot, lr * self.adam_lr_ratio, step)
        slot.momentum = slot.momentum + (grad + slot.momentum * (self.momentum - 1))
        ahead = grad + self.momentum * slot.momentum if self.nesterov else slot.momentum
        size = 1.0
        if self.rms_rate is not None:
            size = float(np.sqrt(max(param.shape))) * self.rms_rate
        return param - lr * _orthogonal(self, ahead) * size


def _by_adam(muon, variable):
    path = getattr(variable, "path", variable.name)
    embedding = muon.exclude_embeddings and "embedding" in path.lower()
    named = any(re.search(pattern, path) for pattern in muon.exclude_layers or ())
    return variable.array.ndim != 2 or embedding or named


def _adam(muon, param, grad, slot, lr, step):
    rate = lr * sqrt(1 - power(muon.adam_beta_2, step)) / (1 - power(muon.adam_beta_1, step))
    slot.momentum = slot.momentum + (grad - slot.momentum) * (1 - muon.adam_beta_1)
    slot.velocity = slot.velocity + (grad * grad - slot.velocity) * (1 - muon.adam_beta_2)
    return param - rate * slot.momentum / (sqrt(slot.velocity) + muon.epsilon)


def _orthogonal(muon, x):
    """Approximate `u @ v` of the singular value decomposition `u @ s @ v` by Newton-Schulz."""
    rows, columns = x.shape
    x = transpose(x, perm=(1, 0)) if rows > columns else x
    x = x / (norm(x) + 1e-7)
    for _ in range(muon.ns_steps):
        square_of = matmul(x, x, transpose_b=True)
        mixed = muon.muon_b * square_of + matmul(muon.muon_c * square_of, square_of)
        x = muon.muon_a * x + matmul(mixed, x)
    return transpose(x, perm=(1, 0)) if rows > columns else x
