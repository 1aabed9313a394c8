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
        number = r"(?:float|complex)\d+\((\S+)\)"
        pair = re.search(rf"{number} instead of np\.{number}", what)
        if pair is None:
            return False
        a, b = map(complex, pair.groups())
        return abs(a - b) <= self.near * max(abs(a), abs(b))


def _theirs(message, uses=""):
    """TensorFlow raises an error with this message, and this package does not."""
    told = r"^(line \d+: \('raised', |ends with \()'Error', (?:(?! instead of ).)*"
    return Difference(uses, f"{told}(?:{message})")


def _ours(message, uses=""):
    """This package raises an error that begins with this message, and TensorFlow does not."""
    return Difference(uses, rf" instead of \((?:'raised', )?'Error', .(?:{message})")


_NAN_FOR_ZERO = r"\(nan\) instead of np\.float\d+\(-?0\.0\)"
_NAN = r"(?=.*(special=True|digamma|log|sqrt|acos|asin|atanh|pow|mod|\*\*|/))"  # what may make NaN
_BY_NAN = r"(?s)(?=.*{}\()" + _NAN
DIFFERENCES = {
    "`gather_nd`, `tensor_scatter_nd_update`, `tensor_scatter_nd_add`, reflecting `pad` and the "
    "gradient of `sort` return an empty array for an empty array; TensorFlow "
    "raises an error": _theirs(
        "but params is empty|specified for empty output shape|paddings must be less than the "
        "dimension size: 0, 0 not less than 0|Requires delta != 0"
    ),
    "`bool(t)` and `if t:` raise an error for a tensor without elements; False "
    "in TensorFlow": _ours(
        "The truth value of a tensor with 0 elements"
    ),
    "The derivative of `cumprod` is exact where a factor is 0; TensorFlow divides by the "
    "factors": Difference(
        r"cumprod\(", r"(nan|inf|[01]\.0|1\.5707\d*)\) instead of",
    ),
    "Sums of this derivative and others, likewise": Difference(
        r"(?s)(?=.*cumprod\()(?=.*special=True)",
        r"float\d+\(-?\d\S*\) instead of np\.float\d+\(-?\d", by="grads",
    ),
    "Second derivatives of `reduce_prod` are exact; TensorFlow divides by the factors": Difference(
        r"reduce_prod\(", r"(nan|inf|0\.0)\) instead of", by="second",
    ),
    "Products of numbers with 0 whose partial products overflow are NaN or 0, depending on the "
    "order of the factors": Difference(
        r"reduce_prod\(", r"\(nan\) instead of np\.float\d+\(-?0\.0\)|"
        r"\(-?0\.0\) instead of np\.float\d+\(nan\)",
    ),
    "The derivative of x / x is a difference of two equal large numbers, of which rounding is "
    "left": Difference(
        r"\b(\w+) / \1\b", r"float\d+\(-?\d\S*\) instead of np\.float\d+\(-?\d", near=1e-3
    ),
    "The derivative of `reduce_std` of equal numbers is 0; NaN in TensorFlow": Difference(
        r"std\(", r"\(nan\) instead of np\.float\d+\(-?\d",
    ),
    "The derivative of `digamma` at its poles is NaN, like the value; infinite "
    "in TensorFlow": Difference(
        r"(digamma|lgamma)\(", r"\(-?inf\) instead of np\.float\d+\(nan\)",
    ),
    "The derivatives of `digamma` and `lgamma` are right below -7 too; in TensorFlow the series "
    "of float32 ends too early there": Difference(
        r"(digamma|lgamma)\(",
        r"float\d+\(-?[\di]\S*\) instead of np\.float\d+\(-?(9|\d\d)[\d.]*\)",
    ),
    "Second derivatives of `asin`, `acos`, `atanh` at 1 and -1 are NaN; infinite in TensorFlow": (
        Difference(
            r"(asin|acos|atanh)\(", r"\(-?inf\) instead of np\.float\d+\(nan\)", by="second"
        )
    ),
    "`saturate_cast` of NaN to integers is 0; in TensorFlow another number of the "
    "dtype": Difference(
        _BY_NAN.format("saturate_cast"), r"^line \d+: [-\d, \[\]]+ instead of [-\d, \[\]]+$",
    ),
    "Second derivatives of `bessel_i0e` at denormal float16 numbers are finite; infinite in "
    "TensorFlow": Difference(
        r"(?s)(?=.*bessel_i0e\()(?=.*float16)", r"float16\(-?inf\) instead of np\.float16\(-?\d",
        by="second",
    ),
    "`erf` of large float64 numbers and of infinities is 1 or -1; NaN in TensorFlow": Difference(
        r"(?s)(?=.*erf\()(?=.*float64)(?=.*special=True)",
        r"float64\(nan\) instead of np\.float64\(-?1\.0\)",
    ),
    "`l2_normalize`, `reduce_std` and `reduce_variance` of 16-bit floats are computed in float32; "
    "TensorFlow rounds each step to 16 bits, and sums of squares overflow": Difference(
        r"(?s)(?=.*(l2_normalize|reduce_std|reduce_variance)\()(?=.*float16)",
        r"float(16|32)\((nan|-?\d\S*)\) instead of np\.float(16|32)\(-?\d",
    ),
    "Second derivatives of `acosh`, `asinh`, `atan`, `atan2`, `atanh`, `erf`, `erfc` of numbers "
    "whose square overflows are 0; NaN in TensorFlow": Difference(
        r"(a(cos|sin)h|atan[2h]?|erfc?)\(", _NAN_FOR_ZERO, by="second"
    ),
    "`gelu` and `hard_silu` of infinities and their derivatives are the limits; NaN in "
    "TensorFlow": (
        Difference(
            r"(?s)(?=.*(gelu|hard_silu|hard_swish)\()(?=.*special=True)",
            r"\(nan\) instead of np\.float\d+\(-?(\d\S*|inf)\)",
        )
    ),
    "`softsign` of infinities and its derivative are NaN; the derivative is 0 in TensorFlow": (
        Difference(r"softsign\(", r"\(-?\d\S*\) instead of np\.float\d+\(nan\)")
    ),
    "`softmax` of a row with an infinity or NaN is NaN in each element; in TensorFlow some are "
    "0": Difference(
        _BY_NAN.format("softmax"),
        r"\(-?\d\S*\) instead of np\.(float\d+\(nan\)|complex\d+\(.*nan)",
    ),
    "`count_nonzero` counts each NaN of such a row": Difference(
        _BY_NAN.format("softmax") + r"(?=.*count_nonzero\()", r"^line \d+: \d+ instead of \d+$"
    ),
    "`cumulative_logsumexp` of infinities has derivatives (NaN in TensorFlow); all results "
    "after a NaN are NaN, in TensorFlow only some": Difference(
        r"(?s)(?=.*cumulative_logsumexp\()" + _NAN,
        r"\(nan\) instead of|instead of np\.float\d+\(nan\)|^line \d+: np\.float\d+\([12]\.0\)"
        r"|^line \d+: \[*(True|False)|\(-?\d\S*\) instead of np\.float\d+\(0\.0\)",
    ),
    "`argmin` and `argmax` return the position of the first NaN, as in NumPy; TensorFlow ignores "
    "NaN": Difference(
        _BY_NAN.format("argm(in|ax)"),
        r"^line \d+: [-\d, \[\]]+ instead of [-\d, \[\]]+$|Integer division by zero"
        r"|is not in \[0, ",
    ),
    "`sort` puts NaN last, as in NumPy, and `top_k` first; in TensorFlow an array with a NaN is "
    "not sorted": Difference(
        _BY_NAN.format("(sort|top_k)"),
        r"\(nan\) instead of|instead of \S+\(nan\)|^line \d+: [-\d, \[\]]+ instead of"
        r"|^line \d+: (\S+)\(\S+\) instead of \1\(",
    ),
    "The second derivative of `relu`, `hard_sigmoid` and similar functions is None, because the "
    "first derivative is piecewise constant; zeros in TensorFlow": Difference(
        r"(relu6?|hard_sigmoid|hard_silu|hard_swish|max_pool\w*)\(",
        r"float\d+\[.*\] \[[-0., ]*\] instead of None$", by="second",
    ),
    "Second derivatives of `nn.moments` are exact; TensorFlow treats the mean as a "
    "constant": Difference(
        r"(?s)(?=.*moments\()(?=.*(second\(|GradientTape))",
        r"float\d+\(\S*\d\) instead of np\.float",
    ),
    "Matrix products with infinities or overflow can be NaN, because each product is rounded "
    "before it is added; TensorFlow rounds once, after the addition": Difference(
        r"(?s)(?=.*(matmul|matvec|einsum|tensordot|dot)\(|.* @ )(?=.*special=True)",
        r"\(-?(inf|0\.0)\) instead of .*\(nan\)|\(nan\) instead of .*\(-?inf\)",
    ),
    "The argument `alpha` of `leaky_relu` is float64 for float64 inputs; "
    "float32 in TensorFlow": Difference(
        r"(?s)(?=.*leaky_relu\()(?=.*float64)", r"np\.float64\(-?\d.* instead of", near=1e-6
    ),
    "`cast` of a variable to its own dtype returns the value; TensorFlow returns the variable, "
    "which is a source of gradients": Difference(
        r"(?s)v(\d+) = tf\.Variable\([^\n]*'(\w+)'.*(cast\(v\1, (?:tf\.|')\2.*v\1\.assign"
        r"|gradient\([^\n]*cast\(v\1, (?:tf\.|')\2)",
        r"\d\) instead of|\] instead of|instead of .*None|'stop'",
    ),
    "`moveaxis`, `swapaxes`, `argmin` and `take` of Keras accept a `tf.Variable`, and indices "
    "can be int8; Keras on TensorFlow and TensorFlow raise an error": _theirs(
        "attr 'Tindices' of u?int8|'ResourceVariable' object has no attribute 'ndim'"
    ),
    "`keras.ops.add` accepts integer arrays without elements; Keras on TensorFlow takes one of "
    "them for a bias and raises an error": _theirs("Biases must be 1D", r"keras\.ops\.add\("),
    "`keras.ops.add` broadcasts (1, n) and (n, 1) to (n, n); Keras on TensorFlow takes one of them "
    "for a bias and returns (1, n)": Difference(
        r"keras\.ops\.add\(", r"\w+\[(?:\d+, )*1, (\d+)\] instead of \w+\[(?:\d+, )*\1, \1\]",
    ),
    "`keras.ops.add` broadcasts as NumPy does; Keras on TensorFlow takes a second argument with "
    "one axis of more than one element for a bias, which it adds along axis 1 or the last one": (
        Difference(
            r"keras\.ops\.add\(",
            r"^line \d+: (\S+ instead of np\.|.* instead of \('raised', 'Error', .add: the shapes)",
        )
    ),
    "`relu6` and `hard_sigmoid` pass no gradient on where they are constant, and so no NaN; "
    "TensorFlow multiplies the NaN by 0": Difference(
        _BY_NAN.format("(relu6|hard_sigmoid)"),
        r"\(nan\) instead of np\.float\d+\(-?\d",
    ),
    "`slice` of a 0-d tensor accepts `[]` as `begin` and `size`; TensorFlow "
    "raises an error": _theirs(
        "attr 'Index' of float is not in the list", r"\[\]|tf\.slice\("
    ),
    "`gather` raises an error for an index out of range even if the result is empty; TensorFlow "
    "returns the empty result": Difference(
        "", r"^line \d+: .*\[\].* instead of \('raised', 'Error', .gather: `indices` must lie"
    ),
    "An integer outside the range of an unsigned dtype raises an error; TensorFlow wraps it "
    "around": _ours(r"\w+: got the number -\d+, expected 0 to "),
    "`inv` of a matrix with NaN is NaN; TensorFlow raises an error": _theirs(
        "Input is not invertible", r"(?s)(?=.*linalg\.inv\()" + _NAN
    ),
    "Some ops accept dtypes for which TensorFlow has no kernel: `sort` of booleans, `-t` of "
    "unsigned integers, `einsum` and `tensordot` of small integers, `rint`, `lgamma`, "
    "`digamma`, `bessel_i0e` and their derivatives in 16 bits": _theirs(
        r"node: \{\{node (Einsum|MatMul|BatchMatMulV2)\}\} = \w+\[[^\]]*T=DT_U?INT"
        r"|node: \{\{node (Rint|Lgamma|Digamma|BesselI0e)\}\} = \w+\[T=DT_B?(HALF|FLOAT16)"
        r"|attr 'T' of half is not in the list of allowed values: float, double.\)"
        r"|attr 'T' of (bool|u?int\d+) is not in the list of allowed values: bfloat16, half, "
        "float, double, int8, int16, int32, int64, complex64"
    ),
    "`einsum` accepts lists of numbers; TensorFlow accepts tensors only": _theirs(
        "'(tuple|list)' object has no attribute 'shape'", r"einsum\("
    ),
    "`assign_add` and `assign_sub` accept a scalar; TensorFlow requires the "
    "variable's shape": _theirs("Cannot update variable with shape"),
    "The derivative of `softmax_cross_entropy_with_logits` is right for labels with any sum; in "
    "TensorFlow only for labels whose sum is 1": Difference(
        r"softmax_cross_entropy_with_logits\(labels=(?!tf\.nn\.softmax)",
        r"float\d+\(\S*\d\) instead of np\.float",
    ),
    "Second derivatives of `softmax_cross_entropy_with_logits` include the part of labels that "
    "depend on the argument; TensorFlow omits it": Difference(
        r"softmax_cross_entropy_with_logits\(", r"float\d+\(\S*\d\) instead of np\.float",
        by="second",
    ),
    "`softmax_cross_entropy_with_logits` broadcasts labels and logits of the same rank; "
    "TensorFlow broadcasts the labels only, which can have another rank": Difference(
        r"softmax_cross_entropy_with_logits\(",
        r" instead of \((?:'raised', )?'Error', .softmax_cross_entropy_with_logits: labels of shape"
        r"|^line \d+: \('raised', .*(Input to reshape is a tensor with"
        r"|logits and labels must be broadcastable)",
    ),
    "`len(v)` of a variable is the size of its first axis; TensorFlow raises an error": _theirs(
        "object of type 'ResourceVariable' has no len"
    ),
    "Derivatives of norms, standard deviations and variances are NaN where squares overflow; 0 "
    "or another number in TensorFlow": Difference(
        r"(?s)(?=.*(norm|moments|std|variance)\()(?=.*special=True)",
        r"instead of np\.float\d+\(nan\)",
    ),
    "`atan2` of zeros is 0, pi or -pi by the signs of both, as in IEEE 754; TensorFlow ignores "
    "signs": Difference(
        r"atan2\(", r"\(-?(3\.14\S*|0\.0)\) instead of np\.float\d+\(-?(3\.14\S*|0\.0)\)"
    ),
    "`inv` and `solve` of nearly singular matrices have more right digits than "
    "TensorFlow's": Difference(
        r"(inv|solve)\(", r"float32\(-?\d\S*\) instead of np\.float32\(-?\d", near=1e-2
    ),
    "`inv` and `solve` of matrices with the largest float32 numbers; TensorFlow's LU decomposition "
    "counts their reciprocals, which are denormal, as 0": Difference(
        r"(?s)(?=.*(inv|solve)\()(?=.*special=True)",
        r"float32\(-?\d\S*\) instead of np\.float32\(-?\d",
    ),
    "`cholesky` of a matrix with NaN keeps the rows above the NaN; in TensorFlow all are NaN": (
        Difference(r"(?s)(?=.*cholesky\()(?=.*special=True)", r"\(nan\) instead of")
    ),
    "`gelu(approximate=True)` is accurate where 1 + tanh is near 0; TensorFlow "
    "loses digits": Difference(
        r"gelu\([^\n]*True", r"\(-?\d\S*e-\d\d\) instead of|instead of \S+\(-?\d\S*e-\d\d\)",
    ),
    "The constants in `gelu` of float64 are float64; float32 in TensorFlow": Difference(
        r"(?s)(?=.*gelu\()(?=.*float64)", r"np\.(float64|complex128)\(-?\d.* instead of", near=1e-7
    ),
    "`gelu(approximate=True)` of large negative numbers and `elu` of numbers near 0 are "
    "accurate; TensorFlow loses digits": Difference(
        r"gelu\([^\n]*True|elu\(", r"float32\(-?\d.* instead of", near=1e-3
    ),
    "The reciprocal of `gelu(approximate=True)` of large negative numbers, likewise": Difference(
        r"(?s)(?=.*gelu\([^\n]*True)(?=.*(reciprocal|/))", r"float32\(-?\d.* instead of", near=5e-2
    ),
    "The second derivative of `elu` at 0 is that of negative numbers, 1; 0 in "
    "TensorFlow": Difference(
        r"elu\(", r"float\d+\(-?0\.0\) instead of np\.float\d+\(-?[1-9]", by="second"
    ),
    "The derivative of `logsumexp` at numbers beside an infinity is 0; NaN in "
    "TensorFlow": Difference(
        r"(?s)(?=.*logsumexp\()(?=.*special=True)", r"\(nan\) instead of np\.float\d+\(-?\d",
    ),
    "`elu` and `selu` of numbers below 1e-7 are these numbers; 0 in TensorFlow": Difference(
        r"elu\(", r"float32\(-?0\.0\) instead of np\.float32\(-?\d\S*e-(0[89]|[1-4]\d)\)",
    ),
    "The logarithm of `gelu(approximate=True)` of large negative numbers is NaN, and `digamma` "
    "is finite, because the numbers stay negative; TensorFlow rounds them to 0": Difference(
        r"(?s)(?=.*gelu\([^\n]*True)(?=.*(log|digamma))",
        r"\(-inf\) instead of np\.float32\(nan\)|\(nan\) instead of np\.float32\(-?\d",
    ),
    "The first call of a `tf.function` with an `if` on a tensor can be made by a second thread; "
    "TensorFlow's AutoGraph does not convert the `if` there": _theirs(
        r"Using a symbolic `tf\.Tensor`|not 'SymbolicTensor'", r"(?s)@tf\.function.*\n +if "
    ),
    "`meshgrid` accepts arrays of different dtypes; TensorFlow multiplies each by ones of another "
    "dtype and raises an error": _theirs("cannot compute Mul as input #1", r"meshgrid\("),
    "The derivative of `cholesky` ignores what comes from above the diagonal, where the result "
    "is always 0; in TensorFlow a NaN there makes it NaN": Difference(
        r"cholesky\(", r"\(nan\) instead of np\.float\d+\(-?\d"
    ),
    "`len(t)` works in a `tf.function`; in TensorFlow only where AutoGraph converts the "
    "call": _theirs("len is not well defined for a symbolic Tensor"),
    "Functions of `recompute_grad` have second derivatives; TensorFlow raises an error": _theirs(
        "recompute_grad tried to transpose grad"
    ),
    "`softsign` has second derivatives; TensorFlow has none": _theirs(
        "no entry for: SoftsignGrad"
    ),
    "Second derivatives at infinities can be NaN instead of infinite, or the reverse, because "
    "the factors are multiplied in another order than in TensorFlow": Difference(
        r"special=True", r"\(-?inf\) instead of np\.float\d+\(nan\)|"
        r"\(nan\) instead of np\.float\d+\(-?inf\)", by="second",
    ),
    "Derivatives of `reduce_euclidean_norm` are differentiable where the cotangent is 0, by which "
    "TensorFlow divides": Difference(r"euclidean_norm\(", _NAN_FOR_ZERO),
    "Second derivatives of a norm of a norm are finite; NaN in TensorFlow": Difference(
        r"(norm|normalize)\(", _NAN_FOR_ZERO, by="second",
    ),
    "Derivatives of quotients that cancel are exactly 0; in TensorFlow rounding "
    "errors remain": Difference(
        r"xdivy|cumprod|/", r"\(-?\d\S*e-(0\d|1[5-9])\) instead of np\.float\d+\(-?0\.0\)",
    ),
    "`cholesky` raises an error for a matrix that is not positive definite; NaN "
    "in TensorFlow": _ours("cholesky: the matrix is not positive definite"),
    "A negative denormal number modulo d is rounded to d; TensorFlow treats the "
    "number as 0": Difference(
        r"(?s)(?=.*special=True)(?=.*( % |mod\())", r"\(-?0\.0\) instead of",
    ),
    "A remainder of 0 has the sign of the divisor, as in NumPy; the sign of the dividend in "
    "TensorFlow": Difference(
        r" % |mod\(",
        r"\(-1\.0\) instead of np\.float\d+\(1\.0\)"
        r"|\((-?)inf\) instead of np\.float\d+\((?!\1inf)-?inf\)"
        r"|\(-?(0\.785|2\.356)\d*\) instead of np\.float\d+\(-?(0\.785|2\.356)\d*\)",
    ),
    "Unsigned integers are compared with the exact value of a negative number; TensorFlow wraps "
    "the number around": Difference(r"(?s)(?=.*[<>=]=? -\d)(?=.*uint8)", r"True|False"),
    "`*` of booleans raises an error; TensorFlow computes `&`, also for `t * 0.5`": _ours(
        r"Cannot convert \S+ to a tensor of dtype bool|multiply: expected numbers, got bool"
        r"|Operands: expected one dtype, got different dtypes (bool and|\S+ and bool)"
    ),
    "`reverse` of a 0-d tensor raises an error if an axis is given; TensorFlow "
    "ignores the axis": _ours(
        "reverse: axis=-?[01] is out of range for a tensor of rank 0"
    ),
    "Second derivatives of `sign` are zeros; None in TensorFlow": Difference(
        r"sign\(", r"None instead of float\d+\[.*\] \[[-0., ]*\]", by="second",
    ),
    "Second derivatives where the derivative of a root is infinite can be 0; TensorFlow "
    "computes 0 times infinity, which is NaN": Difference(
        r"(?s)(?=.*sqrt\()(?=.*special=True)", r"\(nan\) instead of np\.float", by="second",
    ),
    "`inv` of NaN is NaN; TensorFlow raises an error": _theirs("Input is not invertible"),
    "The derivative of a jacobian by a variable on which it does not depend is None; zeros in "
    "TensorFlow": Difference(
        r"jacobian\(", r"^line \d+: float\d+\[[\d, ]*\] \[[-0., ]+\] instead of None",
    ),
    "`inv` of 16-bit floats raises an error; TensorFlow computes it": _ours(
        "inv: expected a dtype of 32 bits"
    ),
    "Denormal float32 numbers keep their value; TensorFlow treats numbers below 1e-37 as 0": (
        Difference(r"special=True", r"\(-?0\.0\) instead of np\.float32\(-?\d")
    ),
    "The derivatives of `atan2(x, x)` by both arguments cancel, and rounding errors are "
    "left": Difference(
        r"atan2\((\w+), \1\)", r"float\d+\(-?\d\S*\) instead of np\.float\d+\(-?\d", near=1e-3
    ),
    "Small results of `erfc` are denormal numbers, which are True as booleans; TensorFlow rounds "
    "them to 0": Difference(
        r"(cast|bool)\w*\([^\n]*erfc\(", r"^line \d+: [\[\], A-Za-z]*False"
    ),
    "`l2_normalize` of one number is 1 or -1 up to rounding, and `digamma` has a pole at "
    "-1": Difference(
        r"(digamma|lgamma)\([^\n]*l2_normalize\(", r"\((nan|-?inf|-?\d\S*)\) instead of np\.float",
    ),
    "`argmax` and `argmin` accept complex numbers, as in NumPy; TensorFlow raises an "
    "error": _theirs(
        "Value for attr 'T' of complex", r"arg(max|min)\("
    ),
    "`keras.ops.argmin` returns the first of 0.0 and -0.0, which are equal, as in NumPy; Keras "
    "orders -0.0 first": Difference(
        r"ops\.argmin\(", r"^line \d+: [\d\[\], ]+ instead of [\d\[\], ]+$"
    ),
    "A jacobian without elements is empty; TensorFlow raises an error": _theirs(
        "Encountered an exception while vectorizing the jacobian|Graph execution error",
        r"jacobian\(",
    ),
    "`softmax_cross_entropy_with_logits` broadcasts arrays without elements too; TensorFlow "
    "returns a row for each row of logits": Difference(
        r"softmax_cross_entropy_with_logits\(", r"(\w+)\[1\b.*\] instead of \1\[[\d, ]+\]",
    ),
    "`median` of a number next to an infinite one is the number; Keras on TensorFlow interpolates, "
    "and multiplies the infinite number by 0": Difference(
        r"(?s)(?=.*median\()(?=.*special=True)", r"\(nan\) instead of np\.float\d+\(-?\d",
    ),
    "Quotients of denormal numbers, or that are denormal, keep their value; TensorFlow treats them "
    "as 0, with the floor 0 and the reciprocal inf": Difference(
        r"(?s)(?=.*special=True)(?=.*(/|reciprocal|mod))",
        r"\((nan|-?inf|-?0\.0)\) instead of np\.float32\(-?\d",
    ),
    "Second derivatives of `reduce_logsumexp` have their digits; TensorFlow subtracts numbers that "
    "are nearly equal": Difference(
        r"logsumexp\(", r"\(-?\d\S*e-0\d\) instead of np\.float32\(-?\d\S*e-0\d\)", by="second",
    ),
    "If the shapes of calls differ, a `tf.function` of TensorFlow is traced with unknown sizes, "
    "which `tf.eye` refuses": _theirs("Arguments `num_rows` and `num_columns` must be positive"),
    "Side effects of a `tf.function` happen while it is traced; with several threads, other "
    "calls are traced than in TensorFlow": (
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
