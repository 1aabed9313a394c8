"""Where this package differs from TensorFlow by design, or TensorFlow from itself: what `peers.py`
lets pass. docs/fuzzing.md shows the same table, and a test compares them.

An entry has to explain what differs: where it is about one op, the statement that differs uses this
op, or a function that does; where it is about small errors, the numbers are near each other.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """What an entry of the table lets pass.

    Args:
        uses: a regular expression; the program has it.
        said: a regular expression of what differs: TensorFlow's result first, ours second.
        by: what the program calls on the line that differs: "second" for second derivatives.
        near: how far two numbers may lie apart, relative to the larger.
    """

    uses: str
    said: str
    by: str = ""
    near: float | None = None

    def explains(self, text, what):
        """Whether a program may differ so."""
        if not re.search(self.uses, text) or not re.search(self.said, what):
            return False
        return self._is_there(text, what) and self._is_near(what)

    def _is_there(self, text, what):
        place = re.match(r"line (\d+): ", what)
        if not self.by:
            return True
        lines = text.splitlines()
        found = "" if place is None else lines[min(int(place[1]), len(lines)) - 1]
        return f"{self.by}(" in found

    def _is_near(self, what):
        if self.near is None:
            return True
        pair = re.search(r"float\d+\((\S+)\) instead of np\.float\d+\((\S+)\)", what)
        if pair is None:
            return False
        a, b = map(float, pair.groups())
        return abs(a - b) <= self.near * max(abs(a), abs(b))


_RAISED = r"raised'?, |^line \d+: 'raised' instead of"
_NAN_FOR_ZERO = r"\(nan\) instead of np\.float\d+\(-?0\.0\)"
_NAN = r"(?=.*(special=True|log|sqrt|acos|asin|atanh|pow|\*\*|/))"  # what may make NaN
_BY_NAN = r"(?s)(?=.*{}\()" + _NAN
DIFFERENCES = {
    "TensorFlow refuses empty arrays in several ops (`sort`, `pad`, `tensor_scatter_nd_update`); "
    "here an empty array gives an empty one": Difference(
        r"(?s)(?=.*\(0,|.* 0[,)])"
        r"(?=.*(sort|top_k|pad|scatter\w*|reverse|roll|diag\w*|arg\w+|gather_nd|logits)\()",
        _RAISED,
    ),
    "`bool(t)`, `if t:` of no elements: an error here, False in TensorFlow": Difference(
        r"if |bool\(|while ", r"truth value of a tensor with 0 elements",
    ),
    "`cumprod` of zeros: its gradient is exact here; TensorFlow divides by the factors": Difference(
        r"cumprod\(", r"(nan|inf|0\.0)\) instead of|\(nan\)",
    ),
    "The derivative of `pow` by the exponent is 0 where the base is not above 0; NaN in TensorFlow "
    "where the power is not finite": Difference(r"pow\(|\*\*", _NAN_FOR_ZERO),
    "`reduce_std` of equal numbers has derivatives 0; NaN in TensorFlow": Difference(
        r"std\(", r"\(nan\) instead of np\.float\d+\(-?\d",
    ),
    "`digamma` at its poles: its derivative is NaN as it is; infinite in TensorFlow": Difference(
        r"(digamma|lgamma)\(", r"\(-?inf\) instead of np\.float\d+\(nan\)",
    ),
    "Second derivatives of `asin`, `acos`, `atanh` at 1 and -1: NaN here, infinite in TensorFlow": (
        Difference(
            r"(asin|acos|atanh)\(", r"\(-?inf\) instead of np\.float\d+\(nan\)", by="second"
        )
    ),
    "Second derivatives of `acosh`, `atan`, `atanh`, `erf`, `erfc` of numbers whose square "
    "overflows: 0 here, NaN in TensorFlow": Difference(
        r"(acosh|atanh?|erfc?)\(", _NAN_FOR_ZERO, by="second"
    ),
    "`gelu` and `hard_silu` of infinities and their slopes are limits here; NaN in TensorFlow": (
        Difference(
            r"(gelu|hard_silu|hard_swish)\(",
            r"\(nan\) instead of np\.float\d+\(-?(0\.0|1\.0|inf)\)",
        )
    ),
    "`softsign` of infinities is NaN, and its derivative too; the derivative is 0 in TensorFlow": (
        Difference(r"softsign\(", r"\(-?0\.0\) instead of np\.float\d+\(nan\)")
    ),
    "`softmax` of what holds an infinity is NaN as a whole; in TensorFlow elsewhere 0": Difference(
        r"softmax\(", r"\(-?\d\S*\) instead of np\.float\d+\(nan\)",
    ),
    "`cumulative_logsumexp` of infinities has derivatives, and NaN stays NaN; TensorFlow gives NaN "
    "there, and passes over NaN": Difference(
        r"(?s)(?=.*cumulative_logsumexp\()" + _NAN,
        r"\(nan\) instead of|instead of np\.float\d+\(nan\)|^line \d+: np\.float\d+\([12]\.0\)",
    ),
    "`argmin`, `argmax` take NaN as NumPy does; TensorFlow passes it over": Difference(
        _BY_NAN.format("argm(in|ax)"), r"^line \d+: [-\d, \[\]]+ instead of [-\d, \[\]]+$",
    ),
    "`sort` puts NaN last, as NumPy does; TensorFlow's order is none": Difference(
        _BY_NAN.format("sort"),
        r"\(nan\) instead of|instead of \S+\(nan\)|^line \d+: [-\d, \[\]]+ instead of",
    ),
    "Second derivatives of `relu` and its kin, which are 0: None here, as nothing depends on the "
    "argument; zeros in TensorFlow": Difference(
        r"(relu6?|hard_sigmoid|hard_silu|hard_swish|max_pool\w*)\(",
        r"float\d+\[.*\] \[[-0., ]*\] instead of None$", by="second",
    ),
    "`nn.moments` has second derivatives; TensorFlow's take the mean for a constant": Difference(
        r"moments\(", r"float\d+\(\S*\d\) instead of np\.float"
    ),
    "A sum that overflows where an infinity of the other sign is: products are rounded before they "
    "are added here, after it in TensorFlow": Difference(
        r"(?s)(?=.*(matmul|einsum|tensordot|dot)\(|.* @ )(?=.*special=True)",
        r"\(-?(inf|0\.0)\) instead of .*\(nan\)|\(nan\) instead of .*\(-?inf\)",
    ),
    "`leaky_relu` of float64: its slope has 64 bits; 32 in TensorFlow": Difference(
        r"(?s)(?=.*leaky_relu\()(?=.*float64)", r"np\.float64\(-?\d.* instead of", near=1e-6
    ),
    "`cast` of a variable to its own dtype is its value then; TensorFlow gives the variable": (
        Difference(
            r"(?s)v(\d+) = tf\.Variable\([^\n]*'(\w+)'.*cast\(v\1, (?:tf\.|')\2.*v\1\.assign",
            r"\d\) instead of|\] instead of",
        )
    ),
    "Keras on TensorFlow refuses indices of int8, a string and `tf.Variable` in several functions, "
    "`tf.gather` indices of int8; they are taken here": Difference(
        r"keras\.ops\.(\w+\((tf\.Variable|'float32')|take)|gather\(|keras\.ops\.\w+\(",
        r"attr 'Tindices' of u?int8|'ResourceVariable' object has no|" + _RAISED,
    ),
    "`slice` of a 0-d tensor takes `[]` for no positions; TensorFlow refuses": Difference(
        r"slice\([^\n]*, \[\], \[\]\)", _RAISED,
    ),
    "`gather` refuses a position outside an axis, also where the result has no elements; "
    "TensorFlow gives nothing for it": Difference(
        r"gather\(", r"instead of \('raised', 'Error', 'gather: `indices` must lie",
    ),
    "A number outside the range of an unsigned dtype is refused; Keras on TensorFlow wraps it": (
        Difference(r"uint8", r"instead of \('raised', 'Error', .Operands: got the number -")
    ),
    "`inv` of a matrix with NaN is NaN; TensorFlow refuses": Difference(
        r"(?s)(?=.*linalg\.inv\()" + _NAN, r"Input is not invertible|" + _RAISED,
    ),
    "`einsum` of int8, `rint` of 16-bit floats and derivatives of `digamma` in float16 are "
    "computed; TensorFlow has none": (
        Difference(
            r"(?s)(?=.*einsum\()(?=.*int8)|(?=.*(rint|digamma)\()(?=.*float16)",
            r"Could not find device for node|^line \d+: 'raised' instead of",
        )
    ),
    "TensorFlow refuses strings, and `[]` for no indices, by dtype; several functions take them": (
        Difference(
            r"'|\[\]",
            r"Value for attr '\w+' of (string|float) is not in the list"
            r"|Cannot convert 1 to EagerTensor of dtype string",
        )
    ),
    "`einsum` takes sequences of numbers; TensorFlow takes tensors only": Difference(
        r"einsum\(", r"'(tuple|list)' object has no attribute 'shape'|" + _RAISED,
    ),
    "`assign_add`, `assign_sub` of a variable take a scalar; TensorFlow wants the variable's "
    "shape": Difference(r"\.assign_(add|sub)\(", r"Cannot update variable with shape"),
    "`softmax_cross_entropy_with_logits` of labels whose sum is not 1 has its derivatives here; "
    "TensorFlow's are those of a sum of 1": Difference(
        r"softmax_cross_entropy_with_logits\(", r"float\d+\(\S*\d\) instead of np\.float",
    ),
    "`softmax_cross_entropy_with_logits` wants labels of the rank of the logits, and broadcasts "
    "both; TensorFlow broadcasts labels only, of any rank": Difference(
        r"softmax_cross_entropy_with_logits\(",
        r"instead of \('raised'.* do not fit logits|Input to reshape is a tensor with",
    ),
    "`len(v)` of a variable is its first size; TensorFlow refuses": Difference(
        r"len\(", r"'ResourceVariable' has no len|^line \d+: 'raised' instead of",
    ),
    "Slopes of roots and variances where the squares overflow: NaN here, 0 or a number in "
    "TensorFlow": Difference(
        r"(?s)(?=.*(norm|moments|std|variance)\()(?=.*special=True)",
        r"instead of np\.float\d+\(nan\)",
    ),
    "`cholesky` of what holds NaN leaves what comes before it; TensorFlow's is NaN as a whole": (
        Difference(r"(?s)(?=.*cholesky\()(?=.*special=True)", r"\(nan\) instead of")
    ),
    "TensorFlow's `gelu(approximate=True)` loses its digits where 1 + tanh is near 0": Difference(
        r"gelu\([^\n]*True", r"\(-?\d\S*e-\d\d\) instead of|instead of \S+\(-?\d\S*e-\d\d\)",
    ),
    "`gelu` of float64 has 64 bits; its constants have 32 in TensorFlow": Difference(
        r"(?s)(?=.*gelu\()(?=.*float64)", r"np\.float64\(-?\d.* instead of", near=1e-7
    ),
    "`gelu(approximate=True)` of numbers far below 0 and `elu` of numbers near 0 keep their "
    "digits; TensorFlow loses some": Difference(
        r"gelu\([^\n]*True|elu\(", r"float32\(-?\d.* instead of", near=1e-3
    ),
    "`if` in a `tf.function` may assign a name in one branch only, and a thread may call it first; "
    "TensorFlow's AutoGraph refuses the one, and does not convert in the other": Difference(
        r"(?s)@tf\.function.*\n +if ", r"Using a symbolic `tf\.Tensor`|" + _RAISED,
    ),
    "Second derivatives of `softsign` and through `recompute_grad`; TensorFlow has none": (
        Difference(r"(?s)(softsign|recompute_grad)\(.*(second|grads)\(", _RAISED)
    ),
    "A second derivative in which 0 is multiplied by an infinity is NaN, or not, by the order of "
    "the products": Difference(
        r"special=True", r"\(-?inf\) instead of np\.float\d+\(nan\)|"
        r"\(nan\) instead of np\.float\d+\(-?inf\)", by="second",
    ),
    "Second derivatives of norms are finite; TensorFlow's of a norm of a norm are NaN": Difference(
        r"(norm|normalize)\(", _NAN_FOR_ZERO, by="second",
    ),
    "Derivatives that cancel are 0 here; in TensorFlow rounding errors are left": Difference(
        r"xdivy|cumprod|/", r"\(-?\d\S*e-0\d\) instead of np\.float\d+\((-?0\.0|\S*e-0\d)\)",
    ),
    "`cholesky` refuses a matrix that is not positive definite; TensorFlow gives NaN": Difference(
        r"cholesky\(", r"instead of \('raised', 'Error', 'cholesky: the matrix is not positive",
    ),
    "A denormal number below 0 modulo d is d, by rounding; TensorFlow takes it for 0": Difference(
        r"(?s)(?=.*special=True).* % |mod\(", r"\(-?0\.0\) instead of",
    ),
    "`%` that leaves nothing has the divisor's sign of 0, as in NumPy": Difference(
        r" % |mod\(", r"\(-1\.0\) instead of np\.float\d+\(1\.0\)|inf\) instead of",
    ),
    "Comparisons of unsigned integers with a negative number are those of the numbers; TensorFlow "
    "wraps it": Difference(r"(?s)(?=.*[<>=]=? -\d)(?=.*uint8)", r""),
    "`-t` of unsigned integers is computed; TensorFlow has none": Difference(
        r"(?s)(?=.*-[a-z(])(?=.*uint8)", _RAISED,
    ),
    "`reverse` of a 0-d tensor refuses an axis; TensorFlow passes over it": Difference(
        r"reverse\(", r"'tuple' instead of 'raised'|instead of \('raised', 'Error', 'reverse:",
    ),
    "Second derivatives of `sign` are zeros; None in TensorFlow": Difference(
        r"sign\(", r"None instead of float\d+\[.*\] \[[-0., ]*\]", by="second",
    ),
    "Second derivatives where the slope of a root is infinite: 0 times infinity is 0 here, NaN in "
    "TensorFlow": Difference(
        r"(?s)(?=.*sqrt\()(?=.*special=True)", r"\(nan\) instead of np\.float", by="second",
    ),
    "`inv` of 16-bit floats is refused; TensorFlow computes it": Difference(
        r"linalg\.inv\(", r"instead of \('raised', 'Error', 'inv: expected a dtype of 32 bits",
    ),
    "TensorFlow takes float32 numbers below 1e-37 for zeros, also where they are factors": (
        Difference(r"special=True", r"\(-?0\.0\) instead of np\.float32\(-?\d")
    ),
    "`softmax_cross_entropy_with_logits` of no classes for rows that logits have alone: no rows "
    "here, the logits' rows in TensorFlow": Difference(
        r"softmax_cross_entropy_with_logits\(", r"float32\[1\] instead of float32\[0\]",
    ),
    "Python effects of a `tf.function` take place at each trace, and in each thread that traces": (
        Difference(r"(?s)@tf\.function.*probe\(.*threads\(", r"^line \d+: threads\(")
    ),
}  # fmt: skip


def reason_of(text, what):
    """Why a program may differ so; None where no entry of the table says it."""
    return next((r for r, entry in DIFFERENCES.items() if entry.explains(text, what)), None)
