"""Where this package differs from TensorFlow by design, or TensorFlow from itself: what `peers.py`
lets pass. docs/fuzzing.md shows the same table, and a test compares them.
"""

import re

# reason: (what the program uses, what is said of it: TensorFlow's first, ours second)
_THEY_RAISE = r"raised'?, |^line \d+: 'raised' instead of"
_NAN_FOR_ZERO = r"\(nan\) instead of np\.float\d+\(-?0\.0\)"
DIFFERENCES = {
    "TensorFlow refuses empty arrays in several ops (`sort`, `pad`, `tensor_scatter_nd_update`); "
    "here an empty array gives an empty one": (r"\b0[,)\]]", _THEY_RAISE),
    "`bool(t)`, `if t:` of no elements: an error here, False in TensorFlow": (
        r"if |bool\(|while ", r"truth value of a tensor with 0 elements",
    ),
    "`cumprod` of zeros: its gradient is exact here; TensorFlow divides by the factors": (
        r"cumprod", r"0\.0\)? instead of|nan\)",
    ),
    "The derivative of `pow` by the exponent is 0 where the base is not above 0; NaN in TensorFlow "
    "where the power is not finite": (r"pow\(|\*\*", _NAN_FOR_ZERO),
    "`reduce_std` of equal numbers has derivatives 0; NaN in TensorFlow": (
        r"std\(", _NAN_FOR_ZERO,
    ),
    "`digamma` at its poles: its derivative is NaN as it is; infinite in TensorFlow": (
        r"digamma|lgamma", r"\(-?inf\) instead of np\.float\d+\(nan\)",
    ),
    "Second derivatives of `asin`, `acos`, `atanh` at 1 and -1: NaN here, infinite in TensorFlow": (
        r"(?s)(asin|acos|atanh)\(.*second\(", r"\(-?inf\) instead of np\.float\d+\(nan\)",
    ),
    "Second derivatives of `acosh`, `atan`, `atanh`, `erf`, `erfc` of numbers whose square "
    "overflows: 0 here, NaN in TensorFlow": (
        r"(?s)(acosh|atanh?|erfc?)\(.*second\(", _NAN_FOR_ZERO,
    ),
    "`gelu` and `hard_silu` of infinities and their slopes are limits here; NaN in TensorFlow": (
        r"gelu|hard_silu|hard_swish", r"\(nan\) instead of np\.float\d+\(-?(0\.0|1\.0|inf)\)",
    ),
    "`softsign` of infinities is NaN, and its derivative too; the derivative is 0 in TensorFlow": (
        r"softsign", r"\(-?0\.0\) instead of np\.float\d+\(nan\)",
    ),
    "`argmin`, `argmax` take NaN as NumPy does; TensorFlow passes it over": (
        r"(?s)(?=.*argm(in|ax)\()(?=.*(special=True|log|sqrt|acos|asin|pow|\*\*|/))",
        r"^line \d+: [-\d, \[\]]+ instead of [-\d, \[\]]+$",
    ),
    "`sort` puts NaN last, as NumPy does; TensorFlow's order is none": (
        r"(?s)(?=.*sort\()(?=.*(special=True|log|sqrt|acos|asin|pow|\*\*|/))",
        r"\(nan\) instead of|instead of \S+\(nan\)",
    ),
    "Second derivatives of `relu` and its kin, which are 0: None here, as nothing depends on the "
    "argument; zeros in TensorFlow": (
        r"(?s)(relu6?|hard_sigmoid)\(.*second\(", r"float\d+\[.*\] \[[-0., ]*\] instead of None$",
    ),
    "`nn.moments` has second derivatives; TensorFlow's take the mean for a constant": (
        r"(?s)moments\(.*second\(", r"\d\) instead of np\.float",
    ),
    "A sum that overflows where an infinity of the other sign is: products are rounded before they "
    "are added here, after it in TensorFlow": (
        r"(?s)(matmul|einsum|tensordot|dot|@).*special=True|special=True.*(matmul|einsum|dot|@)",
        r"\(-?inf\) instead of .*\(nan\)|\(nan\) instead of .*\(-?inf\)",
    ),
    "`leaky_relu` of float64: its slope has 64 bits; 32 in TensorFlow": (
        r"(?s)leaky_relu.*float64|float64.*leaky_relu", r"np\.float64\(-?\d.* instead of",
    ),
    "`cast` of a variable to its own dtype is its value then; TensorFlow gives the variable": (
        r"(?s)cast\(v\d.*\.assign", r"\d\) instead of|\] instead of",
    ),
    "TensorFlow refuses strings, and `[]` for no indices, by dtype; several functions take them": (
        r"'|\[\]", r"Value for attr '\w+' of (string|float) is not in the list",
    ),
    "`cholesky` of what holds NaN leaves what comes before it; TensorFlow's is NaN as a whole": (
        r"(?s)(?=.*cholesky\()(?=.*special=True)", r"\(nan\) instead of",
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
