"""Translation rules for dropout and random draws; the runtime draws from its own generator."""

import numpy as np

from framework.saving.onnx.rules import rule
from framework.saving.onnx.rules.operands import number

_BOOL = np.dtype(bool)


@rule("dropout")
def dropout(b, x, noise, *, rate):
    kept = b("GreaterOrEqual", noise, number(b, rate, noise), dtype=_BOOL)
    scale = 1 / (1 - rate) if rate < 1 else 0.0
    return b("Mul", x, b("Mul", b.cast(kept, x.dtype), number(b, scale, x)))


def drawn(b, *, distribution, shape, dtype, a, b_):
    """Return the Reference of a random draw.

    Args:
        b: the Builder.
        distribution, shape, dtype, a, b_: as in `core.random.Draw`.
    """
    if distribution not in ("normal", "uniform") or np.ndim(a) or np.ndim(b_):
        b.refuse(f"the distribution {distribution!r} has no ONNX operator")
    like = b.fill(0, shape, dtype.np)
    b.name_of(like)
    if distribution == "normal":
        return b("RandomNormalLike", like, mean=float(a), scale=float(b_))
    return b("RandomUniformLike", like, low=float(a), high=float(b_))
