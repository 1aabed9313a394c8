"""Where this package differs from TensorFlow by design, or TensorFlow from itself: what `peers.py`
lets pass. docs/fuzzing.md shows the same table, and a test compares them.
"""

import re

# reason: (what the program uses, what is said of it: TensorFlow's first, ours second)
_THEY_RAISE = r"raised'?, |^line \d+: 'raised' instead of"
DIFFERENCES = {
    "TensorFlow refuses empty arrays in several ops (`sort`, `pad`, `tensor_scatter_nd_update`); "
    "here an empty array gives an empty one": (r"\b0[,)\]]", _THEY_RAISE),
    "`bool(t)`, `if t:` of no elements: an error here, False in TensorFlow": (
        r"if |bool\(|while ", r"truth value of a tensor with 0 elements",
    ),
    "`cumprod` of zeros: its gradient is exact here; TensorFlow divides by the factors": (
        r"cumprod", r"0\.0\)? instead of|nan\)",
    ),
    "Outside of an op's domain its value is NaN; derivatives are what their formula gives there": (
        r"acosh|asin|acos|atanh|sqrt|log|pow|\*\*|norm|std|xlogy|xdivy|erfinv|lgamma|digamma",
        r"nan\)",
    ),
    "TensorFlow's `gelu(approximate=True)` loses its digits where 1 + tanh is near 0": (
        r"gelu", r"e-\d\d",
    ),
}  # fmt: skip


def reason_of(text, what):
    """Why a program may differ so; None where no entry of the table says it."""
    for reason, (uses, said) in DIFFERENCES.items():
        if re.search(uses, text) and re.search(said, what):
            return reason
    return None
