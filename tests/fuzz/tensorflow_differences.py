"""Where this package differs from TensorFlow by design, or TensorFlow from itself: what `peers.py`
lets pass. docs/fuzzing.md shows the same table, and a test compares them.

An entry has to explain what differs. Where one side raises, its message says which op refuses what
(`_theirs`, `_ours`). Where it is about one op, the statement that differs uses this op, or a
function that does; where it is about small errors, the numbers are near each other.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """What an entry of the table lets pass.

    Args:
        uses: a regular expression; the program has it. Empty if `said` is enough by itself, as a
            message is that names the op and the reason.
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


def _theirs(message, uses=""):
    """TensorFlow raises an error with this message, and this package does not."""
    told = r"^(line \d+: \('raised', |ends with \()'Error', (?:(?! instead of ).)*"
    return Difference(uses, f"{told}(?:{message})")


def _ours(message, uses=""):
    """This package raises an error that begins with this message, and TensorFlow does not."""
    return Difference(uses, rf" instead of \((?:'raised', )?'Error', .(?:{message})")


_NAN_FOR_ZERO = r"\(nan\) instead of np\.float\d+\(-?0\.0\)"
_NAN = r"(?=.*(special=True|log|sqrt|acos|asin|atanh|pow|\*\*|/))"  # what may make NaN
_BY_NAN = r"(?s)(?=.*{}\()" + _NAN
DIFFERENCES = {
    "TensorFlow refuses empty arrays in `gather_nd`, `tensor_scatter_nd_update`, "
    "`tensor_scatter_nd_add`, reflecting `pad` and the gradient of `sort`; here an empty array "
    "gives an empty one": _theirs(
        "but params is empty|specified for empty output shape|paddings must be less than the "
        "dimension size: 0, 0 not less than 0|Requires delta != 0"
    ),
    "`bool(t)`, `if t:` of no elements: an error here, False in TensorFlow": _ours(
        "The truth value of a tensor with 0 elements"
    ),
    "The derivative of `cumprod` is exact where a factor is 0; TensorFlow divides by the "
    "factors": Difference(
        r"cumprod\(", r"(nan|inf|0\.0)\) instead of",
    ),
    "The derivative of `pow` with respect to the exponent is 0 where the base is 0 or less; in "
    "TensorFlow it is NaN where the power is not finite": Difference(r"pow\(|\*\*", _NAN_FOR_ZERO),
    "The derivative of `reduce_std` of equal numbers is 0; NaN in TensorFlow": Difference(
        r"std\(", r"\(nan\) instead of np\.float\d+\(-?\d",
    ),
    "The derivative of `digamma` at its poles is NaN, as the value is; infinite in "
    "TensorFlow": Difference(
        r"(digamma|lgamma)\(", r"\(-?inf\) instead of np\.float\d+\(nan\)",
    ),
    "Second derivatives of `asin`, `acos`, `atanh` at 1 and -1 are NaN; infinite in TensorFlow": (
        Difference(
            r"(asin|acos|atanh)\(", r"\(-?inf\) instead of np\.float\d+\(nan\)", by="second"
        )
    ),
    "Second derivatives of `acosh`, `atan`, `atanh`, `erf`, `erfc` of numbers whose square "
    "overflows are 0; NaN in TensorFlow": Difference(
        r"(acosh|atanh?|erfc?)\(", _NAN_FOR_ZERO, by="second"
    ),
    "`gelu` and `hard_silu` of infinities and their derivatives are the limits; NaN in "
    "TensorFlow": (
        Difference(
            r"(gelu|hard_silu|hard_swish)\(",
            r"\(nan\) instead of np\.float\d+\(-?(0\.0|1\.0|inf)\)",
        )
    ),
    "`softsign` of infinities and its derivative are NaN; the derivative is 0 in TensorFlow": (
        Difference(r"softsign\(", r"\(-?0\.0\) instead of np\.float\d+\(nan\)")
    ),
    "`softmax` of a row with an infinity is NaN in each element; in TensorFlow some elements are "
    "0": Difference(
        _BY_NAN.format("softmax"), r"\(-?\d\S*\) instead of np\.float\d+\(nan\)",
    ),
    "`cumulative_logsumexp` of infinities has derivatives, which are NaN in TensorFlow; after a "
    "NaN all results are NaN, in TensorFlow some are not": Difference(
        r"(?s)(?=.*cumulative_logsumexp\()" + _NAN,
        r"\(nan\) instead of|instead of np\.float\d+\(nan\)|^line \d+: np\.float\d+\([12]\.0\)",
    ),
    "`argmin` and `argmax` return the position of the first NaN, as in NumPy; TensorFlow ignores "
    "NaN": Difference(
        _BY_NAN.format("argm(in|ax)"), r"^line \d+: [-\d, \[\]]+ instead of [-\d, \[\]]+$",
    ),
    "`sort` puts NaN last, as NumPy does; in TensorFlow a NaN leaves the array without "
    "order": Difference(
        _BY_NAN.format("sort"),
        r"\(nan\) instead of|instead of \S+\(nan\)|^line \d+: [-\d, \[\]]+ instead of",
    ),
    "The second derivative of `relu`, `hard_sigmoid` and similar functions is None, because the "
    "first is constant where it exists; TensorFlow returns zeros": Difference(
        r"(relu6?|hard_sigmoid|hard_silu|hard_swish|max_pool\w*)\(",
        r"float\d+\[.*\] \[[-0., ]*\] instead of None$", by="second",
    ),
    "Second derivatives of `nn.moments` are exact; TensorFlow treats the mean as a "
    "constant": Difference(
        r"(?s)(?=.*moments\()(?=.*(second\(|GradientTape))",
        r"float\d+\(\S*\d\) instead of np\.float",
    ),
    "Matrix products of infinities and numbers that overflow: a product is rounded before it is "
    "added, so that the sum can be NaN; TensorFlow rounds once, after adding": Difference(
        r"(?s)(?=.*(matmul|einsum|tensordot|dot)\(|.* @ )(?=.*special=True)",
        r"\(-?(inf|0\.0)\) instead of .*\(nan\)|\(nan\) instead of .*\(-?inf\)",
    ),
    "The slope of `leaky_relu` of float64 has 64 bits; 32 in TensorFlow": Difference(
        r"(?s)(?=.*leaky_relu\()(?=.*float64)", r"np\.float64\(-?\d.* instead of", near=1e-6
    ),
    "`cast` of a variable to its own dtype returns the value; TensorFlow returns the variable": (
        Difference(
            r"(?s)v(\d+) = tf\.Variable\([^\n]*'(\w+)'.*cast\(v\1, (?:tf\.|')\2.*v\1\.assign",
            r"\d\) instead of|\] instead of",
        )
    ),
    "Keras on TensorFlow refuses a `tf.Variable` in `moveaxis`, `swapaxes`, `argmin` and `take`, "
    "and TensorFlow refuses indices of int8; both are taken here": _theirs(
        "attr 'Tindices' of u?int8|'ResourceVariable' object has no attribute 'ndim'"
    ),
    "`slice` of a 0-d tensor takes `[]` for no positions; TensorFlow refuses it": _theirs(
        "attr 'Index' of float is not in the list", r"\[\]|tf\.slice\("
    ),
    "`gather` refuses an index outside the axis, also where the result has no elements; "
    "TensorFlow returns the empty result": Difference(
        "", r"^line \d+: .*\[\].* instead of \('raised', 'Error', .gather: `indices` must lie"
    ),
    "A number outside the range of an unsigned dtype is refused; Keras on TensorFlow wraps it": (
        _ours("Operands: got the number -", r"keras\.")
    ),
    "`inv` of a matrix with NaN is NaN; TensorFlow raises an error": _theirs(
        "Input is not invertible", r"(?s)(?=.*linalg\.inv\()" + _NAN
    ),
    "Functions of a dtype for which TensorFlow has no code are computed: `sort` of booleans, `-t` "
    "of unsigned integers, `einsum` and `tensordot` of small integers, `rint`, `lgamma`, "
    "`digamma` and their derivatives in 16 bits": _theirs(
        r"node: \{\{node (Einsum|MatMul|BatchMatMulV2)\}\} = \w+\[[^\]]*T=DT_U?INT"
        r"|node: \{\{node (Rint|Lgamma|Digamma)\}\} = \w+\[T=DT_B?(HALF|FLOAT16)"
        r"|attr 'T' of half is not in the list of allowed values: float, double.\)"
        r"|attr 'T' of (bool|u?int\d+) is not in the list of allowed values: bfloat16, half, "
        "float, double, int8, int16, int32, int64, complex64"
    ),
    "`einsum` takes sequences of numbers; TensorFlow takes tensors only": _theirs(
        "'(tuple|list)' object has no attribute 'shape'", r"einsum\("
    ),
    "`assign_add`, `assign_sub` of a variable take a scalar; TensorFlow wants the variable's "
    "shape": _theirs("Cannot update variable with shape"),
    "The derivative of `softmax_cross_entropy_with_logits` holds for labels with any sum; "
    "TensorFlow's only for labels whose sum is 1": Difference(
        r"softmax_cross_entropy_with_logits\(labels=(?!tf\.nn\.softmax)",
        r"float\d+\(\S*\d\) instead of np\.float",
    ),
    "`softmax_cross_entropy_with_logits` broadcasts labels and logits of the same rank; "
    "TensorFlow broadcasts the labels only, which can have another rank": Difference(
        r"softmax_cross_entropy_with_logits\(",
        r" instead of \((?:'raised', )?'Error', .softmax_cross_entropy_with_logits: labels of shape"
        r"|^line \d+: \('raised', .*Input to reshape is a tensor with",
    ),
    "`len(v)` of a variable is its first size; TensorFlow raises an error": _theirs(
        "object of type 'ResourceVariable' has no len"
    ),
    "Derivatives of norms, standard deviations and variances are NaN where the squares overflow; "
    "0 or a number in TensorFlow": Difference(
        r"(?s)(?=.*(norm|moments|std|variance)\()(?=.*special=True)",
        r"instead of np\.float\d+\(nan\)",
    ),
    "`cholesky` of a matrix with NaN keeps the rows above the NaN; in TensorFlow all are NaN": (
        Difference(r"(?s)(?=.*cholesky\()(?=.*special=True)", r"\(nan\) instead of")
    ),
    "`gelu(approximate=True)` keeps its digits where 1 + tanh is near 0; TensorFlow loses "
    "them": Difference(
        r"gelu\([^\n]*True", r"\(-?\d\S*e-\d\d\) instead of|instead of \S+\(-?\d\S*e-\d\d\)",
    ),
    "The constants in `gelu` of float64 have 64 bits; 32 in TensorFlow": Difference(
        r"(?s)(?=.*gelu\()(?=.*float64)", r"np\.float64\(-?\d.* instead of", near=1e-7
    ),
    "`gelu(approximate=True)` of numbers far below 0 and `elu` of numbers near 0 keep their "
    "digits; TensorFlow loses some": Difference(
        r"gelu\([^\n]*True|elu\(", r"float32\(-?\d.* instead of", near=1e-3
    ),
    "A `tf.function` with an `if` on a tensor can be called first by a thread; TensorFlow's "
    "AutoGraph does not convert the `if` there": _theirs(
        r"Using a symbolic `tf\.Tensor`", r"(?s)@tf\.function.*\n +if "
    ),
    "Second derivatives of `softsign`; TensorFlow has none": _theirs(
        "no entry for: SoftsignGrad"
    ),
    "In second derivatives at infinities, the order of the factors decides between NaN and "
    "infinity, and differs from TensorFlow's": Difference(
        r"special=True", r"\(-?inf\) instead of np\.float\d+\(nan\)|"
        r"\(nan\) instead of np\.float\d+\(-?inf\)", by="second",
    ),
    "Second derivatives of a norm of a norm are finite; NaN in TensorFlow": Difference(
        r"(norm|normalize)\(", _NAN_FOR_ZERO, by="second",
    ),
    "Derivatives of quotients that cancel are 0; in TensorFlow rounding errors remain": Difference(
        r"xdivy|cumprod|/", r"\(-?\d\S*e-0\d\) instead of np\.float\d+\(-?0\.0\)",
    ),
    "`cholesky` refuses a matrix that is not positive definite; TensorFlow returns NaN": Difference(
        "", r"\bnan\b.* instead of \((?:'raised', )?'Error', .cholesky: the matrix is not positive"
    ),
    "A negative denormal number modulo d is d, by rounding; TensorFlow treats the number as "
    "0": Difference(
        r"(?s)(?=.*special=True)(?=.*( % |mod\())", r"\(-?0\.0\) instead of",
    ),
    "A remainder of 0 has the sign of the divisor, as in NumPy; in TensorFlow that of the "
    "dividend": Difference(
        r" % |mod\(",
        r"\(-1\.0\) instead of np\.float\d+\(1\.0\)"
        r"|\((-?)inf\) instead of np\.float\d+\((?!\1inf)-?inf\)",
    ),
    "Unsigned integers are compared with a negative number as it is; TensorFlow wraps the "
    "number": Difference(r"(?s)(?=.*[<>=]=? -\d)(?=.*uint8)", r"True|False"),
    "`*` of booleans is refused; TensorFlow computes `&`, also for `t * 0.5`": _ours(
        r"Cannot convert \S+ to a tensor of dtype bool|multiply: expected numbers, got bool"
    ),
    "`reverse` of a 0-d tensor refuses an axis; TensorFlow ignores the axis": _ours(
        "reverse: axis=-?[01] is out of range for a tensor of rank 0"
    ),
    "Second derivatives of `sign` are zeros; None in TensorFlow": Difference(
        r"sign\(", r"None instead of float\d+\[.*\] \[[-0., ]*\]", by="second",
    ),
    "Second derivatives where the derivative of a root is infinite can be 0; NaN in TensorFlow, "
    "by 0 times infinity": Difference(
        r"(?s)(?=.*sqrt\()(?=.*special=True)", r"\(nan\) instead of np\.float", by="second",
    ),
    "`inv` of 16-bit floats is refused; TensorFlow computes it": _ours(
        "inv: expected a dtype of 32 bits"
    ),
    "Denormal float32 numbers are computed; TensorFlow treats numbers below 1e-37 as 0": (
        Difference(r"special=True", r"\(-?0\.0\) instead of np\.float32\(-?\d")
    ),
    "`softmax_cross_entropy_with_logits` of labels (0, n) and logits (1, n) broadcasts to no "
    "rows; TensorFlow returns one row": Difference(
        r"softmax_cross_entropy_with_logits\(", r"float32\[1\] instead of float32\[0\]",
    ),
    "What a `tf.function` does besides its ops happens while it is traced; which calls of several "
    "threads trace differs": (
        Difference(r"(?s)@tf\.function.*probe\(.*threads\(", r"^line \d+: threads\(")
    ),
}  # fmt: skip


def reason_of(text, what):
    """Why a program may differ so; None where no entry of the table says it."""
    return next((r for r, entry in DIFFERENCES.items() if entry.explains(text, what)), None)


def reason_by_message(what):
    """Why a program may differ so, whatever else it contains: one side's message says it."""
    entries = ((r, entry) for r, entry in DIFFERENCES.items() if not entry.uses)
    return next((r for r, entry in entries if entry.explains("", what)), None)
