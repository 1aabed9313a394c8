"""The usual learning rates of each optimizer."""

import numpy as np

from framework.optimizers.asking import inside, is_ours, is_several

_LOWEST = 1e-6
_HIGHEST = {
    "SGD": 1.0, "Adagrad": 1.0, "Adadelta": 10.0, "Ftrl": 1.0, "Lion": 0.01, "Muon": 0.5,
    "Adafactor": 0.5, "Lamb": 0.3,
    # With these optimizers, a step changes each weight by about the learning rate.
    **dict.fromkeys(("Adam", "AdamW", "Adamax", "Nadam", "RMSprop", "ScheduleFreeAdamW"), 0.1),
}  # fmt: skip


def unusual_rate(optimizer):
    """Return (-1 or 1, message) for a learning rate below or above the usual ones, else (0, "").

    A rate of 0 counts as usual: schedules start from it, and parameter groups are frozen with it.
    """
    optimizer = inside(optimizer)
    if not is_ours(optimizer) or is_several(optimizer):
        return 0, ""
    rate = float(np.asarray(optimizer.learning_rate))
    kind = type(optimizer).__name__
    highest = _HIGHEST.get(kind)
    if highest is None or rate == 0 or 0.99 * _LOWEST < rate < 1.01 * highest:
        return 0, ""
    side = -1 if rate < _LOWEST else 1
    how = "below" if side < 0 else "above"
    return side, (
        f"the learning rate {rate:.4g} is {how} the usual rates of {kind}, {_LOWEST:g} to "
        f"{highest:g}. Pass another, such as {kind}({0.01 if kind == 'SGD' else 0.001})"
    )
